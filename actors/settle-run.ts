import { NotJsonError } from "../events/canonical-json.ts";
import type { EventDraft } from "../events/define-event.ts";
import { InvalidEventError } from "../events/event-registry.ts";
import { EventTooLargeError } from "../events/log/event-log.ts";
import {
  type ErrorData,
  type Interrupt,
  RunCancelled,
  RunCompleted,
  RunFailed,
  RunInterrupted,
} from "../events/run.ts";
import type { OpenCall, ThreadFacts } from "../reducers/run-facts.ts";
import { FoldError, type State } from "../reducers/thread-state.ts";
import { type AbandonReason, abandonCall } from "./abandon-calls.ts";
import type { RunStatus } from "./agent-contract.ts";
import { toErrorData } from "./error-data.ts";
import type { RunEnding, Settlement } from "./lifecycle.ts";
import {
  checkOwned,
  type PendingDraft,
  planned,
  RunLostError,
  type RunScope,
  stepContext,
  takePending,
} from "./run-scope.ts";
import { ReleaseError, releaseHooks } from "./steps/run-hooks.ts";
import type { AttributedDraft } from "./steps/step-contract.ts";
import { isStoreAway } from "./store-away.ts";
import type { PlannedEvent } from "./thread-append.ts";
import type { ThreadView } from "./thread-view.ts";

/** Milliseconds that a cancelled step has to end by itself before it is given up. */
const cancelGraceMs = 2_000;

/** How a run ended, as its last event says. */
export interface RunEnd {
  readonly status: RunStatus;
  readonly error: ErrorData | undefined;
  /** What was thrown, when something was. */
  readonly cause: unknown;
  readonly stopReason: string | undefined;
  readonly interrupts: readonly Interrupt[];
  /** The thread right after its end. */
  readonly view: ThreadView;
}

/**
 * Ends a run: waits for what is under way, gives back what was acquired, closes the calls that have no result, and
 * records the end in one batch with what was still pending.
 *
 * @param cancelReason why it was cancelled, when it was
 * @throws {RunLostError} another process ended it; nothing was recorded
 * @throws {LogUnavailableError} @throws {AppendOutcomeUnknownError} the store went away, and with `recovery: "continue"`
 *   the run stays open: it goes on when somebody comes back to the thread
 */
export async function settleRun(
  scope: RunScope,
  settlement: Settlement,
  cancelReason: string,
): Promise<RunEnd> {
  if (settlement.ending === "cancelled" && !scope.abandoned) await withinGrace(scope.step);
  scope.closed = true;
  await scope.appender.settled();
  if (scope.abandoned) throw new RunLostError(scope.threadId, scope.runId);
  const { ending, error } = settlement;
  if (ending === "failed" && scope.environment.recovery === "continue" && isStoreAway(error)) throw error;
  const released = await release(scope);
  const pending = takePending(scope);
  const failure =
    settlement.ending === "completed" && released.error
      ? { ...settlement, ending: "failed" as const, error: released.error }
      : settlement;
  const { capped } = factsAfter(scope, scope.appender.view, pending);
  const end = endOf(scope, failure, capped ?? undefined);
  const draft = endDraft(scope, end, cancelReason);
  await recordEnd(scope, { ending: failure.ending, stopReason: failure.stopReason, draft }, [
    [pending, released.drafts],
    // What cannot be recorded is what made the run fail, so the end goes without it.
    [[], released.drafts],
    [[], []],
  ]);
  return { ...end, view: scope.appender.view };
}

async function withinGrace(step: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise((resolve) => {
    timer = setTimeout(resolve, cancelGraceMs);
  });
  await Promise.race([step.catch(() => undefined), grace]);
  clearTimeout(timer);
}

async function release(
  scope: RunScope,
): Promise<{ readonly drafts: readonly AttributedDraft[]; readonly error: unknown }> {
  try {
    return { drafts: await releaseHooks(stepContext(scope, scope.ordinal)), error: undefined };
  } catch (error) {
    return { drafts: error instanceof ReleaseError ? error.drafts : [], error };
  }
}

function endOf(
  scope: RunScope,
  { ending, error, stopReason }: Settlement,
  capped: string | undefined,
): Omit<RunEnd, "view"> {
  return {
    status: ending,
    error: ending === "failed" ? toErrorData(error) : undefined,
    cause: ending === "failed" ? error : undefined,
    stopReason: ending === "completed" ? (stopReason ?? capped) : undefined,
    interrupts: ending === "interrupted" ? scope.asked.map(({ answered: _, ...interrupt }) => interrupt) : [],
  };
}

function endDraft(scope: RunScope, end: Omit<RunEnd, "view">, reason: string): (state: State) => EventDraft {
  const { runId, environment } = scope;
  return (state) => {
    const proof = {
      stateHash: environment.hasher.hash(state),
      stateFields: [...environment.assembly.reducer.fields],
    };
    switch (end.status) {
      case "completed":
        return RunCompleted({
          runId,
          ...(end.stopReason !== undefined && { stopReason: end.stopReason }),
          ...proof,
        });
      case "interrupted":
        return RunInterrupted({ runId, interrupts: [...end.interrupts], ...proof });
      case "cancelled":
        return RunCancelled({ runId, reason, ...proof });
      case "failed":
        return RunFailed({ runId, error: end.error ?? toErrorData(end.cause), ...proof });
    }
  };
}

interface Ending {
  readonly ending: RunEnding;
  readonly stopReason: Settlement["stopReason"];
  readonly draft: (state: State) => EventDraft;
}

async function recordEnd(
  scope: RunScope,
  ending: Ending,
  tries: readonly (readonly [readonly PendingDraft[], readonly AttributedDraft[]])[],
): Promise<void> {
  const { appender, trail, runId, ordinal } = scope;
  for (const [index, [pending, released]] of tries.entries()) {
    const cause = trail.cancel ?? (index === 0 ? trail.last : trail.recorded);
    const batch = (view: ThreadView): readonly PlannedEvent[] => {
      checkOwned(scope, view.facts);
      const { calls } = factsAfter(scope, view, pending);
      return [
        ...planned(pending, trail.last),
        ...closedCalls(calls, ending).map(([call, reason]) => abandonCall(call, reason, cause)),
        ...planned(released, cause),
        { draft: ending.draft, by: "runtime", cause },
      ];
    };
    try {
      await appender.append(batch(appender.view), { runId, step: ordinal, rebase: batch });
      return;
    } catch (error) {
      if (index === tries.length - 1 || !isRefusal(error)) throw error;
    }
  }
}

function factsAfter(scope: RunScope, view: ThreadView, drafts: readonly AttributedDraft[]): ThreadFacts {
  let { facts, version } = view;
  for (const { draft } of drafts) {
    version += 1;
    facts = scope.environment.fold.applyFacts(facts, { ...draft, version });
  }
  return facts;
}

function closedCalls(
  calls: readonly OpenCall[],
  { ending, stopReason }: Ending,
): [OpenCall, AbandonReason][] {
  // The calls of a run that asks wait for the answer.
  if (ending === "interrupted") return [];
  return calls.map((call) => {
    if (ending === "completed") return [call, stopReason ?? "not-run"];
    return [call, call.started ? ending : "not-run"];
  });
}

function isRefusal(error: unknown): boolean {
  return [FoldError, InvalidEventError, EventTooLargeError, NotJsonError].some(
    (kind) => error instanceof kind,
  );
}
