import type { RecordedEvent } from "../envelope.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { fromPosition } from "./position.ts";
import type { PreparedEvent } from "./prepare-append.ts";
import type { TailPage } from "./tail.ts";

interface RecentFilter {
  readonly types?: readonly string[] | undefined;
  readonly stream?: string | undefined;
  readonly limit: number;
}

/** The last events that this process committed, so that its own subscriptions need not read them from the file. */
export interface RecentEvents {
  /** Notes what is written in the transaction that is under way. */
  written(events: readonly RecordedEvent[], prepared: readonly PreparedEvent[]): void;
  /** Events are removed in the transaction that is under way. */
  erased(): void;
  committed(): void;
  rolledBack(): void;
  /** Somebody else changed the file. */
  forget(): void;
  /** Events after a position, when all of them are here; undefined: look into the file. */
  after(position: number, filter: RecentFilter): TailPage | undefined;
}

/**
 * @param isWanted false while nobody subscribes: then nothing is kept
 * @param maxEvents kept at most
 * @param maxCharacters of their JSON, kept at most
 */
export function createRecentEvents(
  isWanted: () => boolean,
  maxEvents = 1_000,
  maxCharacters = 4 * 1024 * 1024,
): RecentEvents {
  let kept: { readonly event: RecordedEvent; readonly length: number }[] = [];
  let staged: typeof kept = [];
  let erasing = false;
  let characters = 0;
  let first = 0;
  let last = 0;

  const forget = () => {
    kept = [];
    characters = 0;
    first = 0;
    last = 0;
  };
  const trim = () => {
    let drop = 0;
    while (kept.length - drop > maxEvents || (characters > maxCharacters && drop < kept.length)) {
      characters -= kept[drop]?.length ?? 0;
      drop += 1;
    }
    if (drop === 0) return;
    kept = kept.slice(drop);
    first += drop;
    if (kept.length === 0) forget();
  };

  return {
    forget,
    written(events, prepared) {
      if (!isWanted()) return;
      events.forEach((event, index) => {
        const text = prepared[index]?.dataText ?? "null";
        // A copy: what the caller appended is the caller's, and these are shared by all subscribers.
        staged.push({ event: deepFreeze({ ...event, data: JSON.parse(text) }), length: text.length });
      });
    },
    erased() {
      erasing = true;
    },
    committed() {
      if (erasing) {
        erasing = false;
        staged = [];
        forget();
      }
      if (staged.length === 0) return;
      const begins = fromPosition(staged[0]?.event.position ?? "");
      if (kept.length === 0 || begins !== last + 1) {
        forget();
        first = begins;
      }
      kept.push(...staged);
      for (const { length } of staged) characters += length;
      last = fromPosition(staged.at(-1)?.event.position ?? "");
      staged = [];
      trim();
    },
    rolledBack() {
      staged = [];
      erasing = false;
      forget();
    },
    after(position, { types, stream, limit }) {
      if (kept.length === 0 || position < first - 1 || position > last) return undefined;
      const events: RecordedEvent[] = [];
      let through = position;
      while (through < last && events.length < limit) {
        const event = kept[through + 1 - first]?.event;
        through += 1;
        if (!event || (types && !types.includes(event.type))) continue;
        if (stream === undefined || event.stream === stream) events.push(event);
      }
      return { events, through };
    },
  };
}
