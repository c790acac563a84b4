import { NotJsonError } from "../events/canonical-json.ts";
import { InvalidEventError } from "../events/event-registry.ts";
import { EventTooLargeError } from "../events/log/event-log.ts";
import { JumpRequested } from "../events/run.ts";
import { ToolCallFailed, ToolCallStarted } from "../events/tool.ts";
import { type AskedInterrupt, type OpenCall, openInterrupts, type RunPhase } from "../reducers/run-facts.ts";
import { FoldError } from "../reducers/thread-state.ts";
import { toErrorData } from "./error-data.ts";
import { holdBack, holdsAnswers, holdsResults } from "./hold-back.ts";
import type { JumpTarget } from "./middleware/define-middleware.ts";
import { mintId } from "./mint-id.ts";
import { destination, type StepReport } from "./run-phases.ts";
import {
  addPending,
  factsOf,
  openHookInterrupts,
  planned,
  type RunScope,
  recordInRun,
  stepContext,
  takePending,
  toolEmitter,
} from "./run-scope.ts";
import { prepareModelCall } from "./steps/model-call.ts";
import { createParallelWrites, type ParallelWrites } from "./steps/parallel-writes.ts";
import { recordedAnswers } from "./steps/recorded-answers.ts";
import { restoreView } from "./steps/restore-view.ts";
import { runHooks } from "./steps/run-hooks.ts";
import type { AttributedDraft, HookPhase, StepContext, ToolCallOutcome } from "./steps/step-contract.ts";
import { executeToolCall } from "./steps/tool-call.ts";

/**
 * Does the work of one phase. What it gave is in the log, or pending for the batch that the next phase appends.
 */
export async function runStep(scope: RunScope, phase: RunPhase, ordinal: number): Promise<StepReport> {
  const waiting = openHookInterrupts(factsOf(scope));
  if (waiting.length > 0 && scope.asked.length === 0) {
    // Only some of a hook's questions were answered: what comes after the hook has to wait.
    scope.asked.push(...waiting);
    return { interrupted: true };
  }
  switch (phase) {
    case "model":
      return modelStep(scope, ordinal);
    case "tools":
      return toolsStep(scope, ordinal);
    default:
      return hookStep(scope, phase, ordinal);
  }
}

/** What the machine has to know of the open calls. */
export function callsReport(scope: RunScope): Pick<StepReport, "openCalls" | "callsNeedModel"> {
  const { calls } = factsOf(scope);
  const { tools } = scope.environment.assembly;
  const direct = (name: string) => tools.some((tool) => tool.name === name && tool.returnDirect === true);
  return { openCalls: calls.length, callsNeedModel: calls.some(({ name }) => !direct(name)) };
}

async function hookStep(scope: RunScope, phase: HookPhase, ordinal: number): Promise<StepReport> {
  if (scope.skipFirstHooks) {
    scope.skipFirstHooks = false;
    return callsReport(scope);
  }
  const outcome = await runHooks(phase, stepContext(scope, ordinal));
  addPending(scope, outcome.drafts, outcome.state);
  const report = { jumpTo: outcome.jumpTo, ...callsReport(scope) };
  const to = destination(phase, report);
  for (const { kind, value } of outcome.interrupts) {
    const resumeAt = to === "settling" ? "end" : to;
    scope.asked.push({ id: mintId(), kind, value: value as AskedInterrupt["value"], resumeAt });
  }
  return { ...report, interrupted: scope.asked.length > 0 };
}

async function modelStep(scope: RunScope, ordinal: number): Promise<StepReport> {
  const { memory, trail } = scope;
  const ctx = stepContext(scope, ordinal, scope.resumedCallId);
  scope.resumedCallId = undefined;
  memory.previousView ??= await restoreView(
    { log: scope.environment.store.log, blobs: ctx.blobs },
    scope.threadId,
  );
  const prepared = await prepareModelCall(ctx, memory.previousView);
  try {
    await recordInRun(scope, planned([...takePending(scope), ...prepared.started], trail.last), ordinal);
  } catch (error) {
    prepared.abandon();
    throw error;
  }
  memory.previousView = prepared.view();
  const record = async (drafts: readonly AttributedDraft[]) => {
    await recordInRun(scope, planned(drafts, trail.modelCall), ordinal);
    memory.previousView = prepared.view();
  };
  try {
    const answer = await prepared.execute(record);
    const held = holdsAnswers(scope) && (await holdBack(scope, answer, trail.modelCall, ordinal));
    if (!held) await record(answer);
    memory.previousView = prepared.view();
  } catch (error) {
    const drafts = draftsOf(error);
    if (drafts.length > 0 && !scope.closed) addPending(scope, drafts, scope.appender.view.state);
    throw error;
  }
  return callsReport(scope);
}

/** A failed model call carries what is to be recorded with the failure. */
function draftsOf(error: unknown): readonly AttributedDraft[] {
  const drafts = error instanceof Error && "drafts" in error ? error.drafts : undefined;
  return Array.isArray(drafts) ? drafts : [];
}

async function toolsStep(scope: RunScope, ordinal: number): Promise<StepReport> {
  const facts = factsOf(scope);
  const unanswered = openInterrupts(facts);
  const asking = new Set(unanswered.map((interrupt) => interrupt.callId));
  const ready = facts.calls.filter((call) => !asking.has(call.id));
  const started = ready
    .filter((call) => !call.started)
    .map((call) => ({
      draft: ToolCallStarted({ callId: call.id, name: call.name }),
      by: "runtime" as const,
    }));
  await recordInRun(scope, planned([...takePending(scope), ...started], scope.trail.last), ordinal);
  scope.asked.push(...unanswered);

  const ctx = stepContext(scope, ordinal);
  const jumps: JumpTarget[] = scope.resumedJump ? [scope.resumedJump] : [];
  scope.resumedJump = undefined;
  // What one call did is recorded whatever becomes of the others.
  const alone = ready.length === 1 && unanswered.length === 0;
  const step = { ctx, jumps, alone, writes: createParallelWrites(scope.environment.assembly) };
  const ended = await Promise.allSettled(ready.map((call) => callTool(scope, call, step)));
  const failure = ended.find((result) => result.status === "rejected");
  if (failure) throw failure.reason;
  const jumpTo = jumps.includes("end") ? "end" : jumps.at(-1);
  return { jumpTo, interrupted: scope.asked.length > 0, ...callsReport(scope) };
}

/** What the calls of one step share. */
interface ToolsPhase {
  readonly ctx: StepContext;
  readonly jumps: JumpTarget[];
  /** There is one call, and nothing is asked. */
  readonly alone: boolean;
  readonly writes: ParallelWrites;
}

async function callTool(scope: RunScope, call: OpenCall, phase: ToolsPhase): Promise<void> {
  const { ctx, jumps, writes } = phase;
  const { id, name, args } = call;
  const answers = call.answers.map(({ by, decision }) => ({ by: by as AttributedDraft["by"], decision }));
  const record = async (drafts: readonly AttributedDraft[]) => {
    await recordInRun(scope, planned(drafts, scope.trail.toolCalls.get(id) ?? scope.trail.last), ctx.step);
  };
  const pending = { call: { id, name, args, type: "tool_call" }, answers };
  const outcome = await executeToolCall({ ...ctx, record }, pending);
  if (outcome.kind === "interrupted") {
    const { request, by } = outcome;
    const value = request.value as AskedInterrupt["value"];
    scope.asked.push({ id: mintId(), kind: request.kind, value, callId: id, by });
    return;
  }
  await recordedAnswers()?.turn(id);
  const admitted = writes.admit(call, outcome);
  const jump = admitted.goto ?? (admitted.returnDirect ? "end" : undefined);
  if (jump) jumps.push(jump);
  await recordOutcome(scope, phase, call, admitted, jump);
}

async function recordOutcome(
  scope: RunScope,
  { ctx, alone }: ToolsPhase,
  call: OpenCall,
  outcome: ToolCallOutcome & { readonly kind: "ended" },
  jump: JumpTarget | undefined,
): Promise<void> {
  const cause = scope.trail.toolCalls.get(call.id) ?? scope.trail.last;
  const drafts = [...outcome.drafts];
  if (jump && !drafts.some(({ draft }) => draft.type === "JumpRequested")) {
    drafts.push({ draft: JumpRequested({ to: jump }), by: toolEmitter(call.name) });
  }
  try {
    const holds = alone && !jump && holdsResults(scope);
    const held = holds && (await holdBack(scope, drafts, cause, ctx.step));
    if (!held) await recordInRun(scope, planned(drafts, cause), ctx.step);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await recordInRun(scope, planned([refused(call, error)], cause), ctx.step);
    // A state that two facts contradict is no longer to be trusted: the run fails closed.
    if (error instanceof FoldError) throw error;
  }
}

/** The events of a tool cannot be recorded, and that is the tool's doing. */
function isRefusal(error: unknown): error is Error {
  return [FoldError, InvalidEventError, EventTooLargeError, NotJsonError].some(
    (kind) => error instanceof kind,
  );
}

function refused(call: OpenCall, error: Error): AttributedDraft {
  const message = {
    id: mintId(),
    type: "tool",
    content: `The tool ran, but its result could not be recorded. ${toErrorData(error).message}`,
    tool_call_id: call.id,
    name: call.name,
    status: "error",
  };
  const draft = ToolCallFailed({ callId: call.id, message, error: toErrorData(error), durationMs: 0 });
  return { draft, by: "runtime" };
}
