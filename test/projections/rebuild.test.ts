import { beforeEach, describe, expect, test } from "vitest";
import { createEventRegistry } from "../../events/event-registry.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { TitleSet } from "../../events/title.ts";
import { catchUp } from "../../projections/catch-up.ts";
import { defineProjection } from "../../projections/define-projection.ts";
import { createMemoryProjectionStore } from "../../projections/memory-projection-store.ts";
import type { ProjectionStore } from "../../projections/projection-store.ts";
import { viewOf } from "../../projections/projection-view.ts";
import {
  compareRebuild,
  dryRunRebuild,
  type RebuildProgress,
  RebuildStoppedError,
  rebuildProjection,
} from "../../projections/rebuild.ts";
import { createTableWriter, PoisonEventError } from "../../projections/table-writer.ts";
import { appendDrafts } from "./append-drafts.ts";
import { countedTitles } from "./counted-titles.ts";

const registry = createEventRegistry();
let log: EventLog;
let store: ProjectionStore;

beforeEach(async () => {
  log = createMemoryLog();
  store = createMemoryProjectionStore();
  for (let index = 0; index < 30; index++) await setTitle(`t${index % 3}`, `title ${index}`);
});

const setTitle = (thread: string, title: string) =>
  appendDrafts(log, thread, [TitleSet({ title, origin: "user" })]);
const optionsFor = (version: number) => ({ projection: countedTitles(version), log, store, registry });

describe("a rebuild", () => {
  test("makes the rows and serves them when they are complete", async () => {
    const result = await rebuildProjection(optionsFor(1));
    expect(result).toMatchObject({ rows: 3, resumedAt: 0, skipped: [] });
    const row = await viewOf(store, countedTitles(1)).get("thread-t2");
    expect(row).toEqual({ titles: 10, last: "title 29", version: 1 });
  });

  test("leaves the old rows to readers until it is done, then drops them", async () => {
    await rebuildProjection(optionsFor(1));
    const seen: unknown[] = [];
    const view = viewOf(store, countedTitles(2));
    await rebuildProjection({
      ...optionsFor(2),
      batchEvents: 10,
      onProgress: () => seen.push(view.get("thread-t0")),
    });
    expect((await Promise.all(seen.slice(0, 2))).map((row) => (row as { version: number }).version)).toEqual([
      1, 1,
    ]);
    expect(await view.get("thread-t0")).toMatchObject({ version: 2, titles: 10 });
    expect((await store.tables()).map(({ table }) => table)).toEqual(["counted-titles@2/2"]);
  });

  test("goes on where a stopped one was", async () => {
    const stop = new AbortController();
    const stopped = rebuildProjection({
      ...optionsFor(1),
      batchEvents: 10,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(stopped).rejects.toThrow(RebuildStoppedError);
    const result = await rebuildProjection(optionsFor(1));
    expect(result.resumedAt).toBeGreaterThanOrEqual(10);
    expect(await viewOf(store, countedTitles(1)).get("thread-t0")).toMatchObject({ titles: 10 });
  });

  test("begins anew when it is told to, and when the code's version is another", async () => {
    for (const next of [{ ...optionsFor(1), fresh: true }, optionsFor(2)]) {
      const stop = new AbortController();
      const stopped = {
        ...optionsFor(1),
        batchEvents: 10,
        signal: stop.signal,
        onProgress: () => stop.abort(),
      };
      await expect(rebuildProjection(stopped)).rejects.toThrow(RebuildStoppedError);
      expect(await rebuildProjection(next)).toMatchObject({ resumedAt: 0, rows: 3 });
    }
  });

  test("does not take the place of rows that have gone further meanwhile, but follows them first", async () => {
    await rebuildProjection(optionsFor(1));
    let switches = 0;
    const racing: ProjectionStore = {
      ...store,
      async switchTo(table, revision) {
        switches += 1;
        if (switches === 1) {
          await setTitle("t0", "meanwhile");
          const live = await store.live("counted-titles");
          if (!live) throw new Error("no live rows");
          const projection = countedTitles(1);
          const writer = createTableWriter({ projection, store, log, registry, table: live });
          await catchUp({ log, writer, projection, batchEvents: 10 });
        }
        return store.switchTo(table, revision);
      },
    };
    await rebuildProjection({ ...optionsFor(1), store: racing });
    expect(switches).toBe(2);
    expect(await viewOf(store, countedTitles(1)).get("thread-t0")).toMatchObject({
      last: "meanwhile",
      titles: 11,
    });
  });

  test("from a position counts only what came after it", async () => {
    const [event] = await setTitle("t0", "before");
    await setTitle("t0", "after");
    await rebuildProjection({ ...optionsFor(1), ...(event && { from: event.position }) });
    expect(await viewOf(store, countedTitles(1)).get("thread-t0")).toMatchObject({
      titles: 1,
      last: "after",
    });
  });

  test("reports events, rate and the time that is left", async () => {
    await rebuildProjection(optionsFor(1));
    const progress: RebuildProgress[] = [];
    await rebuildProjection({ ...optionsFor(1), batchEvents: 10, onProgress: (at) => progress.push(at) });
    expect(progress.map(({ events, total }) => [events, total])).toEqual([
      [10, 30],
      [20, 30],
      [30, 30],
    ]);
    expect(progress.at(-1)?.secondsLeft).toBe(0);
    expect(progress.every(({ rate }) => rate > 0)).toBe(true);
  });

  test("stops before an event that cannot be taken, or records it and goes on", async () => {
    const projection = defineProjection({
      name: "picky",
      version: 1,
      handlers: {
        TitleSet(_, event) {
          if (event.data.title === "title 7") throw new Error("seven");
        },
      },
    });
    const options = { projection, log, store, registry };
    await expect(rebuildProjection(options)).rejects.toThrow(PoisonEventError);
    expect(await store.live("picky")).toBeUndefined();
    const { skipped } = await rebuildProjection({ ...options, onError: "skip" });
    expect(skipped).toMatchObject([{ error: "Error: seven", stream: "thread-t1", version: 3 }]);
  });
});

describe("a dry run", () => {
  test("tells what would come out and writes nothing", async () => {
    expect(await dryRunRebuild(optionsFor(1))).toMatchObject({ rows: 3, table: { events: 30 } });
    expect(await store.tables()).toEqual([]);
  });
});

describe("comparing", () => {
  test("finds rebuilt and live rows identical, and leaves the live ones alone", async () => {
    await rebuildProjection(optionsFor(1));
    expect(await compareRebuild(optionsFor(1))).toMatchObject({ differing: 0, differences: [] });
    expect(await store.tables()).toHaveLength(1);
  });

  test("a rebuild at the same time does not go on in the table of a comparison", async () => {
    await rebuildProjection(optionsFor(1));
    const { compare } = store;
    let rebuilt = 0;
    const interleaved: ProjectionStore = {
      ...store,
      async compare(...given) {
        rebuilt += 1;
        if (rebuilt === 1) await rebuildProjection(optionsFor(1));
        return compare(...given);
      },
    };
    const comparison = await compareRebuild({ ...optionsFor(1), store: interleaved });
    expect(comparison.differing).toBe(0);
    expect((await store.tables()).map(({ state }) => state)).toEqual(["live"]);
    expect(await viewOf(store, countedTitles(1)).get("thread-t0")).toMatchObject({ titles: 10 });
    // One that was killed is swept by the next.
    await store.build({ name: "counted-titles", version: 1, rows: [], state: "comparing" });
    await compareRebuild(optionsFor(1));
    expect(await store.tables()).toHaveLength(1);
  });

  test("goes only as far as the live rows", async () => {
    await rebuildProjection(optionsFor(1));
    await setTitle("t0", "later");
    expect(await compareRebuild(optionsFor(1))).toMatchObject({ differing: 0 });
  });

  test("names the first rows that differ, as many as asked for", async () => {
    const { table } = await rebuildProjection(optionsFor(1));
    const bad = (key: string) => ({
      key,
      value: { titles: 99, last: null, version: 1 },
      order: key,
      search: "",
    });
    await store.commit(table.table, {
      put: [bad("thread-t0"), bad("thread-t1")],
      delete: [],
      checkpoint: table.checkpoint,
      events: 0,
      skipped: [],
      expectedRevision: table.revision,
    });
    const comparison = await compareRebuild({ ...optionsFor(1), limit: 1 });
    expect(comparison.differing).toBe(2);
    expect(comparison.differences).toMatchObject([
      { key: "thread-t0", left: { titles: 99 }, right: { titles: 10 } },
    ]);
  });
});
