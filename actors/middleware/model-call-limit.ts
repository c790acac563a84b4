import { RunCapped } from "../../events/run.ts";
import { AIMessage } from "../langchain.ts";
import { createMiddleware } from "./define-middleware.ts";

/** A run or a thread made as many model calls as it may. */
export class ModelCallLimitError extends Error {
  override readonly name = "ModelCallLimitError";
  constructor(
    readonly scope: "run" | "thread",
    readonly limit: number,
  ) {
    super(
      `The ${scope} has made ${limit} model calls, which is its limit. Raise ${scope}Limit, or start a new ${scope}.`,
    );
  }
}

export interface ModelCallLimitOptions {
  /** Model calls in one run; a new run starts from zero. */
  readonly runLimit?: number;
  /** Model calls in the whole thread. */
  readonly threadLimit?: number;
  /** End the run with an answer that says so (default), or fail it. */
  readonly exitBehavior?: "end" | "error";
}

/**
 * Ends a run before it makes more model calls than it may. The counts come from the log: a new run starts from zero,
 * and a restart forgets nothing.
 *
 * @throws {ModelCallLimitError} in the run, with `exitBehavior: "error"`
 * @example
 * createAgent({ model, middleware: [modelCallLimitMiddleware({ runLimit: 20 })] })
 */
export function modelCallLimitMiddleware(options: ModelCallLimitOptions) {
  const { runLimit = Number.POSITIVE_INFINITY, threadLimit = Number.POSITIVE_INFINITY } = options;
  return createMiddleware({
    name: "model-call-limit",
    beforeModel: {
      canJumpTo: ["end"],
      hook(_state, { run, runId }) {
        const scope =
          run.threadModelCalls >= threadLimit ? "thread" : run.modelCalls >= runLimit ? "run" : undefined;
        if (!scope) return undefined;
        const error = new ModelCallLimitError(scope, scope === "run" ? runLimit : threadLimit);
        if (options.exitBehavior === "error") throw error;
        return {
          events: [RunCapped({ runId, reason: "model_call_limit" })],
          update: { messages: [new AIMessage(error.message)] },
          jumpTo: "end",
        };
      },
    },
  });
}
