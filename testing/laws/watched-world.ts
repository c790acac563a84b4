/** Milliseconds by which the watched clock runs ahead, so that a result that holds a time is seen to differ. */
const aheadMs = 86_400_000;

interface Watched<Result> {
  readonly result: Result;
  /** What was read that a pure function does not read: `Date.now()`, `Math.random()` … */
  readonly reads: readonly string[];
}

/**
 * Calls a function in a world whose clock and dice are watched and differ from the real ones. Synchronous: nothing
 * else runs meanwhile.
 *
 * @example
 * inWatchedWorld(() => Date.now()).reads; // ["Date.now()"]
 */
export function inWatchedWorld<Result>(work: () => Result): Watched<Result> {
  const reads = new Set<string>();
  const RealDate = Date;
  const { random } = Math;
  const { now } = performance;
  const { randomUUID, getRandomValues } = crypto;
  const shifted = (name: string) => {
    reads.add(name);
    return RealDate.now() + aheadMs;
  };
  globalThis.Date = new Proxy(RealDate, {
    construct(target, args: unknown[], newTarget) {
      return Reflect.construct(target, args.length === 0 ? [shifted("new Date()")] : args, newTarget) as Date;
    },
    apply: () => new RealDate(shifted("Date()")).toString(),
    get(target, key, receiver) {
      if (key === "now") return () => shifted("Date.now()");
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  Math.random = () => {
    reads.add("Math.random()");
    return random() / 2;
  };
  performance.now = () => {
    reads.add("performance.now()");
    return now.call(performance) + aheadMs;
  };
  crypto.randomUUID = () => {
    reads.add("crypto.randomUUID()");
    return randomUUID.call(crypto);
  };
  crypto.getRandomValues = (array) => {
    reads.add("crypto.getRandomValues()");
    return getRandomValues.call(crypto, array as never) as typeof array;
  };
  try {
    return { result: work(), reads: [...reads] };
  } finally {
    globalThis.Date = RealDate;
    Math.random = random;
    performance.now = now;
    crypto.randomUUID = randomUUID;
    crypto.getRandomValues = getRandomValues;
  }
}
