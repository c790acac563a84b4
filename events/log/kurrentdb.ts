import { serverOf } from "../without-credentials.ts";
import { asyncTail } from "./async-tail.ts";
import { type EventLog, LogFormatError, LogUnavailableError } from "./event-log.ts";
import { createKurrentClient, type KurrentModule, loadKurrentModule } from "./kurrentdb-client.ts";
import { placeOf } from "./kurrentdb-events.ts";
import { createKurrentReader, eventsPerPage } from "./kurrentdb-reader.ts";
import { createKurrentSession, type KurrentSession } from "./kurrentdb-session.ts";
import { createKurrentSide } from "./kurrentdb-side.ts";
import { watchKurrent } from "./kurrentdb-watch.ts";
import { createKurrentWriter } from "./kurrentdb-writer.ts";
import { createNews } from "./news.ts";
import { fromPosition, toPosition } from "./position.ts";
import { prepareAppend } from "./prepare-append.ts";
import type { SideStore } from "./side-store.ts";

export { type KurrentModule, MissingEventStoreClientError } from "./kurrentdb-client.ts";

export interface KurrentOptions {
  /**
   * The client to use: `import("@kurrent/kurrentdb-client")` or `import("@eventstore/db-client")`. Default: the first of
   * the two that is installed.
   */
  readonly client?: KurrentModule;
  /** How long the answer of one call may take, in milliseconds. Default 10,000. */
  readonly callTimeoutMs?: number;
  /** For how long a call tries again while the server is away, in milliseconds. Default 10,000. */
  readonly reconnectMs?: number;
  /** How often subscriptions look for news of which the server did not tell, in milliseconds. Default 1,000. */
  readonly pollIntervalMs?: number;
  /** Refuses every write. */
  readonly readOnly?: boolean;
  /** False: the first call connects, and goes on trying as each call does. Default: what is wrong is told at once. */
  readonly connect?: boolean;
}

/** What one server keeps: the log, and the side records of all who use it. Closing the log closes both. */
export interface KurrentStore {
  readonly log: EventLog;
  readonly side: SideStore;
}

/**
 * Opens a KurrentDB or EventStoreDB server as an event log.
 *
 * @param url `kurrentdb://user:password@host:2113?tls=true`, also `kurrentdb+discover://` and `esdb://`
 * @throws {MissingEventStoreClientError} neither client is installed
 * @throws {StoreUrlError} the URL cannot be read, or has a parameter that the client does not know
 * @throws {LogUnavailableError} the server refuses the user or cannot be reached
 * @throws {LogFormatError} the server is too old
 * @example
 * const { log } = await openKurrentDb("kurrentdb://127.0.0.1:2113?tls=false");
 */
export async function openKurrentDb(url: string, options: KurrentOptions = {}): Promise<KurrentStore> {
  const { callTimeoutMs = 10_000, reconnectMs = 10_000, pollIntervalMs = 1000, readOnly = false } = options;
  const where = serverOf(url);
  const module = options.client ?? (await loadKurrentModule());
  const connect = () => createKurrentClient(module, url);
  const session = createKurrentSession(connect, where, { callTimeoutMs, reconnectMs });
  const placeAtOpening = options.connect === false ? 0 : await firstAnswer(session);
  const reader = createKurrentReader(session);
  const news = createNews();
  const writer = createKurrentWriter(session, reader, placeAtOpening, news.announce);
  const watch = watchKurrent(session, pollIntervalMs, news.announce);
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
    await writer.idle();
    await watch.stop();
    await session.close();
  };

  const log: EventLog = {
    kind: "kurrentdb",
    async append(stream, events, { expectedVersion }) {
      const prepared = prepareAppend(stream, events);
      checkWritable();
      return writer.append(stream, prepared, expectedVersion);
    },
    async *read(stream, readOptions = {}) {
      checkOpen();
      yield* reader.read(stream, readOptions);
    },
    async *readAll({ after, types, limit = Number.POSITIVE_INFINITY } = {}) {
      checkOpen();
      let through = after === undefined ? 0 : fromPosition(after);
      let left = limit;
      const end = await reader.lastPlace();
      while (through < end && left > 0) {
        const page = await reader.after(through, {
          types,
          limit: Math.min(left, eventsPerPage),
          erasuresKnown: true,
        });
        const events = page.events.filter(({ position }) => fromPosition(position) <= end);
        left -= events.length;
        if (events.length > 0) yield events;
        if (page.ended || page.through === through) return;
        through = page.through;
      }
    },
    subscribe(subscribeOptions = {}) {
      const { types, stream } = subscribeOptions;
      let mark = 0;
      let pastOthers = false;
      const items = asyncTail(
        {
          news,
          async end() {
            checkOpen();
            mark = await writer.before(reader.lastPlace());
            return mark;
          },
          async page(after) {
            const page = await reader.after(after, { types, stream, limit: eventsPerPage, pastOthers });
            // Once nothing comes any more, what others write must not be read again and again.
            pastOthers = page.ended && page.events.length === 0;
            // Nothing that was asked for may be left before the mark.
            return page.ended ? { ...page, through: Math.max(page.through, mark) } : page;
          },
          toPosition,
          fromPosition,
        },
        subscribeOptions,
      );
      return watch.during(items);
    },
    async head(stream) {
      checkOpen();
      return reader.head(stream);
    },
    async streams({ prefix = "", after = "", limit = Number.POSITIVE_INFINITY } = {}) {
      checkOpen();
      const names = [...(await reader.summaries()).values()];
      const wanted = names.filter(({ stream }) => stream.startsWith(prefix) && stream > after);
      const sorted = wanted.sort((a, b) => (a.stream < b.stream ? -1 : 1));
      return limit < sorted.length ? sorted.slice(0, Math.max(0, limit)) : sorted;
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
  const side = createKurrentSide(session);
  return {
    log,
    side: {
      async get(kind, key) {
        checkOpen();
        return side.get(kind, key);
      },
      async put(kind, key, value, putOptions) {
        checkWritable();
        return side.put(kind, key, value, putOptions);
      },
      async delete(kind, key) {
        checkWritable();
        await side.delete(kind, key);
      },
      async list(kind, listOptions) {
        checkOpen();
        return side.list(kind, listOptions);
      },
    },
  };
}

/** Reads what anybody who may read can read, once, and gives the place of the last event. */
async function firstAnswer(session: KurrentSession): Promise<number> {
  try {
    const options = { fromPosition: "end", direction: "backwards", maxCount: 1 } as const;
    return await session.once(async (client) => {
      for await (const last of client.readAll(options)) return placeOf(last);
      return 0;
    });
  } catch (error) {
    await session.close();
    throw error instanceof LogFormatError ? error : session.unavailable(error);
  }
}
