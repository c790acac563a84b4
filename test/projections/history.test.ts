import { describe, expect, test } from "vitest";
import { createEventRegistry } from "../../events/event-registry.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { ThreadForked, ThreadRewound } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import type { HistoryRow } from "../../projections/history.ts";
import { createStateReader } from "../../projections/state-at.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { recordLog } from "./record-log.ts";

const said = (id: string) => MessagesAdded({ messages: [{ id, type: "human", content: id }] });
const titled = (title: string) => TitleSet({ title, origin: "user" });

/** Two runs of two steps, a rename in between: versions 1 to 8. */
async function twoRuns() {
  const log = createMemoryLog();
  await recordLog(log, "a", [said("1"), titled("A")], { runId: "r1", step: 0, by: "middleware:title" });
  await recordLog(log, "a", [said("2")], { runId: "r1", step: 1, by: "model:m" });
  await recordLog(log, "a", [titled("Mine")], { by: "user" });
  await recordLog(log, "a", [said("3"), said("4")], { runId: "r2", step: 0 });
  await recordLog(log, "a", [said("5"), said("6")], { runId: "r2", step: 1 });
  const reader = createStateReader({
    log,
    side: createMemorySide(),
    reducer: createThreadReducer(),
    registry: createEventRegistry(),
  });
  return { log, reader };
}

const spans = (rows: readonly HistoryRow[]) =>
  rows.map(({ threadId, from, version }) => `${threadId} ${from}-${version}`);

describe("the history of a thread", () => {
  test("has one row a step, newest first", async () => {
    const { reader } = await twoRuns();
    const rows = await reader.history("a");
    expect(spans(rows)).toEqual(["a 7-8", "a 5-6", "a 4-4", "a 3-3", "a 1-2"]);
    expect(rows.at(-1)).toMatchObject({
      types: ["MessagesAdded", "TitleSet"],
      by: ["middleware:title"],
      runId: "r1",
      step: 0,
    });
    expect(rows[2]).toMatchObject({ types: ["TitleSet"], by: ["user"], runId: undefined, step: undefined });
    expect(rows[0]?.recordedAt).toMatch(/^\d{4}-.*Z$/);
  });

  test("has one row an event when `granularity` says so", async () => {
    const { reader } = await twoRuns();
    expect((await reader.history("a", { granularity: "event" })).map(({ version }) => version)).toEqual([
      8, 7, 6, 5, 4, 3, 2, 1,
    ]);
  });

  test("begins with the oldest when `order` says so", async () => {
    const { reader } = await twoRuns();
    expect(spans(await reader.history("a", { order: "oldest", limit: 2 }))).toEqual(["a 1-2", "a 3-3"]);
  });

  test("comes in pages of `limit`, with `before` and `after` the last row", async () => {
    const { reader } = await twoRuns();
    for (const order of ["newest", "oldest"] as const) {
      const whole = spans(await reader.history("a", { order }));
      const paged: string[] = [];
      let last: HistoryRow | undefined;
      for (;;) {
        const cursor = last && (order === "newest" ? { before: last } : { after: last });
        const page = await reader.history("a", { order, limit: 2, ...cursor });
        if (page.length === 0) break;
        expect(page.length).toBeLessThanOrEqual(2);
        paged.push(...spans(page));
        last = page.at(-1);
      }
      expect(paged).toEqual(whole);
    }
    expect(spans(await reader.history("a", { before: 5 }))).toEqual(["a 4-4", "a 3-3", "a 1-2"]);
    expect(spans(await reader.history("a", { after: 6 }))).toEqual(["a 7-8"]);
    expect(await reader.history("a", { limit: 0 })).toEqual([]);
  });

  test("gives each row its state, with and without messages", async () => {
    const { reader } = await twoRuns();
    const [, , renamed, , first] = await reader.history("a");
    expect(await first?.values()).toEqual(await reader.stateAt("a", 2));
    expect((await renamed?.values())?.title).toBe("Mine");
    expect(await renamed?.fields()).toMatchObject({ title: "Mine" });
    expect(await renamed?.fields()).not.toHaveProperty("messages");
  });

  test("ends at the version `at`", async () => {
    const { reader } = await twoRuns();
    expect(spans(await reader.history("a", { at: 4 }))).toEqual(["a 4-4", "a 3-3", "a 1-2"]);
    expect(await reader.history("a", { at: 0 })).toEqual([]);
  });

  test("leaves out what was abandoned, and shows a fork its parent's rows", async () => {
    const { log, reader } = await twoRuns();
    await recordLog(log, "a", [ThreadRewound({ toVersion: 4 }), titled("B")]);
    await recordLog(log, "b", [ThreadForked({ parentThreadId: "a", parentVersion: 9 }), titled("C")]);
    const rows = await reader.history("b");
    expect(spans(rows)).toEqual(["b 2-2", "b 1-1", "a 9-9", "a 4-4", "a 3-3", "a 1-2"]);
    expect((await rows[2]?.values())?.title).toBe("Mine");
    expect(spans(await reader.history("b", { before: { threadId: "a", version: 9 } }))).toEqual([
      "a 4-4",
      "a 3-3",
      "a 1-2",
    ]);
  });

  test("of a long thread reads only near its end", async () => {
    const { log, reader } = await twoRuns();
    await recordLog(
      log,
      "a",
      Array.from({ length: 2000 }, (_, n) => said(`m${n}`)),
      { runId: "r3", step: 0 },
    );
    await recordLog(
      log,
      "a",
      Array.from({ length: 50 }, (_, n) => titled(`t${n}`)),
    );
    let read = 0;
    const counting = createStateReader({
      log: {
        ...log,
        async *read(...given) {
          for await (const page of log.read(...given)) {
            read += page.length;
            yield page;
          }
        },
      },
      side: createMemorySide(),
      reducer: createThreadReducer(),
      registry: createEventRegistry(),
    });
    expect(await counting.history("a", { limit: 10 })).toHaveLength(10);
    expect(read).toBeLessThan(200);
    expect((await reader.history("a", { limit: 51 })).at(-1)).toMatchObject({ from: 9, version: 2008 });
  });
});
