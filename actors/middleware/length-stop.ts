import { RunCapped } from "../../events/run.ts";
import { createMiddleware } from "./define-middleware.ts";
import { finishReasonOf, lastAnswer, wantsTools } from "./last-answer.ts";

/** Words of the providers for "longer than allowed", in lower case. */
const lengthReasons = new Set(["length", "max_tokens", "max_output_tokens", "model_length"]);

/**
 * Records that the last answer of a run was cut by the model's output limit, so that the run does not look complete.
 *
 * @example
 * createAgent({ model, middleware: [lengthStopMiddleware()] })
 */
export function lengthStopMiddleware() {
  return createMiddleware({
    name: "length-stop",
    afterModel(state, { runId }) {
      const answer = lastAnswer(state.messages);
      if (!answer || !lengthReasons.has(finishReasonOf(answer)?.toLowerCase() ?? "")) return undefined;
      // With calls the run goes on, and this is not its last answer.
      return wantsTools(answer) ? undefined : RunCapped({ runId, reason: "model_length_capped" });
    },
  });
}
