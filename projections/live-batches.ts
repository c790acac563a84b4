import type { RecordedEvent } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";

export interface LiveBatch {
  readonly events: readonly RecordedEvent[];
  /** Everything recorded before the subscription began has been given. */
  readonly caughtUp: boolean;
}

const nothingYet: unique symbol = Symbol("nothing yet");

/**
 * Follows the log in batches: what is there already goes together, and nothing waits for a batch to fill.
 *
 * @param options.batchEvents events of one batch at most
 */
export async function* liveBatches(options: {
  readonly log: EventLog;
  readonly after: string | undefined;
  readonly types: readonly string[] | undefined;
  readonly signal: AbortSignal;
  readonly batchEvents: number;
}): AsyncGenerator<LiveBatch, void> {
  const { log, after, types, signal, batchEvents } = options;
  const over = new AbortController();
  const items = log.subscribe({
    signal: AbortSignal.any([signal, over.signal]),
    ...(after !== undefined && { after }),
    ...(types && { types }),
  });
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
    // The item that is being waited for ends first, or the return would wait behind it for ever.
    over.abort();
    await iterator.return?.();
  }
}
