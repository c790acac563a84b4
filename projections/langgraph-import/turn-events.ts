import type { EventDraft } from "../../events/define-event.ts";
import type { Emitter } from "../../events/envelope.ts";
import type { Message } from "../../events/message.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { ModelResponded } from "../../events/model.ts";
import { ToolCallCompleted, ToolCallFailed, ToolCallStarted } from "../../events/tool.ts";
import { textOf } from "./source-messages.ts";

/** An event with who emitted it. */
export interface AttributedDraft {
  readonly draft: EventDraft;
  readonly by: Emitter;
  /** The next events were caused by it. */
  readonly leads?: boolean;
}

/** Characters of a failed tool's answer that its error repeats. */
const maxErrorLength = 300;

/** True for a message that a model gave, and not a middleware in the assistant's name. */
export function isModelAnswer(message: Message): boolean {
  if (message.type !== "ai") return false;
  const metadata = message.response_metadata;
  const told = typeof metadata === "object" && metadata !== null && Object.keys(metadata).length > 0;
  return told || (message.tool_calls?.length ?? 0) > 0 || /^(?:lc_)?run-/.test(message.id);
}

/** Events of an answer: the answer, and the start of each call that has a result later on. */
export function answerEvents(message: Message, later: readonly Message[]): AttributedDraft[] {
  const metadata = (message.response_metadata ?? {}) as { model_name?: unknown; finish_reason?: unknown };
  const model = typeof metadata.model_name === "string" ? metadata.model_name : "unknown";
  const usage = message.usage_metadata;
  const data = {
    callId: message.id,
    message,
    ...(typeof usage === "object" && usage !== null && { usage: usage as { [key: string]: unknown } }),
    // How long it took is not in the file.
    latencyMs: 0,
    ...(typeof metadata.finish_reason === "string" && { finishReason: metadata.finish_reason }),
  };
  const nextAnswer = later.findIndex(
    ({ type, tool_calls }) => type === "ai" && tool_calls?.some(({ id }) => isCallOf(message, id)),
  );
  const results = new Set(
    later
      .slice(0, nextAnswer < 0 ? undefined : nextAnswer)
      .flatMap(({ type, tool_call_id }) => (type === "tool" && tool_call_id ? [tool_call_id] : [])),
  );
  const started = (message.tool_calls ?? []).flatMap(({ id, name }): AttributedDraft[] =>
    id && results.has(id) ? [{ draft: ToolCallStarted({ callId: id, name }), by: "runtime" }] : [],
  );
  return [{ draft: ModelResponded(data), by: `model:${model}`, leads: true }, ...started];
}

function isCallOf(message: Message, id: string | undefined): boolean {
  return id !== undefined && (message.tool_calls ?? []).some((call) => call.id === id);
}

/**
 * Event of a tool's result. One that stands elsewhere than behind its call, in the order of the calls, is added as a
 * message, so that it stays where it is.
 */
export function resultEvent(message: Message, before: readonly Message[]): AttributedDraft {
  const name = toolName(message, before);
  const by: Emitter = `tool:${name}`;
  const callId = message.tool_call_id;
  if (!callId || !standsInOrder(message, before))
    return { draft: MessagesAdded({ messages: [message] }), by };
  if (message.status === "error") {
    const error = { name: "ToolError", message: textOf(message).slice(0, maxErrorLength) };
    return { draft: ToolCallFailed({ callId, message, error, durationMs: 0 }), by };
  }
  return { draft: ToolCallCompleted({ callId, message, durationMs: 0 }), by };
}

/** The call that a result belongs to: the last one of its id. */
export function callOf(result: Message, before: readonly Message[]) {
  const caller = before.findLast((message) => isCallOf(message, result.tool_call_id));
  return caller?.tool_calls?.find(({ id }) => id === result.tool_call_id);
}

function toolName(message: Message, before: readonly Message[]): string {
  return message.name || callOf(message, before)?.name || "unknown";
}

function standsInOrder(result: Message, before: readonly Message[]): boolean {
  if (before.some(({ id }) => id === result.id)) return false;
  const at = before.findLastIndex((message) => isCallOf(message, result.tool_call_id));
  if (at < 0) return false;
  const calls = before[at]?.tool_calls ?? [];
  const placeOf = (message: Message) => calls.findIndex(({ id }) => id === message.tool_call_id);
  return before
    .slice(at + 1)
    .every((other) => other.type === "tool" && placeOf(other) >= 0 && placeOf(other) <= placeOf(result));
}
