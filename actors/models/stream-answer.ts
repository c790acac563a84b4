import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { type AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";

/** A chunk holds one word; what comes after the last word goes with it. */
const pieces = /\s*\S+\s*$|\s*\S+/gu;

/**
 * Streams an answer that is there already: its text word by word, then everything else in one chunk. The chunks add
 * up to the answer.
 */
export async function* streamAnswer(
  answer: AIMessage,
  signal: AbortSignal | undefined,
  runManager: CallbackManagerForLLMRun | undefined,
): AsyncGenerator<ChatGenerationChunk> {
  const { content, id } = answer;
  const ids = id === undefined ? {} : { id };
  for (const piece of typeof content === "string" ? (content.match(pieces) ?? []) : []) {
    signal?.throwIfAborted();
    const message = new AIMessageChunk({ content: piece, ...ids });
    const chunk = new ChatGenerationChunk({ text: piece, message });
    yield chunk;
    await runManager?.handleLLMNewToken(piece, undefined, undefined, undefined, undefined, { chunk });
  }
  signal?.throwIfAborted();
  const { additional_kwargs, response_metadata, usage_metadata, tool_calls = [] } = answer;
  const message = new AIMessageChunk({
    content: typeof content === "string" ? "" : content,
    ...ids,
    additional_kwargs: { ...additional_kwargs },
    response_metadata: { ...response_metadata },
    ...(usage_metadata && { usage_metadata }),
    tool_call_chunks: tool_calls.map((call, index) => ({
      name: call.name,
      args: JSON.stringify(call.args),
      index,
      type: "tool_call_chunk" as const,
      ...(call.id !== undefined && { id: call.id }),
    })),
  });
  const chunk = new ChatGenerationChunk({ text: "", message });
  yield chunk;
  await runManager?.handleLLMNewToken("", undefined, undefined, undefined, undefined, { chunk });
}
