import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type EventLog, LogUnavailableError } from "../../../events/log/event-log.ts";
import {
  createSqliteStore,
  openSqlite,
  type SqliteOptions,
  type SqliteStore,
} from "../../../events/log/sqlite.ts";
import { loadSqliteDriver, type SqliteDatabase } from "../../../events/log/sqlite-driver.ts";
import { openForWriting } from "../../../events/log/sqlite-open.ts";
import { collect, newEvent, newEvents } from "./new-events.ts";

let folder: string;
let path: string;
let close: () => Promise<void>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-writes-"));
  path = join(folder, "threads.db");
  close = async () => {};
});
afterEach(async () => {
  await close();
  await rm(folder, { recursive: true });
});

/** A store whose connection the test can reach, with the number of its commits. */
async function openWatched(options: SqliteOptions = {}) {
  const { synchronous = "full", busyTimeoutMs = 10_000 } = options;
  const file = await openForWriting(path, { synchronous, busyTimeoutMs });
  const commits: unknown[] = [];
  const database: SqliteDatabase = {
    exec: (sql) => file.database.exec(sql),
    get isTransaction() {
      return file.database.isTransaction;
    },
    close: () => file.database.close(),
    prepare(sql) {
      const statement = file.database.prepare(sql);
      if (sql !== "COMMIT") return statement;
      return {
        ...statement,
        run: () => {
          // Prepared each time: SQLite answers with the value at that moment.
          commits.push(file.database.prepare("PRAGMA synchronous").get()?.[0]);
          return statement.run();
        },
      };
    },
  };
  const store: SqliteStore = createSqliteStore({ database, close: file.close }, path, options);
  close = () => store.log.close();
  return { ...store, database: file.database, commits };
}

function appendTo(log: EventLog, streams: readonly string[]) {
  return streams.map((stream) => log.append(stream, newEvents(1), { expectedVersion: 0 }));
}

describe("group commit", () => {
  it("puts all appends of one macrotask into one transaction", async () => {
    const { log, commits } = await openWatched();
    await Promise.all(
      appendTo(
        log,
        Array.from({ length: 64 }, (_, index) => `thread-${index}`),
      ),
    );
    expect(commits).toHaveLength(1);
    await log.append("thread-0", newEvents(1), { expectedVersion: 1 });
    expect(commits).toHaveLength(2);
  });

  it("splits a very long queue, so that no transaction holds the event loop for long", async () => {
    const { log, commits } = await openWatched();
    await Promise.all(
      appendTo(
        log,
        Array.from({ length: 1200 }, (_, index) => `thread-${index}`),
      ),
    );
    expect(commits).toHaveLength(3);
  });

  it("lets a conflict fail alone", async () => {
    const { log, commits } = await openWatched();
    await log.append("thread-b", newEvents(1), { expectedVersion: 0 });
    const results = await Promise.allSettled(appendTo(log, ["thread-a", "thread-b", "thread-c"]));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(commits).toHaveLength(2);
    expect(await collect(log.readAll())).toHaveLength(3);
  });

  it("is acknowledged after the commit: another connection has the events then", async () => {
    const { log } = await openWatched();
    const other = await openSqlite(path, { readOnly: true });
    await log.append("thread-1", newEvents(2), { expectedVersion: 0 });
    expect(await other.log.head("thread-1")).toMatchObject({ version: 2 });
    await other.log.close();
  });

  it("finishes what is queued when the store closes", async () => {
    const { log } = await openWatched();
    const appended = Promise.all(appendTo(log, ["thread-a", "thread-b"]));
    await log.close();
    await appended;
    const reader = await openSqlite(path, { readOnly: true });
    expect(await collect(reader.log.readAll())).toHaveLength(2);
    await reader.log.close();
  });
});

describe("durability", () => {
  const levels = { normal: 1, full: 2 };

  it.each(["full", "normal"] as const)("commits events with synchronous = %s", async (synchronous) => {
    const { log, commits } = await openWatched({ synchronous });
    await log.append("thread-1", newEvents(1), { expectedVersion: 0 });
    expect(commits).toEqual([levels[synchronous]]);
  });

  it("is full when nothing is said", async () => {
    const { log, commits } = await openWatched();
    await log.append("thread-1", newEvents(1), { expectedVersion: 0 });
    expect(commits).toEqual([levels.full]);
  });

  it("does not sync for side records alone, and does with the appends they travel with", async () => {
    const { log, side, commits } = await openWatched();
    await side.put("lease", "a", 1);
    await Promise.all([
      side.put("lease", "a", 2),
      log.append("thread-1", newEvents(1), { expectedVersion: 0 }),
    ]);
    expect(commits).toEqual([levels.normal, levels.full]);
  });
});

describe("a full disk", () => {
  async function openFull() {
    const opened = await openWatched();
    await opened.log.append("thread-1", newEvents(3), { expectedVersion: 0 });
    const pages = Number(opened.database.prepare("PRAGMA page_count").get()?.[0]);
    opened.database.exec(`PRAGMA max_page_count = ${pages + 2}`);
    return opened;
  }
  const large = () => newEvent({ data: { text: "x".repeat(200_000) } });

  it("refuses the append with one clear error and loses nothing", async () => {
    const { log, database } = await openFull();
    const refused = log.append("thread-1", [large()], { expectedVersion: 3 });
    await expect(refused).rejects.toThrow(LogUnavailableError);
    await expect(refused).rejects.toThrow(/disk is full.*Nothing was written/);
    expect(await log.head("thread-1")).toMatchObject({ version: 3 });
    expect(await collect(log.read("thread-1"))).toHaveLength(3);
    database.exec("PRAGMA max_page_count = 100000");
    expect(await log.append("thread-1", [large()], { expectedVersion: 3 })).toMatchObject({ version: 4 });
    expect(await log.check?.()).toEqual([]);
  });

  it("fails only the append that does not fit", async () => {
    const { log } = await openFull();
    const results = await Promise.allSettled([
      log.append("thread-1", newEvents(1), { expectedVersion: 3 }),
      log.append("thread-2", [large()], { expectedVersion: 0 }),
      log.append("thread-3", newEvents(1), { expectedVersion: 0 }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await log.head("thread-2")).toMatchObject({ version: 0 });
    expect(await collect(log.readAll())).toHaveLength(5);
  });

  it("does not remember words, runs and streams of what was rolled back", async () => {
    const { log, database } = await openFull();
    const metadata = { runId: "run-1", correlationId: "run-1", by: "tool:new" } as const;
    const event = { ...large(), type: "NewWord", metadata: { ...large().metadata, ...metadata } };
    await expect(log.append("thread-new", [event], { expectedVersion: 0 })).rejects.toThrow(
      LogUnavailableError,
    );
    database.exec("PRAGMA max_page_count = 100000");
    const { events } = await log.append("thread-new", [event], { expectedVersion: 0 });
    expect(await collect(log.read("thread-new"))).toEqual(events);
    expect(events[0]).toMatchObject({ type: "NewWord", metadata: { runId: "run-1", by: "tool:new" } });
  });
});

describe("a writer in another process", () => {
  it("makes an append wait, and the append goes through afterwards", async () => {
    const { log } = await openWatched();
    const other = (await loadSqliteDriver()).open(path);
    other.exec("BEGIN IMMEDIATE");
    let isSettled = false;
    const appended = log.append("thread-1", newEvents(1), { expectedVersion: 0 }).finally(() => {
      isSettled = true;
    });
    // The event loop turns meanwhile, and the log can be read.
    for (let turn = 0; turn < 20; turn++) {
      await nextTurn();
      expect(await log.head("thread-1")).toMatchObject({ version: 0 });
    }
    expect(isSettled).toBe(false);
    other.exec("COMMIT");
    expect(await appended).toMatchObject({ version: 1 });
    other.close();
  });

  it("makes an append fail after `busyTimeoutMs`, with nothing written", async () => {
    const { log } = await openWatched({ busyTimeoutMs: 60 });
    const other = (await loadSqliteDriver()).open(path);
    other.exec("BEGIN IMMEDIATE");
    const refused = log.append("thread-1", newEvents(1), { expectedVersion: 0 });
    await expect(refused).rejects.toThrow(LogUnavailableError);
    await expect(refused).rejects.toThrow(/another process held the database lock/);
    other.exec("ROLLBACK");
    other.close();
    expect(await log.append("thread-1", newEvents(1), { expectedVersion: 0 })).toMatchObject({ version: 1 });
  });

  it("is noticed by subscriptions every `pollIntervalMs`", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const { log } = await openWatched({ pollIntervalMs: 5000 });
      const other = await openSqlite(path);
      const items = log.subscribe()[Symbol.asyncIterator]();
      expect(await items.next()).toMatchObject({ value: { kind: "caught-up" } });
      let arrived = false;
      const next = items.next().then((item) => {
        arrived = true;
        return item;
      });
      await other.log.append("thread-1", newEvents(1), { expectedVersion: 0 });
      vi.advanceTimersByTime(4999);
      await other.log.append("thread-2", newEvents(1), { expectedVersion: 0 });
      expect(arrived).toBe(false);
      vi.advanceTimersByTime(1);
      expect(await next).toMatchObject({ value: { kind: "event", event: { stream: "thread-1" } } });
      await items.return?.();
      expect(vi.getTimerCount()).toBe(0);
      await other.log.close();
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("many connections at once", () => {
  it("can all be the first to open a new file", async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => openSqlite(path)));
    await Promise.all(stores.map(({ log }, index) => appendTo(log, [`thread-${index}`])[0]));
    for (const { log } of stores) {
      expect(await collect(log.readAll())).toHaveLength(6);
      await log.close();
    }
  });
});
