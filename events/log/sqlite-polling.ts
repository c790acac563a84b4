import type { SqliteDatabase } from "./sqlite-driver.ts";

/** Notices what other processes commit, as long as somebody subscribes. */
export interface Polling {
  /** The same items, with polling while they are being read. */
  during<Item>(items: AsyncIterable<Item>): AsyncIterable<Item>;
  /** Somebody reads items. */
  readonly active: boolean;
  stop(): void;
}

/**
 * @param onForeignCommit another connection committed something. Commits of this connection do not count: they are
 * announced where they are made.
 */
export function createPolling(
  database: SqliteDatabase,
  intervalMs: number,
  onForeignCommit: () => void,
): Polling {
  const dataVersion = database.prepare("PRAGMA data_version");
  let subscribers = 0;
  let timer: NodeJS.Timeout | undefined;

  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  /** A file that cannot be read now counts as changed, so that its readers meet the error themselves. */
  const look = (): unknown => {
    try {
      return dataVersion.get()?.[0];
    } catch (error) {
      return error;
    }
  };
  const start = () => {
    let seen = look();
    timer ??= setInterval(() => {
      const now = look();
      if (now !== seen) onForeignCommit();
      seen = now;
    }, intervalMs);
    // Waiting for others keeps no process alive.
    timer.unref();
  };

  return {
    stop,
    get active() {
      return subscribers > 0;
    },
    async *during(items) {
      if (subscribers++ === 0) start();
      try {
        yield* items;
      } finally {
        if (--subscribers === 0) stop();
      }
    },
  };
}
