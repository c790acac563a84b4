import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEventRegistry } from "../../events/event-registry.ts";
import { LogUnavailableError } from "../../events/log/event-log.ts";
import { openPostgres, type PostgresStore } from "../../events/log/postgres.ts";
import { openStore } from "../../events/open-store.ts";
import { TitleSet } from "../../events/title.ts";
import { openProjections } from "../../projections/open-projections.ts";
import { createPostgresProjectionStore } from "../../projections/postgres-projection-store.ts";
import { ProjectionConflict, type ProjectionStore } from "../../projections/projection-store.ts";
import { RebuildStoppedError, rebuildProjection } from "../../projections/rebuild.ts";
import { listThreads, threadList } from "../../projections/thread-list.ts";
import {
  hasPostgres,
  type PostgresServer,
  serverStartMs,
  startPostgres,
} from "../events/log/postgres-server.ts";
import { eventually } from "../eventually.ts";
import { appendDrafts } from "./append-drafts.ts";
import { projectionStoreContract } from "./projection-store.contract.ts";

describe.skipIf(!hasPostgres)("on a real PostgreSQL server", () => {
  let server: PostgresServer;
  const opened: PostgresStore[] = [];
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(async () => {
    for (const { log } of opened) await log.close();
    await server?.stop();
  });
  const openAt = async (url: string): Promise<PostgresStore> => {
    const store = await openPostgres(url);
    opened.push(store);
    return store;
  };
  const rowsOf = ({ database }: PostgresStore): ProjectionStore => createPostgresProjectionStore(database);

  projectionStoreContract("postgres", async () => rowsOf(await openAt(server.newUrl())));

  const row = (key: string, value: string) => ({ key, value, order: "", search: value });
  const list = { name: "list", version: 1, rows: [] };
  const change = { put: [], delete: [], checkpoint: "1", events: 1, skipped: [], expectedRevision: 0 };

  test("keys, orders and searched texts come back whatever characters they hold", async () => {
    const rows = rowsOf(await openAt(server.newUrl()));
    const { table } = await rows.open(list);
    const strange = ["a\u0000", "a\u0001", "a\u00010", "a", "a\u0002", "\u{1F600}"];
    const put = strange.map((text) => ({ key: text, value: { text }, order: text, search: text }));
    await rows.commit(table, { ...change, put });
    const found = await rows.list("list");
    expect(found.map(({ key }) => key)).toEqual([
      "\u{1F600}",
      "a\u0002",
      "a\u00010",
      "a\u0001",
      "a\u0000",
      "a",
    ]);
    expect(found.every(({ key, order, search }) => key === order && key === search)).toBe(true);
    expect(await rows.get("list", strange)).toEqual(new Map(strange.map((text) => [text, { text }])));
    expect(await rows.count("list", { search: "\u0000" })).toBe(1);
    expect(await rows.count("list", { prefix: "a\u0001" })).toBe(2);
    await rows.commit(table, { ...change, delete: strange, expectedRevision: 1 });
    expect(await rows.count("list")).toBe(0);
  });

  test("members are found beside texts that the server's JSON does not know", async () => {
    const rows = rowsOf(await openAt(server.newUrl()));
    const { table } = await rows.open(list);
    const values = [
      { n: 1, text: "nul \u0000" },
      { n: 1, text: "half \ud83d" },
      { n: 1, text: "written out: \\u0000 and \\\\ud83d" },
    ];
    const put = values.map((value, index) => ({ key: `${index}`, value, order: "", search: "" }));
    await rows.commit(table, { ...change, put });
    expect(await rows.count("list", { match: [{ path: ["n"], equals: 1 }] })).toBe(3);
    const written = { path: ["text"], equals: "written out: \\u0000 and \\\\ud83d" };
    expect(await rows.count("list", { match: [written] })).toBe(1);
    expect(await rows.count("list", { match: [{ path: ["text"], equals: "nul \u0000" }] })).toBe(1);
  });

  test("of 8 commits on one revision from two connections one is made", async () => {
    const url = server.newUrl();
    const both = [rowsOf(await openAt(url)), rowsOf(await openAt(url))];
    const table = (await both[0]?.open(list))?.table ?? "";
    const commits = Array.from({ length: 8 }, (_, index) =>
      both[index % 2]?.commit(table, { ...change, put: [row("who", `${index}`)] }),
    );
    const settled = await Promise.allSettled(commits);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const refused = settled.filter((one) => one.status === "rejected");
    expect(refused.every(({ reason }) => reason instanceof ProjectionConflict)).toBe(true);
  });

  test("the same projection opened by many at once has one live table", async () => {
    const url = server.newUrl();
    const both = [rowsOf(await openAt(url)), rowsOf(await openAt(url))];
    const tables = await Promise.all(Array.from({ length: 10 }, (_, index) => both[index % 2]?.open(list)));
    expect(new Set(tables.map((table) => table?.table))).toEqual(new Set(["list@1/1"]));
  });

  test("readers never miss the rows while tables are replaced and dropped", async () => {
    const url = server.newUrl();
    const [one, two] = [rowsOf(await openAt(url)), rowsOf(await openAt(url))];
    await one.open({ ...list, rows: [row("a", "1")] });
    let isOver = false;
    let reads = 0;
    const reader = (async () => {
      for (; !isOver; reads++) expect((await two.list("list")).map(({ key }) => key)).toEqual(["a"]);
    })();
    for (let build = 0; build < 20; build++) {
      const before = await one.live("list");
      const { table, revision } = await one.build({ ...list, rows: [row("a", "1")] });
      expect(await one.switchTo(table, revision)).toBe(true);
      if (before) await one.drop(before.table);
    }
    isOver = true;
    await reader;
    expect(reads).toBeGreaterThan(5);
  });

  test("a purge writes the tables anew, and leaves the rows that stay", async () => {
    const store = await openAt(server.newUrl());
    const rows = rowsOf(store);
    const { table } = await rows.open(list);
    const many = Array.from({ length: 500 }, (_, index) => row(`k${index}`, "TopSecret".repeat(50)));
    await rows.commit(table, { ...change, put: [...many, row("stay", "harmless")] });
    const gone = many.map(({ key }) => key);
    await rows.commit(table, { ...change, delete: gone, expectedRevision: 1 });
    await rows.purge();
    const [size] = await server.sql(
      `SELECT pg_relation_size('${store.database.schema}.projection_rows_1')::int AS bytes`,
    );
    expect(size?.bytes).toBeLessThanOrEqual(8192);
    expect(await rows.get("list", ["stay"])).toEqual(new Map([["stay", "harmless"]]));
  });

  test("a rebuild that was stopped goes on where it was, in another process", async () => {
    const url = server.newUrl();
    const [one, two] = [await openAt(url), await openAt(url)];
    for (let thread = 0; thread < 30; thread++) {
      await appendDrafts(one.log, `t-${thread}`, [TitleSet({ title: `No ${thread}`, origin: "user" })]);
    }
    const stop = new AbortController();
    const registry = createEventRegistry();
    const stopped = rebuildProjection({
      projection: threadList,
      log: one.log,
      store: rowsOf(one),
      registry,
      batchEvents: 10,
      signal: stop.signal,
      onProgress: ({ events }) => events >= 10 && stop.abort(),
    });
    await expect(stopped).rejects.toThrow(RebuildStoppedError);
    const result = await rebuildProjection({
      projection: threadList,
      log: two.log,
      store: rowsOf(two),
      registry,
    });
    expect(result.resumedAt).toBeGreaterThanOrEqual(10);
    expect(result.rows).toBe(30);
  });

  test("two machines share the rows: one feeds them, both read them, and the other takes over", async () => {
    const url = server.newUrl();
    const [one, two] = [await openStore(url), await openStore(url)];
    const options = { projections: [threadList], pollMs: 20 };
    const first = await openProjections(one, { ...options, owner: "first" });
    await eventually(async () => (await first.status())[0]?.state).toBe("live");
    const second = await openProjections(two, { ...options, owner: "second" });
    const [event] = await appendDrafts(two.log, "a", [TitleSet({ title: "By two", origin: "user" })]);
    await second.whenCaughtUp(event?.position ?? "");
    expect((await second.status())[0]?.state).toBe("waiting");
    const titles = async () =>
      (await listThreads(second.view(threadList), {})).map(({ row: { title } }) => title);
    expect(await titles()).toEqual(["By two"]);
    await first.close();
    await eventually(async () => (await second.status())[0]?.state).toBe("live");
    const [next] = await appendDrafts(one.log, "b", [TitleSet({ title: "By one", origin: "user" })]);
    await second.whenCaughtUp(next?.position ?? "");
    expect((await titles()).sort()).toEqual(["By one", "By two"]);
    await second.close();
    await one.close();
    await two.close();
  });

  test("a server that goes away is said so, and nothing of a commit is left", async () => {
    const store = await openPostgres(server.newUrl(), { reconnectMs: 100 });
    const rows = rowsOf(store);
    const { table } = await rows.open(list);
    await server.kill();
    try {
      await expect(rows.commit(table, { ...change, put: [row("a", "1")] })).rejects.toThrow(
        LogUnavailableError,
      );
    } finally {
      await server.restart();
    }
    expect(await rows.live("list")).toMatchObject({ revision: 0 });
    expect(await rows.commit(table, { ...change, put: [row("a", "1")] })).toBe(1);
    await store.log.close();
  });
});
