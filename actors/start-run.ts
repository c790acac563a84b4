import type { Json } from "../events/json.ts";
import { blobsOfThread } from "../events/keys/with-encryption.ts";
import { VersionConflict } from "../events/log/event-log.ts";
import type { Message } from "../events/message.ts";
import { InterruptResolved, RunStarted } from "../events/run.ts";
import { ThreadCreated } from "../events/thread.ts";
import { openInterrupts, type ThreadFacts } from "../reducers/run-facts.ts";
import { abandonCall, isIdempotent } from "./abandon-calls.ts";
import { activate } from "./activate-run.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RunInput, RunItem, RunOptions } from "./agent-contract.ts";
import { chosenAnswers, InterruptAnsweredError, UnknownInterruptError, wasAnswered } from "./answers.ts";
import type { LiveThread } from "./live-thread.ts";
import { mintId } from "./mint-id.ts";
import type { RunItems } from "./run-items.ts";
import { createScope, followTrail } from "./run-scope.ts";
import { inputToDrafts } from "./steps/input.ts";
import { recordedAnswers } from "./steps/recorded-answers.ts";
import { checkContext } from "./steps/run-context.ts";
import type { AttributedDraft } from "./steps/step-contract.ts";
import type { PlannedEvent } from "./thread-append.ts";
import { checkFree } from "./thread-busy.ts";
import type { ThreadView } from "./thread-view.ts";

/** What a run is asked to do. */
export type RunRequest =
  | { readonly kind: "input"; readonly input: RunInput }
  | { readonly kind: "answers"; readonly answers: Readonly<Record<string, Json>> | { readonly all: Json } };

/**
 * Records a run as started, with its input in the same batch, and lets it go.
 *
 * @throws {ThreadBusyError} @throws {ContextError} @throws {VersionConflict} @throws {InterruptAnsweredError}
 * @throws {UnknownInterruptError} and what input and log throw; nothing was recorded then
 */
export async function startRun(
  thread: LiveThread,
  request: RunRequest,
  options: RunOptions,
  runId: string,
  items: RunItems<RunItem>,
): Promise<ActiveRun> {
  const { environment, appender } = thread;
  const { assembly, store, lease } = environment;
  checkContext(assembly, options.context ?? {});
  const by = options.by ?? "user";
  const ctx = { assembly, state: appender.view.state, blobs: blobsOfThread(store, thread.id) };
  const given = () =>
    request.kind === "input" ? inputToDrafts(request.input, ctx, mintId, by) : Promise.resolve([]);
  const input = recordedAnswers()?.input ?? (await given());

  const batch = (view: ThreadView): readonly PlannedEvent[] => {
    if (options.expectedVersion !== undefined && options.expectedVersion !== view.version) {
      throw new VersionConflict(thread.stream, options.expectedVersion, view.version);
    }
    const created: PlannedEvent[] =
      view.version === 0 ? [{ draft: ThreadCreated({}), by: "runtime", cause: undefined }] : [];
    const answers = request.kind === "answers" ? chosenAnswers(thread.id, view.facts, request.answers) : [];
    checkFree(thread, view.facts);
    const goesOn =
      request.kind === "answers" || (request.input === null && openInterrupts(view.facts).length > 0);
    const { lastRunId } = view.facts;
    const started = RunStarted({
      runId,
      owner: lease.owner,
      ...(goesOn && lastRunId !== null && { resumes: lastRunId }),
      ...(options.parent && { parent: { ...options.parent } }),
      ...(options.metadata && { metadata: { ...options.metadata } as Record<string, never> }),
    });
    return [
      ...created,
      { draft: started, by: "runtime" },
      ...closeOpenCalls(thread, view.facts, request, input),
      ...answers.map(({ id, decision }) => ({
        draft: InterruptResolved({ interruptId: id, decision: decision as never }),
        by,
      })),
      ...input.map(({ draft, by: from }) => ({ draft, by: from })),
    ];
  };

  await lease.hold();
  const controller = new AbortController();
  const scope = createScope({ thread, runId, options, signal: controller.signal, items });
  try {
    const recorded = await appender.append(batch, { runId, step: 0 });
    followTrail(scope, recorded);
    scope.fromVersion = (recorded[0]?.version ?? 1) - 1;
    for (const event of recorded) items.push({ kind: "event", event });
  } catch (error) {
    lease.release();
    throw await answeredBefore(thread, error);
  }
  const { facts } = appender.view;
  scope.skipFirstHooks = facts.run?.resumes !== undefined && facts.interrupts[0]?.resumeAt === "end";
  return activate(thread, scope, controller, {
    // A run that may call no model only closes what is open.
    phase: options.limits?.maxModelCalls === 0 ? "afterAgent" : (facts.run?.next ?? "beforeAgent"),
    modelCalls: facts.modelCalls,
    steps: 0,
  });
}

/** Calls that wait for something that will not come: with a new message the conversation goes on without them. */
function closeOpenCalls(
  thread: LiveThread,
  facts: ThreadFacts,
  request: RunRequest,
  input: readonly AttributedDraft[],
): PlannedEvent[] {
  if (request.kind === "answers") return [];
  if (request.input === null) {
    const asking = new Set(openInterrupts(facts).map((interrupt) => interrupt.callId));
    return facts.calls
      .filter(
        (call) =>
          call.started && !asking.has(call.id) && !isIdempotent(thread.environment.assembly, call.name),
      )
      .map((call) => abandonCall(call, "outcome unknown", undefined));
  }
  const answered = new Set(
    input.flatMap(({ draft: { type, data } }) =>
      type === "MessagesAdded"
        ? (data as { messages: readonly Message[] }).messages.map((message) => message.tool_call_id)
        : [],
    ),
  );
  return facts.calls
    .filter((call) => !answered.has(call.id))
    .map((call) => abandonCall(call, "superseded", undefined));
}

/** An interrupt that nobody waits for any more may have had its answer. */
async function answeredBefore(thread: LiveThread, error: unknown): Promise<unknown> {
  if (!(error instanceof UnknownInterruptError) || error.interruptId === undefined) return error;
  const { log } = thread.environment.store;
  const answered = await wasAnswered(log, thread.stream, error.interruptId);
  return answered ? new InterruptAnsweredError(thread.id, error.interruptId) : error;
}
