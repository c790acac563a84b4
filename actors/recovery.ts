import { RunCancelled, RunFailed, RunTakenOver } from "../events/run.ts";
import type { OpenRun } from "../reducers/run-facts.ts";
import { abandonCall, isIdempotent } from "./abandon-calls.ts";
import { activate } from "./activate-run.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RunItem } from "./agent-contract.ts";
import { toErrorData } from "./error-data.ts";
import type { LiveThread } from "./live-thread.ts";
import { createRunItems } from "./run-items.ts";
import { createScope, followTrail, planned, type RunScope, stepContext } from "./run-scope.ts";

import { ReleaseError, releaseHooks } from "./steps/run-hooks.ts";
import type { AttributedDraft } from "./steps/step-contract.ts";
import type { PlannedEvent } from "./thread-append.ts";
import type { ThreadView } from "./thread-view.ts";

/** What a run ends with when its process stopped in the middle of it. */
export class RunAbandonedError extends Error {
  override readonly name = "RunAbandonedError";
  constructor(runId: string) {
    super(
      `The process that executed run ${runId} stopped before its end. What it had recorded is kept; send another message to go on.`,
    );
  }
}

/** Somebody else saw to the run in the meantime. */
class AlreadyRecovered extends Error {}

/**
 * Sees to an open run whose owner is gone. `close` records its failure, `continue` takes it over and goes on from where
 * the log ends. When several processes try, the log lets one of them.
 *
 * @returns the run that goes on; undefined when it was closed, or another process was faster
 */
export async function recoverRun(thread: LiveThread): Promise<ActiveRun | undefined> {
  const { run } = thread.appender.view.facts;
  if (!run) return undefined;
  const controller = new AbortController();
  const items = createRunItems<RunItem>();
  const scope = createScope({ thread, runId: run.runId, options: {}, signal: controller.signal, items });
  scope.fromVersion = run.startVersion - 1;
  scope.ordinal = await readTrail(thread, scope, run);
  try {
    if (thread.environment.recovery === "close" || run.cancelReason !== undefined) {
      await closeRun(thread, scope, run);
      return undefined;
    }
    return await takeOver(thread, scope, run, controller);
  } catch (error) {
    if (error instanceof AlreadyRecovered) return undefined;
    throw error;
  }
}

/** Follows what the run recorded, and gives the ordinal of its last step. */
async function readTrail(thread: LiveThread, scope: RunScope, run: OpenRun): Promise<number> {
  let ordinal = 0;
  const { log } = thread.environment.store;
  for await (const page of log.read(thread.stream, { from: run.startVersion })) {
    followTrail(scope, page);
    for (const { metadata } of page) ordinal = Math.max(ordinal, metadata.step ?? 0);
  }
  return ordinal;
}

function checkSame(view: ThreadView, run: OpenRun): void {
  const now = view.facts.run;
  if (now?.runId !== run.runId || now.owner !== run.owner) throw new AlreadyRecovered();
}

/** Also calls that were answered or not started get a result: the model must not see a call without one. */
function closedCalls(view: ThreadView, cause: string | undefined): PlannedEvent[] {
  return view.facts.calls.map((call) =>
    abandonCall(call, call.started ? "outcome unknown" : "not-run", cause),
  );
}

async function closeRun(thread: LiveThread, scope: RunScope, run: OpenRun): Promise<void> {
  const { hasher, assembly } = thread.environment;
  const stateFields = [...assembly.reducer.fields];
  const { runId } = run;
  const cause = scope.trail.cancel ?? scope.trail.last;
  const released = await releaseAfterCrash(scope);
  const batch = (view: ThreadView): readonly PlannedEvent[] => {
    checkSame(view, run);
    const reason = view.facts.run?.cancelReason;
    return [
      ...closedCalls(view, cause),
      ...planned(released, cause),
      {
        draft: (state) =>
          reason === undefined
            ? RunFailed({
                runId,
                error: toErrorData(new RunAbandonedError(runId)),
                stateHash: hasher.hash(state),
                stateFields,
              })
            : RunCancelled({ runId, reason, stateHash: hasher.hash(state), stateFields }),
        by: "runtime",
        cause,
      },
    ];
  };
  await thread.appender.append(batch, { runId, step: scope.ordinal });
}

/** What the run had acquired may outlive its process. */
async function releaseAfterCrash(scope: RunScope): Promise<readonly AttributedDraft[]> {
  try {
    return await releaseHooks(stepContext(scope, scope.ordinal));
  } catch (error) {
    return error instanceof ReleaseError ? error.drafts : [];
  }
}

async function takeOver(
  thread: LiveThread,
  scope: RunScope,
  run: OpenRun,
  controller: AbortController,
): Promise<ActiveRun> {
  const { lease, assembly } = thread.environment;
  const { runId } = run;
  const batch = (view: ThreadView): readonly PlannedEvent[] => {
    checkSame(view, run);
    const unknown = view.facts.calls.filter((call) => call.started && !isIdempotent(assembly, call.name));
    return [
      {
        draft: RunTakenOver({ runId, owner: lease.owner, previousOwner: run.owner }),
        by: "runtime",
        cause: scope.trail.last,
      },
      ...unknown.map((call) => abandonCall(call, "outcome unknown", scope.trail.toolCalls.get(call.id))),
    ];
  };
  await lease.hold();
  try {
    followTrail(scope, await thread.appender.append(batch, { runId, step: scope.ordinal }));
  } catch (error) {
    lease.release();
    throw error;
  }
  const { facts } = thread.appender.view;
  scope.resumedCallId = facts.modelCallId ?? undefined;
  scope.resumedJump = facts.jump ?? undefined;
  scope.skipFirstHooks = run.resumes !== undefined && facts.interrupts[0]?.resumeAt === "end";
  return activate(thread, scope, controller, {
    phase: facts.run?.next ?? "beforeAgent",
    modelCalls: facts.modelCalls,
    steps: scope.ordinal + 1,
  });
}
