import type { RecordedEvent } from "../../../events/envelope.ts";
import { type BrokenLink, findBrokenLink } from "../../../events/hash-chain.ts";
import { type EventLog, InvalidNameError } from "../../../events/log/event-log.ts";

const longestName = 200;
const namesOf = new WeakMap<EventLog, (stream: string) => string>();
const storedBy = new WeakMap<EventLog, ReadonlyMap<string, string>>();

/** Name under which a log of a test really keeps a stream. */
export function storedName(log: EventLog, stream: string): string {
  return namesOf.get(log)?.(stream) ?? stream;
}

/** Names under which a renamed log may have made streams. */
export function storedNames(log: EventLog): readonly string[] {
  return [...(storedBy.get(log)?.values() ?? [])];
}

/** First event whose hash is not what its content and the event before say. */
export function brokenLinkIn(log: EventLog, events: readonly RecordedEvent[]): BrokenLink | undefined {
  // Hashes are over the name that is stored.
  return findBrokenLink(events.map((event) => ({ ...event, stream: storedName(log, event.stream) })));
}

/**
 * An empty log inside of one that cannot be emptied: all streams have a prefix that nobody sees, and what was there
 * before is not there.
 *
 * @param start position of the last event that is not of this log; undefined: there is none
 */
export function renamedLog(log: EventLog, prefix: string, start: string | undefined): EventLog {
  const stored = new Map<string, string>();
  const given = new Map<string, string>();

  const hide = (stream: string): string => {
    const known = stored.get(stream);
    if (known !== undefined) return known;
    if (!/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/.test(stream)) return stream;
    const room = Math.max(0, stream.length + prefix.length - longestName);
    const name = prefix + stream.slice(room);
    stored.set(stream, name);
    given.set(name, stream);
    return name;
  };
  const isOurs = (name: string) => name.startsWith(prefix);
  const show = <Named extends { readonly stream: string }>(named: Named): Named => ({
    ...named,
    stream: given.get(named.stream) ?? named.stream.slice(prefix.length),
  });
  const showError = (error: unknown): unknown => {
    if (!(error instanceof Error) || !("stream" in error) || error instanceof InvalidNameError) return error;
    return Object.assign(error, { stream: show({ stream: String(error.stream) }).stream });
  };
  const asking = async <Result>(call: Promise<Result>): Promise<Result> => {
    try {
      return await call;
    } catch (error) {
      throw showError(error);
    }
  };
  async function* pages(
    all: AsyncIterable<readonly RecordedEvent[]>,
    limit: number,
  ): AsyncGenerator<readonly RecordedEvent[]> {
    let left = limit;
    for await (const page of all) {
      const events = page
        .filter(({ stream }) => isOurs(stream))
        .slice(0, left)
        .map(show);
      left -= events.length;
      if (events.length > 0) yield events;
      if (left <= 0) return;
    }
  }

  const { readForFold } = log;
  const renamed: EventLog = {
    kind: log.kind,
    async append(stream, events, options) {
      const result = await asking(log.append(hide(stream), events, options));
      const position = result.version === 0 ? "0".repeat(result.position.length) : result.position;
      return { ...result, position, events: result.events.map(show) };
    },
    async *read(stream, options) {
      for await (const page of log.read(hide(stream), options)) yield page.map(show);
    },
    ...(readForFold && {
      readForFold: (stream: string, options: Parameters<typeof readForFold>[1]) =>
        readForFold.call(log, hide(stream), options),
    }),
    readAll({ after = start, types, limit = Number.POSITIVE_INFINITY } = {}) {
      return pages(log.readAll({ ...(after && { after }), ...(types && { types }) }), limit);
    },
    subscribe(options = {}) {
      const { after = start, stream } = options;
      const items = log.subscribe({
        ...options,
        ...(after && { after }),
        ...(stream !== undefined && { stream: hide(stream) }),
      });
      return (async function* () {
        for await (const item of items) {
          if (item.kind === "event") {
            if (isOurs(item.event.stream)) yield { kind: "event" as const, event: show(item.event) };
          } else if (start !== undefined && item.position !== undefined && item.position <= start) {
            yield { kind: "caught-up" as const, position: undefined };
          } else yield item;
        }
      })();
    },
    head: (stream) => asking(log.head(hide(stream))),
    async streams({ prefix: begins = "", after = "", limit } = {}) {
      const options = { prefix: prefix + begins, after: prefix + after };
      const found = await log.streams(limit === undefined ? options : { ...options, limit });
      return found.map(show);
    },
    erase: (stream, options) => asking(log.erase(hide(stream), options)),
    close: () => log.close(),
  };
  namesOf.set(renamed, hide);
  storedBy.set(renamed, stored);
  return renamed;
}
