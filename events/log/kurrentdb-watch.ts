import type { KurrentSubscription } from "./kurrentdb-client.ts";
import { everyStream } from "./kurrentdb-reader.ts";
import type { KurrentSession } from "./kurrentdb-session.ts";

export interface KurrentWatch {
  /** Watches the server while somebody iterates. */
  during<Item>(items: AsyncIterable<Item>): AsyncIterable<Item>;
  stop(): Promise<void>;
}

/**
 * One subscription to all streams tells that there is something new; a timer covers what comes while it is being made
 * again.
 */
export function watchKurrent(
  session: KurrentSession,
  pollIntervalMs: number,
  announce: () => void,
): KurrentWatch {
  let watchers = 0;
  let subscription: KurrentSubscription | undefined;
  let timer: NodeJS.Timeout | undefined;

  const subscribe = () => {
    const made = session.client().subscribeToAll({ fromPosition: "end", filter: everyStream });
    subscription = made;
    const drop = () => {
      // The next tick of the timer subscribes again, by then with a client that was replaced when it had to be.
      if (subscription === made) subscription = undefined;
      announce();
    };
    made.on("data", announce);
    made.on("caughtUp", announce);
    made.on("error", drop);
    made.on("end", drop);
    made.on("close", drop);
  };
  const begin = () => {
    watchers += 1;
    if (watchers > 1) return;
    subscribe();
    timer = setInterval(() => {
      if (!subscription) subscribe();
      announce();
    }, pollIntervalMs);
    timer.unref();
  };
  const end = async () => {
    clearInterval(timer);
    const made = subscription;
    subscription = undefined;
    await made?.unsubscribe().catch(() => undefined);
  };

  return {
    async *during(items) {
      begin();
      try {
        yield* items;
      } finally {
        watchers -= 1;
        if (watchers === 0) await end();
      }
    },
    stop: end,
  };
}
