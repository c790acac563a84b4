import { AIMessage } from "@langchain/core/messages";
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

/**
 * The same answer with fewer tool calls (same id, so that it takes the place of the old one), and a notice for the
 * reader in its text.
 */
export function trimToolCalls(
  answer: AIMessage,
  kept: readonly IdentifiedCall[],
  notice?: string,
): AIMessage {
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
    additional_kwargs: raw.length > 0 ? { ...kwargs, tool_calls: raw } : kwargs,
    response_metadata: { ...answer.response_metadata },
    ...(answer.usage_metadata === undefined ? {} : { usage_metadata: answer.usage_metadata }),
  });
}
