import fc from "fast-check";
import type { EventDraft } from "../../events/define-event.ts";
import type { Message } from "../../events/message.ts";
import type { LogWriter } from "./log-writer.ts";

/** One tool call of a generated answer. */
interface PlannedCall {
  readonly outcome: "completed" | "failed";
  readonly events: readonly EventDraft[];
}

interface PlannedStep {
  readonly before: readonly EventDraft[];
  readonly calls: readonly PlannedCall[];
  /** Which call finishes first, second …: sort keys. */
  readonly order: readonly number[];
  readonly after: readonly EventDraft[];
}

type RunEnd = "completed" | "failed" | "cancelled" | "interrupted" | "crashed";

/** One run as it is to happen. */
export interface RunPlan {
  readonly text: string;
  readonly steps: readonly PlannedStep[];
  readonly end: RunEnd;
  /** Calls of the last answer that have their result when the run ends early. */
  readonly finished: number;
}

const maxCalls = 3;

/** Runs of any length and end. `drafts`: state events of hooks and tools. */
export function runPlans(
  drafts: fc.Arbitrary<EventDraft>,
  texts: fc.Arbitrary<string>,
): fc.Arbitrary<RunPlan> {
  const events = fc.array(drafts, { maxLength: 2 });
  const call = fc.record({ outcome: fc.constantFrom("completed" as const, "failed" as const), events });
  const step = fc.record({
    before: events,
    calls: fc.array(call, { maxLength: maxCalls }),
    order: fc.array(fc.nat(9), { minLength: maxCalls, maxLength: maxCalls }),
    after: events,
  });
  return fc.record({
    text: texts,
    steps: fc.array(step, { minLength: 1, maxLength: 3 }),
    end: fc.constantFrom<RunEnd>("completed", "completed", "failed", "cancelled", "interrupted", "crashed"),
    finished: fc.nat(maxCalls),
  });
}

interface OpenCall extends PlannedCall {
  readonly id: string;
}

/** Writes one run, from its input to its recorded end (a crash is closed by whoever comes next). */
export function writeRun(writer: LogWriter, plan: RunPlan, runId: string): void {
  writer.runId = runId;
  const started: EventDraft = { type: "RunStarted", data: { runId, owner: "process-1" } };
  const input: Message = { id: `${runId}-input`, type: "human", content: plan.text };
  writer.record("user", started, { type: "MessagesAdded", data: { messages: [input] } });
  let open: OpenCall[] = [];
  for (const [at, step] of plan.steps.entries()) {
    open = writeAnswer(writer, step, `${runId}-${at}`);
    const last = at === plan.steps.length - 1;
    const count = last && plan.end !== "completed" ? Math.min(plan.finished, open.length) : open.length;
    const finishing = open
      .map((call, index) => ({ call, key: step.order[index] ?? 0 }))
      .sort((a, b) => a.key - b.key);
    for (const { call } of finishing.slice(0, count)) finishCall(writer, call);
    open = finishing.slice(count).map(({ call }) => call);
  }
  endRun(writer, plan, runId, open);
  writer.runId = undefined;
  writer.rest();
}

function writeAnswer(writer: LogWriter, { before, calls, after }: PlannedStep, stepId: string): OpenCall[] {
  const callId = `${stepId}-model`;
  const view = { version: writer.version, from: null, edits: [], system: null };
  writer.offer("middleware:fuzz", before);
  writer.record("runtime", {
    type: "ModelCallStarted",
    data: { callId, model: "fuzz", view, tools: null, requestHash: "" },
  });
  const open = calls.map((call, at): OpenCall => ({ ...call, id: `${stepId}-call-${at}` }));
  const message: Message = {
    id: `${stepId}-answer`,
    type: "ai",
    content: "",
    tool_calls: open.map(({ id }) => ({ id, name: "fuzz", args: {} })),
  };
  writer.record("model:fuzz", { type: "ModelResponded", data: { callId, message, latencyMs: 1 } });
  writer.offer("middleware:fuzz", after);
  writer.record(
    "runtime",
    ...open.map(({ id }): EventDraft => ({ type: "ToolCallStarted", data: { callId: id, name: "fuzz" } })),
  );
  return open;
}

function resultOf(callId: string, content: string): Message {
  return { id: `${callId}-result`, type: "tool", content, tool_call_id: callId };
}

function finishCall(writer: LogWriter, { id, outcome, events }: OpenCall): void {
  const message = resultOf(id, outcome);
  const result: EventDraft =
    outcome === "completed"
      ? { type: "ToolCallCompleted", data: { callId: id, message, durationMs: 1 } }
      : {
          type: "ToolCallFailed",
          data: { callId: id, message, durationMs: 1, error: { name: "Error", message: "no" } },
        };
  writer.record("tool:fuzz", result);
  writer.offer("tool:fuzz", events);
}

function abandon(writer: LogWriter, open: readonly OpenCall[], reason: string): void {
  for (const { id } of open) {
    writer.record("runtime", {
      type: "ToolCallAbandoned",
      data: { callId: id, message: resultOf(id, reason), reason },
    });
  }
}

function endRun(writer: LogWriter, plan: RunPlan, runId: string, open: readonly OpenCall[]): void {
  const error = { name: "Error", message: "no" };
  const end = (type: string, data: object) =>
    writer.record("runtime", { type, data: { runId, ...data, stateHash: writer.stateHash() } });
  switch (plan.end) {
    case "completed":
      end("RunCompleted", {});
      break;
    case "failed":
      abandon(writer, open, "run-failed");
      end("RunFailed", { error });
      break;
    case "cancelled":
      writer.record("user", { type: "RunCancelRequested", data: { runId, reason: "enough" } });
      abandon(writer, open, "cancelled");
      end("RunCancelled", { reason: "enough" });
      break;
    case "crashed":
      writer.record("runtime", {
        type: "RunTakenOver",
        data: { runId, owner: "process-2", previousOwner: "process-1" },
      });
      abandon(writer, open, "outcome unknown");
      end("RunFailed", { error: { name: "RunAbandonedError", message: "gone" } });
      break;
    case "interrupted":
      interruptAndResume(writer, runId, open, end);
      break;
    default: {
      const never: never = plan.end;
      throw never;
    }
  }
}

function interruptAndResume(
  writer: LogWriter,
  runId: string,
  open: readonly OpenCall[],
  end: (type: string, data: object) => void,
): void {
  const [asking] = open;
  const question = { id: `${runId}-question`, kind: "question", value: "go on?", by: "tool:fuzz" };
  end("RunInterrupted", { interrupts: [asking ? { ...question, callId: asking.id } : question] });
  const resumed = `${runId}-resumed`;
  writer.runId = resumed;
  writer.record("user", { type: "InterruptResolved", data: { interruptId: question.id, decision: "yes" } });
  writer.record("user", { type: "RunStarted", data: { runId: resumed, owner: "process-1", resumes: runId } });
  for (const call of open) finishCall(writer, call);
  const stateHash = writer.stateHash();
  writer.record("runtime", { type: "RunCompleted", data: { runId: resumed, stateHash } });
}
