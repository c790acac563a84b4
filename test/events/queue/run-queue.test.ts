import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { threadStream } from "../../../events/envelope.ts";
import { createMemoryKeyStore } from "../../../events/keys/memory.ts";
import { withEncryption } from "../../../events/keys/with-encryption.ts";
import { createMemorySide } from "../../../events/log/memory-side.ts";
import { openPostgres } from "../../../events/log/postgres.ts";
import { openSqlite } from "../../../events/log/sqlite.ts";
import { openStore } from "../../../events/open-store.ts";
import { createSideQueue } from "../../../events/queue/side-queue.ts";
import { hasPostgres, type PostgresServer, serverStartMs, startPostgres } from "../log/postgres-server.ts";
import { describeRunQueue } from "./run-queue.contract.ts";

let folder: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-queue-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
const nextFile = () => join(folder, `${++files}.db`);

describeRunQueue("side records", async () => {
  const side = createMemorySide();
  return { queue: createSideQueue(side), other: createSideQueue(side), dispose: async () => undefined };
});

describeRunQueue("sqlite", async () => {
  const path = nextFile();
  const [one, two] = [await openSqlite(path), await openSqlite(path)];
  const dispose = async () => {
    await one.log.close();
    await two.log.close();
  };
  return { queue: one.queue, other: two.queue, dispose };
});

describe.skipIf(!hasPostgres)("on a real PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(() => server?.stop());

  describeRunQueue("postgres", async () => {
    const url = server.newUrl();
    const [one, two] = [await openPostgres(url), await openPostgres(url)];
    const dispose = async () => {
      await one.log.close();
      await two.log.close();
    };
    return { queue: one.queue, other: two.queue, dispose };
  });

  test("workers that look at the same time do not wait for each other's rows", async () => {
    const url = server.newUrl();
    const { queue, log, database } = await openPostgres(url);
    for (const threadId of ["a", "b"]) {
      await queue.add({
        runId: threadId,
        threadId,
        agent: "agent",
        request: null,
        afterVersion: 0,
        queuedAt: "now",
      });
    }
    const held = server.sql(
      `BEGIN; SELECT * FROM ${database.schema}.queue WHERE run = 'a' FOR UPDATE; SELECT pg_sleep(3); COMMIT`,
    );
    const locks = `SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3)%' AND wait_event = 'PgSleep'`;
    while ((await server.sql(locks)).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const start = performance.now();
    const claimed = await queue.claim({ owner: "w", agent: "agent", limit: 5, leaseMs: 1000 });
    expect(claimed.map(({ runId }) => runId)).toEqual(["b"]);
    expect(performance.now() - start).toBeLessThan(2000);
    await held;
    await log.close();
  });
});

test("side records that were taken a moment ago are not read again with each claim", async () => {
  const side = createMemorySide();
  let read = 0;
  const queue = createSideQueue({
    ...side,
    async list(...given) {
      const records = await side.list(...given);
      read += records.length;
      return records;
    },
  });
  const runs = 1000;
  for (let run = 0; run < runs; run++) {
    const id = `${run}`;
    await queue.add({
      runId: id,
      threadId: id,
      agent: "agent",
      request: null,
      afterVersion: 0,
      queuedAt: "now",
    });
  }
  for (let claims = 0; claims < 90; claims++) {
    const claimed = await queue.claim({ owner: "w", agent: "agent", limit: 10, leaseMs: 600_000 });
    expect(claimed).toHaveLength(10);
  }
  // What is wanted and a little more, instead of everything before as well.
  expect(read).toBeLessThanOrEqual(100 + 90 * 20);
});

test("a SQLite store in which nothing was queued has no table for it", async () => {
  const path = nextFile();
  const { queue, log } = await openSqlite(path);
  await queue.claim({ owner: "w", agent: "agent", limit: 1, leaseMs: 10 });
  await queue.list(10);
  await log.close();
  const { loadSqliteDriver } = await import("../../../events/log/sqlite-driver.ts");
  expect(existsSync(path)).toBe(true);
  const database = (await loadSqliteDriver()).open(path);
  expect(database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'queue'").get()).toBeUndefined();
  database.close();
});

test("what a run is given is encrypted with the key of its thread, and gone when that is destroyed", async () => {
  const plain = await openStore("memory:");
  const store = withEncryption(plain, createMemoryKeyStore());
  const run = { runId: "r", threadId: "t", agent: "agent", afterVersion: 0, queuedAt: "now" };
  await store.queue.add({ ...run, request: { input: "TopSecret" } });
  expect(JSON.stringify(await plain.queue.list(1))).not.toContain("TopSecret");
  expect(await store.queue.list(1)).toMatchObject([{ request: { input: "TopSecret" } }]);
  await store.keys.destroy(threadStream("t"));
  const claimed = await store.queue.claim({ owner: "w", agent: "agent", limit: 1, leaseMs: 1000 });
  expect(claimed).toMatchObject([{ runId: "r", request: null }]);
  await plain.close();
});
