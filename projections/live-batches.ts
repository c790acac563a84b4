import type { RecordedEvent } from "../events/envelope.ts";
import type { SubscriptionItem } from "../events/log/event-log.ts";

export interface LiveBatch {
  readonly events: readonly RecordedEvent[];
  /** Everything recorded before the subscription began has been given. */
  readonly caughtUp: boolean;
}

const nothingYet: unique symbol = Symbol("nothing yet");

/**
 * Groups a subscription into batches: what is there already goes together, and nothing waits for a batch to fill.
 *
 * @param batchEvents events of one batch at most
 */
export async function* liveBatches(
  items: AsyncIterable<SubscriptionItem>,
  batchEvents: number,
): AsyncGenerator<LiveBatch, void> {
  const iterator = items[Symbol.asyncIterator]();
  let caughtUp = false;
  try {
    for (let next = iterator.next(); ; ) {
      const events: RecordedEvent[] = [];
      let result = await next;
      for (;;) {
        if (result.done) {
          if (events.length > 0) yield { events, caughtUp };
          return;
        }
        if (result.value.kind === "event") events.push(result.value.event);
        else caughtUp = true;
        next = iterator.next();
        if (events.length >= batchEvents) break;
        const now = await Promise.race([
          next,
          new Promise<typeof nothingYet>((resolve) => setImmediate(resolve, nothingYet)),
        ]);
        if (now === nothingYet) break;
        result = now;
      }
      yield { events, caughtUp };
    }
  } finally {
    await iterator.return?.();
  }
}
