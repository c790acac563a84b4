import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "../../events/message.ts";

export type IdentifiedCall = ToolCall & { readonly id: string };

/** True for answers of the model. */
export function isAnswer(message: BaseMessage): message is AIMessage {
  return message.getType() === "ai";
}

/** True for results of tools. */
export function isToolResult(message: BaseMessage): message is ToolMessage {
  return message.getType() === "tool";
}

/** The newest answer of the model. */
export function lastAnswer(messages: readonly BaseMessage[]): AIMessage | undefined {
  return messages.findLast(isAnswer);
}

/** The tool calls of an answer that have an id. */
export function callsOf(answer: AIMessage): readonly IdentifiedCall[] {
  return (answer.tool_calls ?? []).filter(
    (call): call is IdentifiedCall & typeof call => call.id !== undefined,
  );
}

/** Calls of the newest answer that no result follows. */
export function openCalls(messages: readonly BaseMessage[]): readonly IdentifiedCall[] {
  const index = messages.findLastIndex(isAnswer);
  const answer = messages[index];
  if (!answer || !isAnswer(answer)) return [];
  const answered = new Set(
    messages
      .slice(index + 1)
      .filter(isToolResult)
      .map((result) => result.tool_call_id),
  );
  return callsOf(answer).filter((call) => !answered.has(call.id));
}

const toolFinishReasons = new Set(["tool_calls", "function_call"]);

/** Why the provider stopped, in the provider's word. */
export function finishReasonOf(answer: AIMessage): string | undefined {
  const metadata: Record<string, unknown> = answer.response_metadata ?? {};
  const reason = metadata.finish_reason ?? metadata.stop_reason ?? metadata.finishReason;
  return typeof reason === "string" ? reason : undefined;
}

/** True when the model wanted a tool, even where the call could not be parsed. */
export function wantsTools(answer: AIMessage): boolean {
  if ((answer.tool_calls ?? []).length > 0 || (answer.invalid_tool_calls ?? []).length > 0) return true;
  const raw: Record<string, unknown> = answer.additional_kwargs ?? {};
  if (Array.isArray(raw.tool_calls) ? raw.tool_calls.length > 0 : Boolean(raw.function_call)) return true;
  return toolFinishReasons.has(finishReasonOf(answer) ?? "");
}
