import { AIMessage } from "../langchain.ts";
import type { IdentifiedCall } from "./last-answer.ts";

function withNotice(content: AIMessage["content"], notice: string): AIMessage["content"] {
  if (typeof content === "string") return content === "" ? notice : `${content}\n\n${notice}`;
  return [...content, { type: "text", text: notice }] as AIMessage["content"];
}

/** Content blocks of providers that repeat a tool call. */
const callBlocks = new Set(["tool_use", "tool_call", "function_call", "input_json_delta"]);

function withoutCallBlocks(content: AIMessage["content"], kept: ReadonlySet<string>): AIMessage["content"] {
  if (typeof content === "string") return content;
  return content.filter((block) => {
    if (!callBlocks.has(block.type)) return true;
    return typeof block.id === "string" && kept.has(block.id);
  }) as AIMessage["content"];
}

export interface TrimOptions {
  /** Added to the text, for the reader. */
  readonly notice?: string;
  /** Why the run ends with this answer: kept in the message, so that nothing sends the run back. */
  readonly stopReason?: string;
}

/** Why an answer was made the last of its run by a middleware; undefined: it was not. */
export function stopReasonOf(answer: AIMessage): string | undefined {
  const reason: unknown = answer.additional_kwargs?.stop_reason;
  return typeof reason === "string" ? reason : undefined;
}

/** The same answer (same id, so that it takes the place of the old one) with these tool calls only. */
export function trimToolCalls(
  answer: AIMessage,
  kept: readonly IdentifiedCall[],
  options: TrimOptions = {},
): AIMessage {
  const { notice, stopReason } = options;
  const ids = new Set(kept.map((call) => call.id));
  const { tool_calls: rawCalls, function_call: _dropped, ...kwargs } = answer.additional_kwargs ?? {};
  const raw = Array.isArray(rawCalls) ? rawCalls.filter((call) => ids.has(call.id)) : [];
  const content = withoutCallBlocks(answer.content, ids);
  return new AIMessage({
    ...(answer.id === undefined ? {} : { id: answer.id }),
    ...(answer.name === undefined ? {} : { name: answer.name }),
    content: notice === undefined ? content : withNotice(content, notice),
    tool_calls: (answer.tool_calls ?? []).filter((call) => call.id !== undefined && ids.has(call.id)),
    invalid_tool_calls: [],
    additional_kwargs: {
      ...kwargs,
      ...(raw.length > 0 ? { tool_calls: raw } : {}),
      ...(stopReason === undefined ? {} : { stop_reason: stopReason }),
    },
    response_metadata: { ...answer.response_metadata },
    ...(answer.usage_metadata === undefined ? {} : { usage_metadata: answer.usage_metadata }),
  });
}
