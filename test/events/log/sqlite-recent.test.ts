import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RecordedEvent } from "../../../events/envelope.ts";
import type { SubscriptionItem } from "../../../events/log/event-log.ts";
import { fromPosition, toPosition } from "../../../events/log/position.ts";
import { prepareAppend } from "../../../events/log/prepare-append.ts";
import { createSqliteStore, openSqlite } from "../../../events/log/sqlite.ts";
import type { SqliteDatabase } from "../../../events/log/sqlite-driver.ts";
import { openForWriting } from "../../../events/log/sqlite-open.ts";
import { createRecentEvents } from "../../../events/log/sqlite-recent.ts";
import { newEvent } from "./new-events.ts";

const anything = { limit: 100 };

/** `count` events of a stream, from a position on. */
function eventsFrom(position: number, count: number, stream = "thread-a") {
  const events = Array.from({ length: count }, (_, index): RecordedEvent => {
    const event = newEvent();
    const metadata = { ...event.metadata, hash: "", previousHash: "" };
    return { ...event, metadata, stream, version: index + 1, position: toPosition(position + index) };
  });
  return { events, prepared: prepareAppend(stream, events) };
}

describe("the events that were committed last", () => {
  const filled = (isWanted = () => true, maxEvents?: number) => {
    const recent = createRecentEvents(isWanted, maxEvents);
    const add = (position: number, count: number, stream?: string) => {
      const { events, prepared } = eventsFrom(position, count, stream);
      recent.written(events, prepared);
    };
    const positions = (after: number, filter = anything) =>
      recent.after(after, filter)?.events.map(({ position }) => fromPosition(position));
    return { recent, add, positions };
  };

  test("answer for every place from which all of them are known, and for no other", () => {
    const { recent, add, positions } = filled();
    expect(positions(0)).toBeUndefined();
    add(11, 3);
    expect(positions(10)).toBeUndefined();
    recent.committed();
    expect(positions(10)).toEqual([11, 12, 13]);
    expect(positions(12)).toEqual([13]);
    expect(positions(13)).toEqual([]);
    expect(positions(9)).toBeUndefined();
    expect(positions(14)).toBeUndefined();
  });

  test("a gap means that somebody else wrote: what came before it is forgotten", () => {
    const { recent, add, positions } = filled();
    add(1, 2);
    recent.committed();
    add(4, 1);
    recent.committed();
    expect(positions(1)).toBeUndefined();
    expect(positions(2)).toBeUndefined();
    expect(positions(3)).toEqual([4]);
  });

  test("filters by type and stream, and says how far it looked", () => {
    const { recent, add } = filled();
    add(1, 2, "thread-a");
    add(3, 2, "thread-b");
    recent.committed();
    const ofB = recent.after(0, { stream: "thread-b", limit: 1 });
    expect(ofB).toMatchObject({ events: [{ stream: "thread-b" }], through: 3 });
    expect(recent.after(0, { types: ["Nothing"], limit: 9 })).toEqual({ events: [], through: 4 });
  });

  test("keeps the newest only, nothing of a roll-back or an erasure, and nothing while nobody listens", () => {
    const { recent, add, positions } = filled(() => true, 2);
    add(1, 3);
    recent.committed();
    expect(positions(0)).toBeUndefined();
    expect(positions(1)).toEqual([2, 3]);
    add(4, 1);
    recent.rolledBack();
    recent.committed();
    expect(positions(3)).toBeUndefined();
    add(5, 1);
    recent.erased();
    recent.committed();
    expect(positions(4)).toBeUndefined();
    const quiet = filled(() => false);
    quiet.add(1, 1);
    quiet.recent.committed();
    expect(quiet.positions(0)).toBeUndefined();
  });
});

describe("subscriptions of the process that writes", () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "threadfold-recent-"));
    path = join(folder, "threads.db");
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  async function openCounting() {
    const file = await openForWriting(path, { synchronous: "full", busyTimeoutMs: 10_000 });
    let scans = 0;
    const database: SqliteDatabase = {
      exec: (sql) => file.database.exec(sql),
      get isTransaction() {
        return file.database.isTransaction;
      },
      close: () => file.database.close(),
      prepare(sql) {
        const statement = file.database.prepare(sql);
        if (!sql.includes("e.position > ?")) return statement;
        return {
          ...statement,
          all: (...parameters) => {
            scans += 1;
            return statement.all(...parameters);
          },
        };
      },
    };
    const { log } = createSqliteStore({ database, close: file.close }, path);
    return { log, scans: () => scans };
  }

  const next = async (items: AsyncIterator<SubscriptionItem>): Promise<RecordedEvent> => {
    for (;;) {
      const { value, done } = await items.next();
      if (done) throw new Error("The subscription ended.");
      if (value.kind === "event") return value.event;
    }
  };

  test("get what was appended without a look into the file, and see what others write in between", async () => {
    const { log, scans } = await openCounting();
    const items = log.subscribe({ after: "end" })[Symbol.asyncIterator]();
    const first = next(items);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const before = scans();
    const event = newEvent();
    const [appended] = (await log.append("thread-a", [event], { expectedVersion: 0 })).events;
    const seen = await first;
    expect(seen).toEqual(appended);
    expect(scans()).toBe(before);
    // The data is a copy: what the writer does with its own later is its own business.
    expect(seen.data).not.toBe(event.data);
    expect(Object.isFrozen(seen.data)).toBe(true);

    const other = await openSqlite(path);
    await other.log.append("thread-b", [newEvent()], { expectedVersion: 0 });
    await log.append("thread-a", [newEvent()], { expectedVersion: 1 });
    expect([(await next(items)).stream, (await next(items)).stream]).toEqual(["thread-b", "thread-a"]);
    await other.log.close();
    await log.close();
  });
});
