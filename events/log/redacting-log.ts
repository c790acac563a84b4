import type { RecordedEvent } from "../envelope.ts";
import type { Json } from "../json.ts";
import { applyRedaction, parseRedactionRule, type RedactionRule } from "../keys/redaction-rule.ts";
import type { Store } from "../store.ts";
import type { EventLog } from "./event-log.ts";

interface StreamRedactions {
  /** Version up to which the stream was searched. */
  through: number;
  readonly rules: Map<number, RedactionRule[]>;
}

const maxStreams = 10_000;

/**
 * Shows events without what was redacted from them: every `ContentRedacted` of a stream is applied to the versions it
 * names. The stored events are as they were (`stored`), and so are their hashes.
 *
 * @example
 * const log = createRedactingLog(store.log);
 */
export function createRedactingLog(inner: EventLog): EventLog {
  const known = new Map<string, StreamRedactions>();

  const redactionsOf = async (stream: string): Promise<StreamRedactions> => {
    const found = known.get(stream) ?? { through: 0, rules: new Map<number, RedactionRule[]>() };
    const { version } = await inner.head(stream);
    if (version > found.through) {
      const range = { from: found.through + 1, to: version, types: ["ContentRedacted"] };
      for await (const page of inner.read(stream, range)) {
        for (const { data } of page) {
          const { rule, versions } = data as { readonly rule: string; readonly versions: readonly number[] };
          const parsed = parseRedactionRule(rule);
          for (const at of versions) found.rules.set(at, [...(found.rules.get(at) ?? []), parsed]);
        }
      }
      found.through = version;
    }
    known.delete(stream);
    known.set(stream, found);
    const [oldest] = known.keys();
    if (known.size > maxStreams && oldest !== undefined) known.delete(oldest);
    return found;
  };

  const redactAll = async (events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> => {
    const byStream = new Map<string, StreamRedactions>();
    for (const { stream } of events) {
      if (!byStream.has(stream)) byStream.set(stream, await redactionsOf(stream));
    }
    return events.map((event) => {
      const rules = byStream.get(event.stream)?.rules.get(event.version) ?? [];
      const data = rules.reduce<Json>(applyRedaction, event.data);
      return data === event.data ? event : { ...event, data };
    });
  };

  async function* pages(source: AsyncIterable<readonly RecordedEvent[]>) {
    for await (const page of source) yield await redactAll(page);
  }

  return {
    kind: inner.kind,
    stored: inner.stored ?? inner,
    append: (stream, events, options) => inner.append(stream, events, options),
    read: (stream, options) => pages(inner.read(stream, options)),
    readAll: (options) => pages(inner.readAll(options)),
    subscribe(options) {
      const items = inner.subscribe(options);
      return (async function* () {
        for await (const item of items) {
          if (item.kind !== "event") yield item;
          else for (const event of await redactAll([item.event])) yield { kind: "event" as const, event };
        }
      })();
    },
    head: (stream) => inner.head(stream),
    streams: (options) => inner.streams(options),
    erase: (stream, options) => inner.erase(stream, options),
    close: () => inner.close(),
  };
}

/** A store that is read without what was redacted. */
export function withRedaction<Opened extends Store>(store: Opened): Opened {
  return { ...store, log: createRedactingLog(store.log) };
}
