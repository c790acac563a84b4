import { beforeEach, describe, expect, test } from "vitest";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { RunFailed, RunStarted } from "../../events/run.ts";
import { ThreadArchived, ThreadCreated, ThreadForked } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { type SummaryQuery, threadSummaries } from "../../projections/thread-summaries.ts";
import { appendDrafts } from "./append-drafts.ts";
import { recordFamily } from "./sample-thread.ts";

let log: EventLog;
beforeEach(async () => {
  log = createMemoryLog();
  await recordFamily(log);
});

async function list(query?: SummaryQuery) {
  const all = [];
  for await (const thread of threadSummaries(log, query)) all.push(thread);
  return all;
}
const ids = async (query?: SummaryQuery) => (await list(query)).map(({ threadId }) => threadId);

describe("a list of threads, from the log alone", () => {
  test("has title, status, counts and the parent; a fork inherits the title that its parent had there", async () => {
    await appendDrafts(log, "later", [ThreadForked({ parentThreadId: "parent", parentVersion: 6 })]);
    const threads = await list();
    expect(threads.find(({ threadId }) => threadId === "parent")).toMatchObject({
      title: "A title",
      status: "idle",
      version: 15,
      runs: 2,
      parentThreadId: null,
    });
    expect(threads.find(({ threadId }) => threadId === "child")).toMatchObject({
      title: null,
      parentThreadId: "parent",
      runs: 2,
    });
    expect(threads.find(({ threadId }) => threadId === "later")).toMatchObject({ title: "A title", runs: 1 });
  });

  test("a title that a rewind took back is gone, a user's title stays", async () => {
    await appendDrafts(log, "parent", [TitleSet({ title: "Mine", origin: "user" })]);
    await appendDrafts(log, "parent", [TitleSet({ title: "Late", origin: "auto" })]);
    expect((await list({ search: "mine" }))[0]).toMatchObject({ threadId: "parent", title: "Mine" });
  });

  test("is filtered by status, text and time, sorted and cut", async () => {
    const old = { recordedAt: "2020-01-01T00:00:00.000Z" };
    const error = { name: "Error", message: "x" };
    await appendDrafts(log, "old", [ThreadCreated({}), RunStarted({ runId: "r", owner: "o" })], old);
    await appendDrafts(log, "old", [RunFailed({ runId: "r", error })], old);
    await appendDrafts(log, "gone", [ThreadCreated({}), ThreadArchived({})], old);
    expect(await ids({ status: "failed" })).toEqual(["old"]);
    expect(await ids({ status: "archived" })).toEqual(["gone"]);
    expect(await ids({ since: "2021-01-01T00:00:00.000Z" })).not.toContain("old");
    expect(await ids({ search: "PAREN" })).toEqual(["parent"]);
    expect(await ids({ sort: "events", limit: 2 })).toEqual(["parent", "child"]);
    expect((await ids({ sort: "created" })).slice(-2)).toEqual(["gone", "old"]);
  });

  test("a fork whose parent is gone is listed all the same", async () => {
    await log.erase("thread-parent");
    expect(await ids()).toEqual(["child"]);
  });
});
