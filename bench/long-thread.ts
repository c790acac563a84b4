import { v7 as uuidv7 } from "uuid";
import type { EventDraft } from "../events/define-event.ts";
import { type NewEvent, threadStream } from "../events/envelope.ts";
import type { Json } from "../events/json.ts";
import type { EventLog } from "../events/log/event-log.ts";

const question = "Please read the report of last quarter and tell me what changed against the one before. ";
const answer =
  "The revenue of the second region grew, mostly through two new customers; costs stayed where they were. ";
const output = "line of a tool's output, as a shell or a search prints it, with some numbers 12345 67890\n";

/** One turn of a usual thread: a question, a tool call with its result, an answer, and now and then a state event. */
function turn(number: number, runId: string): EventDraft[] {
  const [first, second] = [`${runId}-0`, `${runId}-1`];
  const callId = `call_${runId}`;
  const usage = { input_tokens: 2000 + number, output_tokens: 120, total_tokens: 2120 + number };
  const message = (id: string, type: string, content: string, more: object = {}) => {
    return { id, type, content, additional_kwargs: {}, response_metadata: {}, ...more };
  };
  const started = (call: string) => {
    const view = { version: number * 9, from: null, edits: [], system: null };
    const data = { callId: call, model: "bench", view, tools: null, requestHash: "0".repeat(64) };
    return { type: "ModelCallStarted", data };
  };
  const calling = message(uuidv7(), "ai", "", {
    tool_calls: [{ id: callId, name: "bash", args: { command: "ls -l" }, type: "tool_call" }],
  });
  const result = message(uuidv7(), "tool", output.repeat(1 + (number % 12)), {
    tool_call_id: callId,
    name: "bash",
    status: "success",
  });
  const drafts: EventDraft[] = [
    { type: "RunStarted", data: { runId, owner: "bench" } },
    {
      type: "MessagesAdded",
      data: { messages: [message(uuidv7(), "human", question.repeat(1 + (number % 4)))] },
    },
    started(first),
    { type: "ModelResponded", data: { callId: first, message: calling, usage, latencyMs: 900 } },
    { type: "ToolCallStarted", data: { callId, name: "bash" } },
    { type: "ToolCallCompleted", data: { callId, message: result, durationMs: 31 } },
  ];
  if (number % 3 === 0) {
    const todos = ["read", "compare", "write"].map((content, n) => ({
      content,
      status: n > number % 3 ? "pending" : "completed",
    }));
    drafts.push({ type: "TodosWritten", data: { todos } });
  }
  if (number % 20 === 0)
    drafts.push({
      type: "ArtifactsPresented",
      data: { paths: [`/mnt/user-data/outputs/report-${number}.md`] },
    });
  if (number === 0) drafts.push({ type: "TitleSet", data: { title: "Quarterly report", origin: "auto" } });
  drafts.push(started(second), {
    type: "ModelResponded",
    data: {
      callId: second,
      message: message(uuidv7(), "ai", answer.repeat(2 + (number % 5))),
      usage,
      latencyMs: 1200,
    },
  });
  drafts.push({ type: "RunCompleted", data: { runId, stopReason: "end" } });
  return drafts;
}

/** Writes a thread of about `events` events, run by run, and gives its length. */
export async function writeLongThread(log: EventLog, threadId: string, events: number): Promise<number> {
  let version = 0;
  for (let number = 0; version < events; number++) {
    const runId = uuidv7();
    const batch = turn(number, runId).map(({ type, data }, step): NewEvent => {
      const id = uuidv7();
      const metadata = {
        schema: 1,
        by: "runtime",
        causationId: id,
        correlationId: runId,
        runId,
        step: step >> 1,
      } as const;
      return { id, type, data: data as Json, recordedAt: new Date().toISOString(), metadata };
    });
    ({ version } = await log.append(threadStream(threadId), batch, { expectedVersion: version }));
  }
  return version;
}
