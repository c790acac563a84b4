import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunQueue } from "../queue/run-queue.ts";
import { createSqliteQueue } from "../queue/sqlite-queue.ts";
import { type EventLog, LogUnavailableError, type ReadAllOptions, type ReadOptions } from "./event-log.ts";
import { createNews } from "./news.ts";
import { fromPosition, toPosition } from "./position.ts";
import { prepareAppend } from "./prepare-append.ts";
import type { SideStore } from "./side-store.ts";
import { createAppender } from "./sqlite-append.ts";
import { translateSqliteError } from "./sqlite-errors.ts";
import { type OpenedFile, openForReading, openForWriting } from "./sqlite-open.ts";
import { eventsPerPage, type PagedRange, readPages } from "./sqlite-pages.ts";
import { createPolling, type Polling } from "./sqlite-polling.ts";
import { createReader } from "./sqlite-reader.ts";
import { createRecentEvents } from "./sqlite-recent.ts";
import { createSqliteSide } from "./sqlite-side.ts";
import { createWords } from "./sqlite-words.ts";
import { createWriter, type Writer } from "./sqlite-writer.ts";
import { type TailPage, tail } from "./tail.ts";

/** Who reads all streams reads much: each page costs a look-up for every stream in it. */
const eventsPerPassPage = 100;

export interface SqliteOptions {
  /**
   * `full` (default): an acknowledged append survives a power cut. `normal`: it survives a crash of the process, but
   * a power cut may take the last ones.
   */
  readonly synchronous?: "full" | "normal";
  /** Opens an existing file and refuses every write. */
  readonly readOnly?: boolean;
  /** How long a write waits for another process that is writing, in milliseconds. Default 10,000. */
  readonly busyTimeoutMs?: number;
  /** How often subscriptions look for what other processes wrote, in milliseconds. Default 25. */
  readonly pollIntervalMs?: number;
}

/** A log with its side records and queued runs in one SQLite file. Closing the log closes the file. */
export interface SqliteStore {
  readonly log: EventLog;
  readonly side: SideStore;
  readonly queue: RunQueue;
}

const defaultBusyTimeoutMs = 10_000;
const summariesPerPage = 1000;

/** Takes the place of the writer in a store that was opened for reading. */
function createRefusal(path: string): Writer {
  return {
    submit: () =>
      Promise.reject(new LogUnavailableError(`${path} was opened for reading only. Nothing was written.`)),
    close: () => Promise.resolve(),
  };
}

/**
 * Opens a SQLite file as an event log, and makes it when it is not there. Several processes may open the same file.
 *
 * @throws {LogUnavailableError} the file or its folder cannot be opened, made, read or written
 * @throws {LogFormatError} the file is no Threadfold store, is damaged, or was made by a newer version
 * @example
 * const { log } = await openSqlite(".threadfold/threads.db", { synchronous: "normal" });
 */
export async function openSqlite(path: string, options: SqliteOptions = {}): Promise<SqliteStore> {
  const { synchronous = "full", readOnly = false, busyTimeoutMs = defaultBusyTimeoutMs } = options;
  const file = readOnly
    ? await openForReading(path)
    : await openForWriting(path, { synchronous, busyTimeoutMs });
  try {
    return createSqliteStore(file, path, options);
  } catch (error) {
    await file.close();
    throw translateSqliteError(error, path);
  }
}

/** The log and the side records of an opened file, for those who opened it in their own way. */
export function createSqliteStore(file: OpenedFile, path: string, options: SqliteOptions = {}): SqliteStore {
  const { synchronous = "full", readOnly = false, pollIntervalMs = 25 } = options;
  const { busyTimeoutMs = defaultBusyTimeoutMs } = options;
  const { database } = file;
  const words = createWords(database);
  const reader = createReader(database, words);
  const recent = createRecentEvents(() => polling.active);
  const appender = createAppender(database, reader, words, recent.written);
  const news = createNews();
  const forget = () => {
    appender.forget();
    recent.forget();
  };
  const writer = readOnly
    ? createRefusal(path)
    : createWriter({
        database,
        path,
        synchronous,
        busyTimeoutMs,
        onForeignCommit: forget,
        onRollback: () => {
          appender.forget();
          recent.rolledBack();
        },
        onCommit: () => {
          recent.committed();
          news.announce();
        },
      });
  const polling: Polling = createPolling(database, pollIntervalMs, () => {
    recent.forget();
    news.announce();
  });

  /** Every read of the file: refused after the end, and with typed errors. */
  const reading = <Result>(read: () => Result): Result => {
    if (news.ended) throw new LogUnavailableError(`${path} is closed. Open the store again.`);
    try {
      return read();
    } catch (error) {
      throw translateSqliteError(error, path);
    }
  };

  const rangeOf = (stream: string, options: ReadOptions): PagedRange => {
    const { from = 1, to = Number.POSITIVE_INFINITY, limit = Number.POSITIVE_INFINITY } = options;
    const { version, deleted } = reading(() => reader.head(stream));
    return {
      stream,
      from: Math.max(1, from),
      to: deleted ? 0 : Math.min(version, to),
      backwards: options.backwards ?? false,
      limit,
      types: options.types,
    };
  };

  /** Pages up to where the log ends now; other work of the process happens between two of them. */
  async function* pass<Event>(
    { after, limit = Number.POSITIVE_INFINITY }: ReadAllOptions,
    readPage: (after: number, limit: number) => TailPage<Event>,
  ): AsyncGenerator<readonly Event[], void> {
    let through = after === undefined ? 0 : fromPosition(after);
    let left = limit;
    const end = reading(reader.lastPosition);
    while (through < end && left > 0) {
      const page = reading(() => readPage(through, Math.min(left, eventsPerPassPage)));
      through = page.through;
      left -= page.events.length;
      if (page.events.length > 0) yield page.events;
      await nextTurn();
    }
  }

  const log: EventLog = {
    kind: "sqlite",
    append(stream, events, { expectedVersion }) {
      try {
        const prepared = prepareAppend(stream, events);
        return writer.submit({
          durable: true,
          run: () => appender.append(stream, prepared, expectedVersion),
        });
      } catch (error) {
        return Promise.reject(error);
      }
    },
    async *read(stream, options = {}) {
      yield* readPages(rangeOf(stream, options), (range) => reading(() => reader.range(range)));
    },
    async *readForFold(stream, options = {}) {
      yield* readPages(rangeOf(stream, options), (range) => reading(() => reader.foldRange(range)));
    },
    readAll: (options = {}) =>
      pass(options, (after, limit) => reader.after(after, { types: options.types, limit })),
    readAllBriefly: (options = {}) => pass(options, reader.briefly(options.types)),
    subscribe(options = {}) {
      const { types, stream } = options;
      const items = tail(
        {
          news,
          end: () => reading(reader.lastPosition),
          page: (after) =>
            reading(() => {
              const filter = { types, stream, limit: eventsPerPage };
              return recent.after(after, filter) ?? reader.after(after, filter);
            }),
          toPosition,
          fromPosition,
        },
        options,
      );
      return polling.during(items);
    },
    async head(stream) {
      const { version, hash, deleted } = reading(() => reader.head(stream));
      return { version, hash, deleted };
    },
    async streams({ prefix = "", after = "", limit = Number.POSITIVE_INFINITY } = {}) {
      const summaries = [];
      let last = after;
      while (summaries.length < limit) {
        const wanted = Math.min(limit - summaries.length, summariesPerPage);
        const page = reading(() => reader.summaries({ prefix, after: last, limit: wanted }));
        summaries.push(...page);
        last = page.at(-1)?.stream ?? last;
        if (page.length < wanted) break;
        await nextTurn();
      }
      return summaries;
    },
    async check() {
      const findings = reading(() => database.prepare("PRAGMA integrity_check").all()).map(([text]) =>
        String(text),
      );
      return findings.filter((finding) => finding !== "ok");
    },
    async erase(stream, { expectedVersion } = {}) {
      await writer.submit({
        durable: true,
        run: () => {
          appender.erase(stream, expectedVersion);
          recent.erased();
        },
      });
      // The write-ahead log still holds the erased bytes. A reader in another process can delay this to the next time.
      reading(() => database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get());
    },
    async close() {
      if (news.ended) return;
      news.end();
      polling.stop();
      await writer.close();
      await file.close();
    },
  };
  return {
    log,
    side: createSqliteSide(database, writer, reading),
    queue: createSqliteQueue(database, writer, reading),
  };
}
