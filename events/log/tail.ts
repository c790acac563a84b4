import type { RecordedEvent } from "../envelope.ts";
import type { SubscribeOptions, SubscriptionItem } from "./event-log.ts";
import type { News } from "./news.ts";

/** Events after an ordinal that pass a filter, with how far the log was looked through to find them. */
export interface TailPage<Event = RecordedEvent> {
  readonly events: readonly Event[];
  /** Ordinal up to which every event was looked at. */
  readonly through: number;
}

/** What a log with whole-number places must offer for subscriptions. */
export interface TailSource {
  readonly news: News;
  /** Ordinal of the last event of the log, 0 when it is empty. */
  end(): number;
  page(after: number): TailPage;
  toPosition(ordinal: number): string;
  fromPosition(position: string): number;
}

/**
 * Subscription to a log that this process reads by itself: pages until the end, then waits for news. The place where
 * it starts is taken when it is called, not when the first item is asked for.
 */
export function tail(source: TailSource, options: SubscribeOptions): AsyncIterable<SubscriptionItem> {
  const { news } = source;
  const { after, signal } = options;
  let mark = 0;
  let through = 0;
  let refusal: { readonly error: unknown } | undefined;
  try {
    mark = source.end();
    if (after === "end") through = mark;
    else if (after !== undefined) through = source.fromPosition(after);
  } catch (error) {
    // Whoever iterates learns of it, like of any later error.
    refusal = { error };
  }

  async function* items(): AsyncGenerator<SubscriptionItem, void> {
    if (refusal) throw refusal.error;
    let caughtUp = false;
    const markItem = {
      kind: "caught-up",
      position: mark === 0 ? undefined : source.toPosition(mark),
    } as const;
    const over = () => news.ended || signal?.aborted === true;
    while (!over()) {
      const seen = news.count;
      const before = through;
      const page = source.page(through);
      for (const event of page.events) {
        if (!caughtUp && source.fromPosition(event.position) > mark) {
          caughtUp = true;
          yield markItem;
        }
        if (over()) return;
        yield { kind: "event", event };
      }
      through = Math.max(through, page.through);
      if (!caughtUp && through >= mark) {
        caughtUp = true;
        yield markItem;
      }
      if (through > before) await new Promise((resolve) => setImmediate(resolve));
      else await news.beyond(seen, signal);
    }
  }
  return items();
}
