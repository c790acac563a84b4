import type { BlobStore } from "../blobs/blob-store.ts";
import { createPostgresBlobs } from "../blobs/postgres-blobs.ts";
import { chainStart } from "../hash-chain.ts";
import { createPostgresKeyStore, type PostgresKeyStore } from "../keys/postgres-keys.ts";
import { createPostgresQueue } from "../queue/postgres-queue.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import { asyncTail } from "./async-tail.ts";
import { type EventLog, LogUnavailableError } from "./event-log.ts";
import { createNews } from "./news.ts";
import { fromPosition, toPosition } from "./position.ts";
import { createPostgresPool, type PostgresOptions, parsePostgresUrl } from "./postgres-driver.ts";
import { watchPostgres } from "./postgres-news.ts";
import { createPostgresReader, eventsPerPage } from "./postgres-reader.ts";
import { preparePostgres } from "./postgres-schema.ts";
import { createPostgresSession, type PostgresSession } from "./postgres-session.ts";
import { createPostgresSide } from "./postgres-side.ts";
import { createPostgresWriter } from "./postgres-writer.ts";
import { prepareAppend } from "./prepare-append.ts";
import type { SideStore } from "./side-store.ts";

export { MissingDriverError, type PostgresOptions } from "./postgres-driver.ts";

/** A log with all that belongs to it, in one schema of a database. Closing the log closes all of it. */
export interface PostgresStore {
  readonly log: EventLog;
  readonly side: SideStore;
  readonly blobs: BlobStore;
  readonly keys: PostgresKeyStore;
  readonly queue: RunQueue;
  readonly database: PostgresDatabase;
}

/** The schema that holds a store, for what is derived from the log and kept beside it. */
export interface PostgresDatabase {
  readonly session: PostgresSession;
  /** A name that needs no quotes. */
  readonly schema: string;
}

/**
 * Opens a schema of a PostgreSQL database as an event log, and makes its tables when they are not there. Any number of
 * processes on any number of machines may open the same one.
 *
 * @param url `postgres://user:password@host:5432/database?sslmode=verify-full&schema=threadfold`
 * @throws {MissingDriverError} @throws {LogFormatError} the server is too old, or a newer version made the tables
 * @throws {LogUnavailableError} it cannot be reached, or refuses the credentials, the database or TLS
 * @throws {StoreUrlError} the URL cannot be read, or names a schema that is none or a file that is not there
 * @example
 * const { log } = await openPostgres("postgres://threadfold@db.example/threads");
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<PostgresStore> {
  const { readOnly = false, reconnectMs = 10_000, pollIntervalMs = 250 } = options;
  const address = parsePostgresUrl(url);
  const { schema, where } = address;
  const pool = await createPostgresPool(address, options);
  try {
    await preparePostgres(pool, schema, where, readOnly);
  } catch (error) {
    await pool.end();
    throw error;
  }
  const session = createPostgresSession(pool, where, reconnectMs);
  const reader = createPostgresReader(session, schema);
  const news = createNews();
  const writer = createPostgresWriter(session, reader, schema, news.announce);
  const watch = watchPostgres(pool, schema, pollIntervalMs, news.announce);
  let closing: Promise<void> | undefined;

  const checkOpen = () => {
    if (news.ended) throw new LogUnavailableError(`${where} is closed. Open the store again.`);
  };
  const checkWritable = () => {
    checkOpen();
    if (readOnly) throw new LogUnavailableError(`${where} was opened for reading only. Nothing was written.`);
  };
  const close = async () => {
    news.end();
    await writer.close();
    await watch.stop();
    await session.close();
  };

  const log: EventLog = {
    kind: "postgres",
    async append(stream, events, { expectedVersion }) {
      const prepared = prepareAppend(stream, events);
      checkWritable();
      return writer.append(stream, prepared, expectedVersion);
    },
    async *read(stream, options = {}) {
      checkOpen();
      yield* reader.read(stream, options);
    },
    async *readForFold(stream, options = {}) {
      checkOpen();
      yield* reader.readForFold(stream, options);
    },
    async *readAll({ after, types, limit = Number.POSITIVE_INFINITY } = {}) {
      checkOpen();
      let through = after === undefined ? 0 : fromPosition(after);
      let left = limit;
      const end = await reader.lastPosition();
      while (through < end && left > 0) {
        const page = await reader.after(through, { types, limit: Math.min(left, eventsPerPage) });
        const events = page.events.filter(({ position }) => fromPosition(position) <= end);
        left -= events.length;
        if (events.length > 0) yield events;
        if (page.through === through) return;
        through = page.through;
      }
    },
    subscribe(options = {}) {
      const { types, stream } = options;
      const items = asyncTail(
        {
          news,
          end() {
            checkOpen();
            return writer.before(reader.lastPosition());
          },
          page: (after) => reader.after(after, { types, stream, limit: eventsPerPage }),
          toPosition,
          fromPosition,
        },
        options,
      );
      return watch.during(items);
    },
    async head(stream) {
      checkOpen();
      const head = (await reader.heads([stream])).get(stream);
      return head ?? { version: 0, hash: chainStart, deleted: false };
    },
    async streams({ prefix = "", after = "", limit = Number.POSITIVE_INFINITY } = {}) {
      checkOpen();
      return reader.summaries({ prefix, after, limit });
    },
    async erase(stream, { expectedVersion } = {}) {
      checkWritable();
      await writer.erase(stream, expectedVersion);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
  return {
    log,
    side: createPostgresSide(session, schema),
    blobs: createPostgresBlobs(session, schema),
    keys: createPostgresKeyStore(session, schema),
    queue: createPostgresQueue(session, schema),
    database: { session, schema },
  };
}
