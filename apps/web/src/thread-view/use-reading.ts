import { useEffect, useState } from "react";
import { RequestProblem } from "../api/request.ts";

/** Something that is read from the server. While it is read anew the old value stays to be seen. */
export interface Reading<Value> {
  readonly value: Value | undefined;
  readonly problem: RequestProblem | undefined;
  /** The value does not yet belong to the key that was asked for. */
  readonly pending: boolean;
}

/**
 * Reads something whenever its key changes.
 *
 * @param key everything that the answer depends on; undefined: nothing is read
 * @param options.delayMs waits before it asks, so that what is passed over quickly is not read
 */
export function useReading<Value>(
  key: string | undefined,
  read: (signal: AbortSignal) => Promise<Value>,
  options: { readonly delayMs?: number } = {},
): Reading<Value> {
  const { delayMs = 0 } = options;
  const [result, setResult] = useState<{ key: string; value?: Value; problem?: RequestProblem }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is read
  useEffect(() => {
    if (key === undefined) return;
    const stop = new AbortController();
    const begin = async () => {
      try {
        const value = await read(stop.signal);
        if (!stop.signal.aborted) setResult({ key, value });
      } catch (error) {
        if (stop.signal.aborted) return;
        const problem =
          error instanceof RequestProblem ? error : new RequestProblem(0, "Error", String(error));
        setResult({ key, problem });
      }
    };
    const timer = window.setTimeout(() => void begin(), delayMs);
    return () => {
      window.clearTimeout(timer);
      stop.abort();
    };
  }, [key, delayMs]);
  const pending = key !== undefined && result?.key !== key;
  return { value: result?.value, problem: pending ? undefined : result?.problem, pending };
}
