import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { createMiddleware } from "./define-middleware.ts";

/** A model, or a function that makes it on first use. */
export type FallbackModel = BaseChatModel | (() => BaseChatModel | Promise<BaseChatModel>);

/**
 * Asks other models, in order, when a model fails. Throws what the last one threw. Put it before the retries, so that
 * each model gets its tries.
 *
 * @example
 * createAgent({ model, middleware: [modelFallbackMiddleware([smallerModel]), modelRetryMiddleware()] })
 */
export function modelFallbackMiddleware(models: readonly FallbackModel[]) {
  return createMiddleware({
    name: "model-fallback",
    async wrapModelCall(request, handler) {
      try {
        return await handler(request);
      } catch (first) {
        let failure = first;
        for (const fallback of models) {
          if (request.runtime.signal.aborted) throw failure;
          try {
            const model = typeof fallback === "function" ? await fallback() : fallback;
            return await handler({ ...request, model });
          } catch (error) {
            failure = error;
          }
        }
        throw failure;
      }
    },
  });
}
