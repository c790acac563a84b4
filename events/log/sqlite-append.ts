import type { RecordedEvent } from "../envelope.ts";
import { type ChainHead, sealEvents } from "../hash-chain.ts";
import { type AppendResult, type ExpectedVersion, StreamDeletedError, VersionConflict } from "./event-log.ts";
import { toPosition } from "./position.ts";
import type { PreparedEvent } from "./prepare-append.ts";
import { createRecentlyUsed } from "./recently-used.ts";
import { earlierAppend } from "./retry.ts";
import type { SqliteDatabase } from "./sqlite-driver.ts";
import type { SqliteReader } from "./sqlite-reader.ts";
import { encodeEvent, encodeId, insertEvent } from "./sqlite-rows.ts";
import type { Words } from "./sqlite-words.ts";

/** What an append must know of its stream. */
interface LiveStream {
  /** Undefined before its first event. */
  number: number | undefined;
  readonly deleted: boolean;
  head: ChainHead;
  /** Ids of the last events, the head's last, to refer to causes by distance; undefined: not read yet. */
  recent: string[] | undefined;
}

const maxStreams = 2000;
const maxRuns = 2000;
/** A cause further back is stored as its id. */
const causeWindow = 32;

/** The changes to events, each to be run inside a transaction of the writer. */
export interface SqliteAppender {
  append(stream: string, prepared: readonly PreparedEvent[], expected: ExpectedVersion): AppendResult;
  /** @throws {VersionConflict} the stream is elsewhere */
  erase(stream: string, expected: number | undefined): void;
  /** Forgets what it remembers of the file, because somebody else changed it or a transaction was rolled back. */
  forget(): void;
}

/** @param onWritten called with the events of each append, inside of its transaction */
export function createAppender(
  database: SqliteDatabase,
  reader: SqliteReader,
  words: Words,
  onWritten: (events: readonly RecordedEvent[], prepared: readonly PreparedEvent[]) => void,
): SqliteAppender {
  const addStream = database.prepare("INSERT INTO streams (name) VALUES (?) RETURNING id");
  const addRun = database.prepare("INSERT INTO runs (run) VALUES (?) RETURNING id");
  const addEvent = database.prepare(insertEvent);
  const findEvent = database.prepare(
    "SELECT version FROM events WHERE stream = ? AND version >= ? AND id = ? ORDER BY version DESC LIMIT 1",
  );
  const removeEvents = database.prepare("DELETE FROM events WHERE stream = ?");
  const buryStream = database.prepare(
    "UPDATE streams SET deleted_version = ?, deleted_hash = ? WHERE id = ?",
  );
  const rememberErased = database.prepare("UPDATE meta SET value = ? WHERE key = 'erased_through'");

  const streams = createRecentlyUsed<string, LiveStream>(maxStreams);
  const runs = createRecentlyUsed<string, number>(maxRuns);
  let lastPosition: number | undefined;

  const openStream = (name: string): LiveStream => {
    const known = streams.get(name);
    if (known) return known;
    const { number, deleted, version, hash } = reader.head(name);
    const opened = { number, deleted, head: { version, hash }, recent: undefined };
    streams.set(name, opened);
    return opened;
  };

  const numberOf = (stream: LiveStream, name: string): number => {
    stream.number ??= addStream.get(name)?.[0] as number;
    return stream.number;
  };

  /** Runs are not looked up in the file: a second row for the same run costs less than an index. */
  const runNumberOf = (run: string | undefined): number | null => {
    if (run === undefined) return null;
    let number = runs.get(run);
    if (number === undefined) {
      number = addRun.get(run)?.[0] as number;
      runs.set(run, number);
    }
    return number;
  };

  const recentOf = (stream: LiveStream): string[] => {
    if (!stream.recent) {
      const { number, head } = stream;
      const from = head.version - causeWindow + 1;
      stream.recent = number === undefined ? [] : reader.idsFrom(number, from).map(([id]) => id);
    }
    return stream.recent;
  };

  const write = (name: string, stream: LiveStream, prepared: readonly PreparedEvent[]): RecordedEvent[] => {
    const newEvents = prepared.map(({ event }) => event);
    // Before the first change: an event that cannot be hashed is refused here.
    const sealed = sealEvents(name, stream.head, newEvents);
    const number = numberOf(stream, name);
    const recent = recentOf(stream);
    let position = lastPosition ?? reader.lastPosition();
    const recorded = sealed.map((event, index): RecordedEvent => {
      const { id, type, metadata } = event;
      if (recent.length > 2 * causeWindow) recent.splice(0, causeWindow);
      recent.push(id);
      const causeIndex = recent.lastIndexOf(metadata.causationId);
      const references = {
        stream: number,
        type: words.numberOf(type),
        by: words.numberOf(metadata.by),
        run: runNumberOf(metadata.runId),
        causeDistance: causeIndex < 0 ? undefined : recent.length - 1 - causeIndex,
      };
      position += 1;
      const dataText = prepared[index]?.dataText as string;
      addEvent.run(...encodeEvent(event, dataText, position, references));
      return { ...event, position: toPosition(position) };
    });
    lastPosition = position;
    const last = recorded.at(-1);
    if (last) stream.head = { version: last.version, hash: last.metadata.hash };
    return recorded;
  };

  return {
    append(name, prepared, expected) {
      const stream = openStream(name);
      if (stream.deleted) throw new StreamDeletedError(name);
      const actual = stream.head.version;
      const wanted = expected === "no-stream" ? 0 : expected;
      if (wanted !== actual) {
        const ids = prepared.map(({ event }) => event.id);
        const earlier = earlierAppend(ids, expected, actual, {
          read: (from, to) => reader.range({ stream: name, from, to, limit: to - from + 1 }),
          find: (id, from) =>
            findEvent.get(stream.number ?? null, from, encodeId(id))?.[0] as number | undefined,
        });
        const last = earlier?.at(-1);
        if (earlier && last) return { version: last.version, position: last.position, events: earlier };
        if (wanted !== "any") throw new VersionConflict(name, expected, actual);
      }
      if (prepared.length === 0) {
        const [last] = reader.range({ stream: name, from: actual, to: actual, limit: 1 });
        return { version: actual, position: last?.position ?? toPosition(0), events: [] };
      }
      const events = write(name, stream, prepared);
      onWritten(events, prepared);
      return { version: stream.head.version, position: toPosition(lastPosition ?? 0), events };
    },
    erase(name, expected) {
      const stream = openStream(name);
      if (stream.deleted) return;
      if (expected !== undefined && stream.head.version !== expected) {
        throw new VersionConflict(name, expected, stream.head.version);
      }
      const number = numberOf(stream, name);
      // Positions are never given twice: a reader that stands behind the erased events must see the next ones.
      rememberErased.run(lastPosition ?? reader.lastPosition());
      removeEvents.run(number);
      buryStream.run(stream.head.version, Buffer.from(stream.head.hash, "hex"), number);
      streams.set(name, { ...stream, number, deleted: true, recent: undefined });
    },
    forget() {
      streams.clear();
      runs.clear();
      words.forget();
      lastPosition = undefined;
    },
  };
}
