import type { EventLog } from "../../events/log/event-log.ts";
import type { Store } from "../../events/store.ts";

/** What a process that dies leaves behind. */
export interface CrashingStore extends Store {
  /** Resolves when the process would have been dead: it tried one append more than it may. */
  readonly crashed: Promise<void>;
}

/**
 * A store as a process sees it that dies after `appends` appends: the next one never comes back, and nothing that it
 * does later reaches the inner store. Its lease ends at once.
 */
export function crashingStore(inner: Store, appends: number): CrashingStore {
  let left = appends;
  let die: () => void = () => undefined;
  const leases: string[] = [];
  const crashed = new Promise<void>((resolve) => {
    die = resolve;
  });
  const never = () => new Promise<never>(() => undefined);
  const end = async () => {
    for (const key of leases) await inner.side.delete("lease", key);
    die();
    return never();
  };
  const log: EventLog = {
    ...inner.log,
    async append(stream, events, options) {
      if (left === 0) return end();
      left -= 1;
      return inner.log.append(stream, events, options);
    },
  };
  return {
    ...inner,
    log,
    crashed,
    side: {
      ...inner.side,
      async put(kind, key, value, options) {
        // A lease is taken for a run that is about to begin.
        if (left === 0) return kind === "lease" ? end() : never();
        if (kind === "lease") leases.push(key);
        return inner.side.put(kind, key, value, options);
      },
    },
    close: async () => undefined,
  };
}
