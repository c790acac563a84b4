import type { DataOf } from "../../events/define-event.ts";
import type { ModelResponded } from "../../events/model.ts";
import { defineReducer } from "../../reducers/define-reducer.ts";
import { createMiddleware } from "./define-middleware.ts";

/** Tokens of all model calls of a thread. */
export interface TokenUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  /** Calls that were answered, those without figures included. */
  readonly model_calls: number;
}

const none: TokenUsage = { input_tokens: 0, output_tokens: 0, total_tokens: 0, model_calls: 0 };

function add(sum: TokenUsage, data: DataOf<typeof ModelResponded>): TokenUsage {
  const { input_tokens: input = 0, output_tokens: output = 0, total_tokens: total } = data.usage ?? {};
  return {
    input_tokens: sum.input_tokens + input,
    output_tokens: sum.output_tokens + output,
    total_tokens: sum.total_tokens + (total ?? input + output),
    model_calls: sum.model_calls + 1,
  };
}

/**
 * The field `token_usage`: what the thread's model calls used. It only folds what every answer records anyway, so it
 * can be added to a thread later and counts from the beginning.
 *
 * @example
 * const agent = createAgent({ model, middleware: [tokenUsageMiddleware()] });
 * (await agent.thread("t").state()).token_usage; // { input_tokens: 120, … }
 */
export function tokenUsageMiddleware() {
  return createMiddleware({
    name: "token-usage",
    reducers: [
      defineReducer<TokenUsage>({ field: "token_usage", initial: none, on: { ModelResponded: add } }),
    ],
  });
}
