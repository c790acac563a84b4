import type { AIMessage } from "@langchain/core/messages";
import { RunCapped } from "../../events/run.ts";
import { createMiddleware } from "./define-middleware.ts";
import { finishReasonOf, lastAnswer, wantsTools } from "./last-answer.ts";
import { trimToolCalls } from "./trim-tool-calls.ts";

/** Words of the providers for "stopped by a filter", in lower case. */
const safetyReasons = new Set([
  "content_filter",
  "refusal",
  "safety",
  "blocklist",
  "prohibited_content",
  "spii",
  "image_safety",
  "guardrail_intervened",
]);

const reason = "safety_capped";

function isStopped(answer: AIMessage): boolean {
  if (safetyReasons.has(finishReasonOf(answer)?.toLowerCase() ?? "")) return true;
  const refusal: unknown = answer.additional_kwargs?.refusal;
  return typeof refusal === "string" && refusal !== "";
}

/**
 * When a provider's filter stops an answer, its tool calls are not run (they may be cut off in the middle), and an
 * empty answer says what happened, so that no empty message stays in the thread.
 *
 * @example
 * createAgent({ model, middleware: [safetyStopMiddleware()] })
 */
export function safetyStopMiddleware() {
  return createMiddleware({
    name: "safety-stop",
    afterModel(state, { runId }) {
      const answer = lastAnswer(state.messages);
      if (!answer || !isStopped(answer)) return undefined;
      const refusal: unknown = answer.additional_kwargs?.refusal;
      const empty = answer.text.trim() === "";
      const told = empty && typeof refusal === "string" && refusal !== "" ? refusal : undefined;
      const notice =
        told ??
        (empty || wantsTools(answer)
          ? "The provider's safety filter stopped this answer. No tool was run. Please put the request in another way."
          : undefined);
      const stopped = trimToolCalls(answer, [], {
        stopReason: reason,
        ...(notice === undefined ? {} : { notice }),
      });
      return { events: [RunCapped({ runId, reason })], update: { messages: [stopped] } };
    },
  });
}
