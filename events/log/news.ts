/** Wakes those who wait for something new: a count that only grows, and promises for the next count. */
export interface News {
  /** Take it before looking for what is new: nothing falls between the look and the wait. */
  readonly count: number;
  announce(): void;
  /** Resolves when the count is beyond `count`, when `signal` aborts and when the news end. */
  beyond(count: number, signal?: AbortSignal): Promise<void>;
  readonly ended: boolean;
  end(): void;
}

export function createNews(): News {
  let count = 0;
  let ended = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    const resolvers = [...waiting];
    waiting.clear();
    for (const resolve of resolvers) resolve();
  };
  return {
    get count() {
      return count;
    },
    get ended() {
      return ended;
    },
    announce() {
      count += 1;
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    beyond(seen, signal) {
      if (count > seen || ended || signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const settle = () => {
          waiting.delete(settle);
          signal?.removeEventListener("abort", settle);
          resolve();
        };
        waiting.add(settle);
        signal?.addEventListener("abort", settle, { once: true });
      });
    },
  };
}
