/** Status codes after which the same request may succeed. */
const passingStatuses = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]);
const passingCodes = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "UND_ERR_SOCKET",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);
const passingText =
  /rate.?limit|overloaded|too many requests|time[d -]?out|temporarily|unavailable|connection error|fetch failed|socket hang up/i;
const lastingText = /insufficient_quota|invalid.?api.?key|authentication|context.?length/i;

type ErrorFields = { [key: string]: unknown };

function fieldsOf(error: unknown): ErrorFields {
  return typeof error === "object" && error !== null ? (error as ErrorFields) : {};
}

function statusOf(error: unknown): number | undefined {
  const { status, statusCode, response } = fieldsOf(error);
  const found = [status, statusCode, fieldsOf(response).status].find((value) => typeof value === "number");
  return found as number | undefined;
}

/**
 * True for errors of a model call that may be gone at the next try: rate limits, overload, time-outs, lost
 * connections. False for what stays wrong: keys, quotas, bad requests, bugs.
 */
export function isPassingModelError(error: unknown): boolean {
  const text = error instanceof Error ? `${error.name} ${error.message}` : String(error);
  if (lastingText.test(text)) return false;
  const status = statusOf(error);
  if (status !== undefined) return passingStatuses.has(status);
  const { code, cause } = fieldsOf(error);
  if (typeof code === "string" && passingCodes.has(code)) return true;
  if (cause !== undefined && cause !== error && isPassingModelError(cause)) return true;
  return passingText.test(text);
}

function headerOf(error: unknown, name: string): string | undefined {
  const { headers, response } = fieldsOf(error);
  for (const candidate of [headers, fieldsOf(response).headers]) {
    if (candidate instanceof Headers) {
      const value = candidate.get(name);
      if (value !== null) return value;
    }
    const value = fieldsOf(candidate)[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}

/** Milliseconds that the provider asks to wait, from `retry-after-ms` or `retry-after` in seconds. */
export function retryAfterMs(error: unknown): number | undefined {
  const ms = Number(headerOf(error, "retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const seconds = Number(headerOf(error, "retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}
