/** What a million tokens cost. There are no built-in prices: they change, and a wrong one is worse than none. */
export interface ModelPrice {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** Input that was read from the provider's cache. Default: as other input. */
  readonly cachedInputPerMillion?: number;
}

/** Prices by model name as it is recorded, in one currency. A name that ends with `*` stands for all that start so. */
export interface PriceTable {
  readonly currency: string;
  readonly models: { readonly [model: string]: ModelPrice };
}

export interface TokenCounts {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Part of `inputTokens`. */
  readonly cachedInputTokens: number;
}

export const noTokens: TokenCounts = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };

/** Token counts of a model's answer, as LangChain reports them. */
export function tokensOf(usage: { readonly [key: string]: unknown } | undefined): TokenCounts {
  const count = (value: unknown) => (typeof value === "number" && Number.isFinite(value) ? value : 0);
  const details = usage?.input_token_details as { readonly cache_read?: unknown } | undefined;
  return {
    inputTokens: count(usage?.input_tokens),
    outputTokens: count(usage?.output_tokens),
    cachedInputTokens: count(details?.cache_read),
  };
}

export function addTokens(a: TokenCounts, b: TokenCounts): TokenCounts {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
  };
}

function priceOf(model: string, prices: PriceTable): ModelPrice | undefined {
  if (Object.hasOwn(prices.models, model)) return prices.models[model];
  const fitting = Object.keys(prices.models)
    .filter((name) => name.endsWith("*") && model.startsWith(name.slice(0, -1)))
    .sort((a, b) => b.length - a.length);
  return fitting[0] === undefined ? undefined : prices.models[fitting[0]];
}

/**
 * Cost of tokens in the currency of the table; undefined when the table has no price for the model.
 *
 * @example
 * costOf("openai:gpt-x", tokens, { currency: "EUR", models: { "openai:*": { inputPerMillion: 2, outputPerMillion: 8 } } })
 */
export function costOf(model: string, tokens: TokenCounts, prices: PriceTable): number | undefined {
  const price = priceOf(model, prices);
  if (!price) return undefined;
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = price;
  const fresh = Math.max(0, tokens.inputTokens - tokens.cachedInputTokens);
  return (
    (fresh * inputPerMillion +
      tokens.cachedInputTokens * cachedInputPerMillion +
      tokens.outputTokens * outputPerMillion) /
    1_000_000
  );
}
