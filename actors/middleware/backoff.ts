/** How long to wait between tries. */
export interface BackoffOptions {
  /** Milliseconds before the second try. Default 1,000. */
  readonly initialDelayMs?: number;
  /** Factor from one wait to the next. Default 2. */
  readonly factor?: number;
  /** Longest wait in milliseconds. Default 60,000. */
  readonly maxDelayMs?: number;
  /** Varies each wait by up to a quarter, so that many clients do not come back at once. Default true. */
  readonly jitter?: boolean;
  /** Waits; ends early when the signal aborts. Default: a timer. */
  readonly delay?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Waits with a timer that an abort ends. */
export function timerDelay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

/** Milliseconds before try number `attempt + 1`, for `attempt` from 1. */
export function backoffMs(attempt: number, options: BackoffOptions): number {
  const { initialDelayMs = 1_000, factor = 2, maxDelayMs = 60_000, jitter = true } = options;
  const base = Math.min(maxDelayMs, initialDelayMs * factor ** (attempt - 1));
  return jitter ? Math.min(maxDelayMs, Math.round(base * (0.75 + Math.random() / 2))) : base;
}
