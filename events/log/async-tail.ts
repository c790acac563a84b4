import type { SubscribeOptions, SubscriptionItem } from "./event-log.ts";
import type { News } from "./news.ts";
import type { TailPage } from "./tail.ts";

/** `ended`: the log had nothing more, even when it was looked through farther than its last event. */
export interface AsyncTailPage extends TailPage {
  readonly ended?: boolean;
}

/** What a log on a server must offer for subscriptions; as `TailSource`, with answers that take time. */
export interface AsyncTailSource {
  readonly news: News;
  /** Ordinal of the last event of the log, 0 when it is empty. Asked once, when the subscription is made. */
  end(): Promise<number>;
  page(after: number): Promise<AsyncTailPage>;
  toPosition(ordinal: number): string;
  /** @throws {InvalidPositionError} */
  fromPosition(position: string): number;
}

type Start = { readonly mark: number; readonly through: number } | { readonly error: unknown };

async function startOf(source: AsyncTailSource, after: string | undefined): Promise<Start> {
  try {
    const given = after === undefined || after === "end" ? 0 : source.fromPosition(after);
    const mark = await source.end();
    return { mark, through: after === "end" ? mark : given };
  } catch (error) {
    // Whoever iterates learns of it, like of any later error.
    return { error };
  }
}

/**
 * Subscription to a log on a server: pages until the end, then waits for news. The place where it starts is asked for
 * when it is called, not when the first item is.
 */
export function asyncTail(
  source: AsyncTailSource,
  options: SubscribeOptions,
): AsyncIterable<SubscriptionItem> {
  const { news } = source;
  const { after, signal } = options;
  const starting = startOf(source, after);
  const over = () => news.ended || signal?.aborted === true;

  async function* items(): AsyncGenerator<SubscriptionItem, void> {
    const start = await starting;
    if ("error" in start) throw start.error;
    const { mark } = start;
    let { through } = start;
    let caughtUp = false;
    const position = mark === 0 ? undefined : source.toPosition(mark);
    while (!over()) {
      const seen = news.count;
      const before = through;
      const page = await source.page(through);
      if (over()) return;
      for (const event of page.events) {
        if (!caughtUp && source.fromPosition(event.position) > mark) {
          caughtUp = true;
          yield { kind: "caught-up", position };
        }
        if (over()) return;
        yield { kind: "event", event };
      }
      through = Math.max(through, page.through);
      if (!caughtUp && through >= mark) {
        caughtUp = true;
        yield { kind: "caught-up", position };
      }
      const isIdle = through === before || (page.ended === true && page.events.length === 0);
      if (isIdle) await news.beyond(seen, signal);
    }
  }
  return items();
}
