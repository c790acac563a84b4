import { AIMessage } from "../langchain.ts";
import { type BackoffOptions, backoffMs, timerDelay } from "./backoff.ts";
import { createMiddleware } from "./define-middleware.ts";
import { isPassingModelError, retryAfterMs } from "./model-errors.ts";

export interface ModelRetryOptions extends BackoffOptions {
  /** Tries after the first. Default 2. */
  readonly maxRetries?: number;
  /** Which errors are worth another try. Default: rate limits, overload, time-outs, lost connections. */
  readonly retryOn?: (error: unknown) => boolean;
  /** After the last try: fail the run (default), or go on with an answer that names the error. */
  readonly onFailure?: "error" | "answer";
}

function failureAnswer(error: unknown, tries: number): AIMessage {
  const detail = error instanceof Error ? error.message : String(error);
  return new AIMessage(
    `The model could not be reached (${tries} ${tries === 1 ? "try" : "tries"}): ${detail.slice(0, 300)}. Please try again later.`,
  );
}

/**
 * Asks the model again after errors that may pass, with growing waits; a wait that the provider asks for is kept, up
 * to `maxDelayMs`. Cancels are never tried again.
 *
 * @example
 * createAgent({ model, middleware: [modelRetryMiddleware({ maxRetries: 4 })] })
 */
export function modelRetryMiddleware(options: ModelRetryOptions = {}) {
  const { maxRetries = 2, retryOn = isPassingModelError, onFailure = "error" } = options;
  const { delay = timerDelay, maxDelayMs = 60_000 } = options;
  return createMiddleware({
    name: "model-retry",
    async wrapModelCall(request, handler) {
      const { signal } = request.runtime;
      for (let attempt = 1; ; attempt++) {
        try {
          return await handler(request);
        } catch (error) {
          if (signal.aborted) throw error;
          if (attempt > maxRetries || !retryOn(error)) {
            if (onFailure === "error") throw error;
            return failureAnswer(error, attempt);
          }
          const wait = Math.min(maxDelayMs, retryAfterMs(error) ?? backoffMs(attempt, options));
          await delay(wait, signal);
          if (signal.aborted) throw error;
        }
      }
    },
  });
}
