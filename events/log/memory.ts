import type { NewEvent, RecordedEvent } from "../envelope.ts";
import { type ChainHead, chainStart, sealEvents } from "../hash-chain.ts";
import { deepFreeze } from "./deep-freeze.ts";
import {
  type AppendResult,
  type EventLog,
  type ExpectedVersion,
  LogUnavailableError,
  type ReadOptions,
  StreamDeletedError,
  VersionConflict,
} from "./event-log.ts";
import { createNews } from "./news.ts";
import { fromPosition, toPosition } from "./position.ts";
import { prepareAppend } from "./prepare-append.ts";
import { earlierAppend } from "./retry.ts";
import { type TailPage, tail } from "./tail.ts";

interface MemoryStream {
  readonly name: string;
  events: RecordedEvent[];
  head: ChainHead;
  deleted: boolean;
}

const eventsPerPage = 500;

function pick(events: readonly RecordedEvent[], options: ReadOptions): RecordedEvent[] {
  const { from = 1, to = events.length, backwards, limit = Number.POSITIVE_INFINITY, types } = options;
  const wanted = types && new Set(types);
  let picked = events.slice(Math.max(0, from - 1), Math.max(0, to));
  if (wanted) picked = picked.filter((event) => wanted.has(event.type));
  if (backwards) picked.reverse();
  return limit < picked.length ? picked.slice(0, Math.max(0, limit)) : picked;
}

function* pagesOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += eventsPerPage)
    yield items.slice(start, start + eventsPerPage);
}

/**
 * An event log in memory, for tests and for threads that need not outlive the process. Its events are frozen.
 *
 * @example
 * const log = createMemoryLog();
 * await log.append("thread-1", events, { expectedVersion: "no-stream" });
 */
export function createMemoryLog(): EventLog {
  const streams = new Map<string, MemoryStream>();
  /** By position; an erased event leaves its place empty. */
  const places: (RecordedEvent | undefined)[] = [];
  const news = createNews();

  const checkOpen = () => {
    if (news.ended) throw new LogUnavailableError("The memory log is closed. Open a store again.");
  };

  const resultOf = (events: readonly RecordedEvent[], stream: MemoryStream | undefined): AppendResult => ({
    version: events.at(-1)?.version ?? stream?.head.version ?? 0,
    position: events.at(-1)?.position ?? stream?.events.at(-1)?.position ?? toPosition(0),
    events,
  });

  const append = (name: string, newEvents: readonly NewEvent[], expected: ExpectedVersion): AppendResult => {
    checkOpen();
    const prepared = prepareAppend(name, newEvents);
    const known = streams.get(name);
    if (known?.deleted) throw new StreamDeletedError(name);
    const actual = known?.head.version ?? 0;
    const ids = newEvents.map((event) => event.id);
    const earlier = earlierAppend(ids, expected, actual, {
      read: (from, to) => known?.events.slice(from - 1, to) ?? [],
      find: (id, from) =>
        known?.events.findLast((event) => event.version >= from && event.id === id)?.version,
    });
    if (earlier) return resultOf(earlier, known);
    const wanted = expected === "no-stream" ? 0 : expected;
    if (wanted !== "any" && wanted !== actual) throw new VersionConflict(name, expected, actual);
    if (prepared.length === 0) return resultOf([], known);

    const stream = known ?? { name, events: [], head: { version: 0, hash: chainStart }, deleted: false };
    const copies = prepared.map(({ event, dataText }) => ({ ...event, data: JSON.parse(dataText) }));
    const recorded = sealEvents(name, stream.head, copies).map((event, index) =>
      deepFreeze({ ...event, position: toPosition(places.length + index + 1) }),
    );
    places.push(...recorded);
    stream.events.push(...recorded);
    const last = recorded.at(-1);
    if (last) stream.head = { version: last.version, hash: last.metadata.hash };
    streams.set(name, stream);
    news.announce();
    return resultOf(recorded, stream);
  };

  const page = (after: number, types: readonly string[] | undefined, stream?: string): TailPage => {
    const wanted = types && new Set(types);
    const events: RecordedEvent[] = [];
    let through = after;
    while (through < places.length && events.length < eventsPerPage) {
      const event = places[through];
      through += 1;
      if (!event || (wanted && !wanted.has(event.type)) || (stream && event.stream !== stream)) continue;
      events.push(event);
    }
    return { events, through };
  };

  return {
    kind: "memory",
    append: async (stream, events, options) => append(stream, events, options.expectedVersion),
    async *read(stream, options = {}) {
      checkOpen();
      yield* pagesOf(pick(streams.get(stream)?.events ?? [], options));
    },
    async *readAll({ after, types, limit = Number.POSITIVE_INFINITY } = {}) {
      checkOpen();
      let through = after === undefined ? 0 : fromPosition(after);
      let left = limit;
      const end = places.length;
      while (through < end && left > 0) {
        const next = page(through, types);
        through = next.through;
        const events = next.events.slice(0, left);
        left -= events.length;
        if (events.length > 0) yield events;
      }
    },
    subscribe(options = {}) {
      return tail(
        {
          news,
          end() {
            checkOpen();
            return places.length;
          },
          page: (after) => page(after, options.types, options.stream),
          toPosition,
          fromPosition,
        },
        options,
      );
    },
    async head(name) {
      checkOpen();
      const stream = streams.get(name);
      return { ...(stream?.head ?? { version: 0, hash: chainStart }), deleted: stream?.deleted ?? false };
    },
    async streams({ prefix = "", after = "", limit = Number.POSITIVE_INFINITY } = {}) {
      checkOpen();
      const names = [...streams.keys()].filter((name) => name.startsWith(prefix) && name > after).sort();
      const summaries = names.flatMap((name) => {
        const events = streams.get(name)?.events ?? [];
        const [first, last] = [events[0], events.at(-1)];
        if (!first || !last) return [];
        const { version } = last;
        return [
          { stream: name, version, firstRecordedAt: first.recordedAt, lastRecordedAt: last.recordedAt },
        ];
      });
      return limit < summaries.length ? summaries.slice(0, Math.max(0, limit)) : summaries;
    },
    async erase(name, { expectedVersion } = {}) {
      checkOpen();
      const found = streams.get(name);
      const actual = found?.head.version ?? 0;
      if (expectedVersion !== undefined && !found?.deleted && actual !== expectedVersion) {
        throw new VersionConflict(name, expectedVersion, actual);
      }
      const stream = found ?? {
        name,
        events: [],
        head: { version: 0, hash: chainStart },
        deleted: true,
      };
      for (const event of stream.events) places[fromPosition(event.position) - 1] = undefined;
      streams.set(name, { ...stream, events: [], deleted: true });
    },
    async close() {
      news.end();
    },
  };
}
