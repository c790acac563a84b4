import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { RecordedEvent } from "../../events/envelope.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { BrokenSourceError, CopyDiffersError, copyLog } from "../../projections/copy-log.ts";
import { collect, newEvent, newEvents } from "../events/log/new-events.ts";
import {
  hasPostgres,
  type PostgresServer,
  serverStartMs,
  startPostgres,
} from "../events/log/postgres-server.ts";

const open = async (url: string): Promise<Store> => {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  return store;
};
const newSqlite = async (): Promise<Store> => {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-copy-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return open(`sqlite:${join(folder, "threads.db")}`);
};

/** Everything but the place in the whole log, by stream and version. */
const contentOf = async (log: EventLog) =>
  (await collect(log.readAll()))
    .map(({ position: _position, ...event }) => event)
    .sort((a, b) => (a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : a.version - b.version));

/** Three threads of 1200, 3 and 2 events, one of which names a blob. */
async function fill({ log, blobs }: Store): Promise<string> {
  const { sha256, size } = await blobs.put("a picture", "image/png");
  for (let version = 0; version < 1200; version += 100) {
    await log.append("thread-a", newEvents(100), { expectedVersion: version });
  }
  const image = { sha256, size, mimeType: "image/png" };
  await log.append("thread-b", newEvents(2), { expectedVersion: 0 });
  await log.append("thread-c", newEvents(2), { expectedVersion: 0 });
  await log.append("thread-b", [newEvent({ data: { image } })], { expectedVersion: 2 });
  return sha256;
}

let from: Store;
let to: Store;
beforeEach(async () => {
  [from, to] = [await newSqlite(), await open("memory:")];
});

test("ids, versions, times and hashes are the same, and blobs come along", async () => {
  const sha256 = await fill(from);
  const seen: number[] = [];
  const result = await copyLog({ from, to, onProgress: ({ events }) => seen.push(events) });
  expect(result).toEqual({
    events: 1205,
    before: 0,
    total: 1205,
    copied: 1205,
    blobs: 1,
    missingBlobs: [],
    erased: [],
    refused: [],
  });
  expect(await contentOf(to.log)).toEqual(await contentOf(from.log));
  expect(new TextDecoder().decode(await to.blobs.get(sha256))).toBe("a picture");
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.at(-1)).toBe(1205);
});

test("a second copy adds nothing, and a later one only what is new", async () => {
  await fill(from);
  await copyLog({ from, to });
  expect(await copyLog({ from, to })).toMatchObject({ events: 1205, copied: 0 });
  await from.log.append("thread-a", newEvents(5), { expectedVersion: 1200 });
  let read = 0;
  const counted: EventLog = {
    ...from.log,
    async *readAll(options) {
      for await (const page of from.log.readAll(options)) {
        read += page.length;
        yield page;
      }
    },
  };
  expect(await copyLog({ from: { ...from, log: counted }, to })).toMatchObject({ events: 1210, copied: 5 });
  expect(read).toBe(5);
  expect(await contentOf(to.log)).toEqual(await contentOf(from.log));
});

test("a copy that was cut short goes on", async () => {
  await fill(from);
  const controller = new AbortController();
  const first = await copyLog({ from, to, signal: controller.signal, onProgress: () => controller.abort() });
  expect(first.copied).toBeGreaterThan(0);
  expect(first.copied).toBeLessThan(1205);
  expect((await copyLog({ from, to })).copied).toBe(1205 - first.copied);
  expect(await contentOf(to.log)).toEqual(await contentOf(from.log));
});

test("a copy whose target failed half-way goes on", async () => {
  await fill(from);
  let appends = 0;
  const failing: EventLog = {
    ...to.log,
    async append(...given) {
      appends += 1;
      if (appends === 2) throw new Error("the disk is full");
      return to.log.append(...given);
    },
  };
  await expect(copyLog({ from, to: { ...to, log: failing } })).rejects.toThrow("the disk is full");
  await copyLog({ from, to });
  expect(await contentOf(to.log)).toEqual(await contentOf(from.log));
});

test("only the streams asked for", async () => {
  await fill(from);
  expect(await copyLog({ from, to, streams: ["thread-b", "thread-c"] })).toMatchObject({
    copied: 5,
    total: 5,
  });
  expect((await to.log.streams()).map(({ stream }) => stream)).toEqual(["thread-b", "thread-c"]);
});

test("another source with the same URL is copied from its beginning", async () => {
  await fill(from);
  await copyLog({ from, to });
  const other = await newSqlite();
  await other.log.append("thread-x", newEvents(3), { expectedVersion: 0 });
  expect(await copyLog({ from: { ...other, url: from.url }, to })).toMatchObject({ copied: 3 });
});

test("a broken chain in the source is named, and nothing of it is copied", async () => {
  await fill(from);
  const forge = (event: RecordedEvent): RecordedEvent =>
    event.stream === "thread-b" && event.version === 2 ? { ...event, data: { title: "forged" } } : event;
  const forged: EventLog = {
    ...from.log,
    async *readAll(options) {
      for await (const page of from.log.readAll(options)) yield page.map(forge);
    },
  };
  const refused = copyLog({ from: { ...from, log: forged }, to });
  await expect(refused).rejects.toThrow(BrokenSourceError);
  await expect(refused).rejects.toMatchObject({ stream: "thread-b", version: 2 });
  expect(await to.log.head("thread-b")).toMatchObject({ version: 0 });
});

test("a target with other events in a stream is refused", async () => {
  await fill(from);
  await to.log.append("thread-b", newEvents(1), { expectedVersion: 0 });
  await expect(copyLog({ from, to })).rejects.toThrow(CopyDiffersError);
});

test("an erasure in the source reaches the copy; one in the target stays", async () => {
  await fill(from);
  await copyLog({ from, to });
  await from.log.erase("thread-b");
  await to.log.erase("thread-c");
  await from.log.append("thread-c", newEvents(1), { expectedVersion: 2 });
  expect(await copyLog({ from, to })).toMatchObject({
    erased: ["thread-b"],
    refused: ["thread-c"],
    copied: 0,
  });
  expect(await to.log.head("thread-b")).toMatchObject({ deleted: true });
});

test("a blob that the source lost is reported, and the events come all the same", async () => {
  const sha256 = await fill(from);
  await from.blobs.delete(sha256);
  expect(await copyLog({ from, to })).toMatchObject({ missingBlobs: [sha256], copied: 1205, blobs: 0 });
});

describe.skipIf(!hasPostgres)("through a PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(async () => {
    await server?.stop();
  });

  test("SQLite → PostgreSQL → SQLite is identical", async () => {
    const sha256 = await fill(from);
    const between = await open(server.newUrl());
    const back = await newSqlite();
    expect(await copyLog({ from, to: between })).toMatchObject({ copied: 1205, blobs: 1 });
    expect(await copyLog({ from, to: between })).toMatchObject({ copied: 0 });
    expect(await copyLog({ from: between, to: back })).toMatchObject({ copied: 1205, blobs: 1 });
    expect(await contentOf(back.log)).toEqual(await contentOf(from.log));
    expect(new TextDecoder().decode(await back.blobs.get(sha256))).toBe("a picture");
  });
});
