import type { Store } from "../../events/store.ts";

export interface DyingOptions {
  /** The write at which the process dies, counted from 1 over appends, side records and blobs. */
  readonly at: number;
  /** Whether that write still took effect. Nobody hears of it in either case. */
  readonly effect: "kept" | "lost";
}

/** A store as a process sees it that dies at one of its writes. */
export interface DyingStore extends Store {
  /** Resolves when the process is dead. */
  readonly dead: Promise<void>;
  /** Writes that were tried so far. */
  readonly writes: number;
}

/**
 * Wraps a store so that one of its writes is the last thing that a process does: the write never comes back, and nothing
 * that is tried later reaches the inner store. Leases of the process end at once, as if their time were over.
 *
 * @example
 * const dying = dyingStore(store, { at: 4, effect: "lost" });
 * createAgent({ model, store: dying }).thread("t").run("go");
 * await dying.dead;
 */
export function dyingStore(inner: Store, { at, effect }: DyingOptions): DyingStore {
  const leases = new Set<string>();
  let writes = 0;
  let isDead = false;
  let die: () => void = () => undefined;
  const dead = new Promise<void>((resolve) => {
    die = resolve;
  });
  const never = () => new Promise<never>(() => undefined);
  const write = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isDead) return never();
    writes += 1;
    if (writes < at) return work();
    isDead = true;
    if (effect === "kept") await work();
    for (const key of leases) await inner.side.delete("lease", key);
    die();
    return never();
  };
  return {
    ...inner,
    dead,
    get writes() {
      return writes;
    },
    log: { ...inner.log, append: (...args) => write(() => inner.log.append(...args)) },
    blobs: { ...inner.blobs, put: (...args) => write(() => inner.blobs.put(...args)) },
    side: {
      ...inner.side,
      async put(kind, key, value, options) {
        if (kind === "lease") leases.add(key);
        return write(() => inner.side.put(kind, key, value, options));
      },
    },
    close: async () => undefined,
  };
}
