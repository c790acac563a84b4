import type { Pool, PoolClient } from "pg";

/** Notices what other processes commit, as long as somebody subscribes. */
export interface PostgresWatch {
  /** The same items, with watching while they are being read. */
  during<Item>(items: AsyncIterable<Item>): AsyncIterable<Item>;
  stop(): Promise<void>;
}

/**
 * Notifications of the server are the fast way; the interval is the sure one, also while the listening connection is
 * broken or a proxy between keeps notifications away.
 *
 * @param schema whose appends are news
 * @param onNews somebody committed something, or may have
 */
export function watchPostgres(
  pool: Pool,
  schema: string,
  intervalMs: number,
  onNews: () => void,
): PostgresWatch {
  let watchers = 0;
  let timer: NodeJS.Timeout | undefined;
  let listener: PoolClient | undefined;
  let connecting: Promise<void> | undefined;
  let isStopped = false;
  // The only connection is for the statements: the interval has to do.
  const mayListen = pool.options.max > 1;

  const drop = (client: PoolClient) => {
    if (listener === client) listener = undefined;
    client.removeAllListeners("notification");
    client.release(true);
  };

  const connect = async () => {
    const client = await pool.connect();
    if (isStopped || watchers === 0) {
      client.release(true);
      return;
    }
    client.once("error", () => listener === client && drop(client));
    client.once("end", () => listener === client && drop(client));
    client.on("notification", ({ payload }) => {
      if (payload === schema) onNews();
    });
    listener = client;
    await client.query("LISTEN threadfold").catch(() => listener === client && drop(client));
    onNews();
  };

  const listen = () => {
    if (listener || connecting || isStopped || !mayListen) return;
    // The interval finds the news meanwhile and tries again.
    connecting = connect()
      .catch(() => undefined)
      .finally(() => {
        connecting = undefined;
      });
  };

  const unwatch = () => {
    clearInterval(timer);
    timer = undefined;
    if (listener) drop(listener);
  };

  return {
    async *during(items) {
      if (watchers++ === 0) {
        listen();
        timer = setInterval(() => {
          listen();
          onNews();
        }, intervalMs);
        timer.unref();
      }
      try {
        yield* items;
      } finally {
        if (--watchers === 0) unwatch();
      }
    },
    async stop() {
      isStopped = true;
      unwatch();
      await connecting;
    },
  };
}
