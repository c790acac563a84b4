import type { AIMessage } from "@langchain/core/messages";
import type { DataOf } from "../../events/define-event.ts";
import { EmptyAnswerRetried } from "../../events/empty-answer.ts";
import { MessagesRemoved } from "../../events/messages.ts";
import { RunCapped } from "../../events/run.ts";
import { createMiddleware } from "./define-middleware.ts";
import { hiddenMessage } from "./hidden-message.ts";
import { lastAnswer } from "./last-answer.ts";
import { nextRequestNotice } from "./next-request-notice.ts";
import { stopReasonOf, trimToolCalls } from "./trim-tool-calls.ts";

interface EmptyAnswerFields {
  readonly pending_empty_answer_notice?: string;
}

export interface EmptyAnswerOptions {
  /** How often a run asks again. Default 1. */
  readonly maxRetries?: number;
}

/** Blocks that a reader does not see. */
const silentBlocks = new Set(["thinking", "redacted_thinking", "reasoning"]);

function isEmpty(answer: AIMessage): boolean {
  if ((answer.tool_calls ?? []).length > 0) return false;
  if (typeof answer.content === "string") return answer.content.trim() === "";
  return answer.content.every((block) => {
    if (silentBlocks.has(block.type)) return true;
    return block.type === "text" && String(block.text ?? "").trim() === "";
  });
}

const reason = "empty_answer";

/**
 * A model that ends without a word is asked once more; when it stays silent, the answer says so. Tool calls that
 * could not be parsed count as nothing said: the model is told in the next request.
 *
 * @example
 * createAgent({ model, middleware: [emptyAnswerMiddleware()] })
 */
export function emptyAnswerMiddleware(options: EmptyAnswerOptions = {}) {
  const { maxRetries = 1 } = options;
  return createMiddleware<EmptyAnswerFields>({
    name: "empty-answer",
    events: [EmptyAnswerRetried],
    reducers: [
      nextRequestNotice<DataOf<typeof EmptyAnswerRetried>>({
        field: "pending_empty_answer_notice",
        event: "EmptyAnswerRetried",
        text: (data) => data.text,
      }),
    ],
    wrapModelCall(request, handler) {
      const text = request.state.pending_empty_answer_notice;
      if (text === undefined) return handler(request);
      const notice = hiddenMessage({ id: "empty-answer-notice", name: "empty_answer_notice", text });
      return handler({ ...request, messages: [...request.messages, notice] });
    },
    afterModel: {
      canJumpTo: ["model"],
      hook(state, { run, runId }) {
        const answer = lastAnswer(state.messages);
        if (!answer || !isEmpty(answer) || stopReasonOf(answer)) return undefined;
        if ((run.eventCounts.EmptyAnswerRetried ?? 0) >= maxRetries) {
          const notice = "The model gave no answer. Please ask again, or put the request in another way.";
          return {
            events: [RunCapped({ runId, reason })],
            update: { messages: [trimToolCalls(answer, [], { notice, stopReason: reason })] },
          };
        }
        const malformed = (answer.invalid_tool_calls ?? []).length > 0;
        const text = malformed
          ? "Your tool call could not be read. Make it again with valid JSON arguments, or answer."
          : "Your last answer was empty. Give the user your answer now.";
        const retried = EmptyAnswerRetried({ runId, text });
        // Providers refuse empty messages, so this one does not stay; a malformed call is mended in the request.
        const removed = answer.id === undefined || malformed ? [] : [MessagesRemoved({ ids: [answer.id] })];
        return { events: [retried, ...removed], jumpTo: "model" };
      },
    },
  });
}
