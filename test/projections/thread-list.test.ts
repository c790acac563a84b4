import { beforeEach, describe, expect, test } from "vitest";
import { MessagesAdded } from "../../events/messages.ts";
import { RunCancelled, RunCompleted, RunFailed, RunInterrupted, RunStarted } from "../../events/run.ts";
import { StateUpdated } from "../../events/state-update.ts";
import {
  ContentRedacted,
  ThreadArchived,
  ThreadCreated,
  ThreadErased,
  ThreadForked,
  ThreadMetadataChanged,
  ThreadRewound,
} from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import {
  type ListedThread,
  listThreads,
  type ThreadListQuery,
  threadList,
} from "../../projections/thread-list.ts";
import { createProjectionBench, type ProjectionBench } from "./fold-projection.ts";

let bench: ProjectionBench<ListedThread>;
beforeEach(() => {
  bench = createProjectionBench(threadList);
});

const create = (id: string) => bench.record(id, [ThreadCreated({})]);
const title = (id: string, text: string | null, origin: "user" | "auto" = "user") =>
  bench.record(id, [TitleSet({ title: text, origin })]);

async function thread(id: string): Promise<ListedThread | undefined> {
  await bench.update();
  return bench.view.get(id);
}
async function ids(query: ThreadListQuery = {}): Promise<string[]> {
  await bench.update();
  return (await listThreads(bench.view, query)).map(({ key }) => key);
}

describe("order", () => {
  test("API-07: pinned threads come first", async () => {
    await create("old");
    await create("new");
    await bench.record("old", [ThreadMetadataChanged({ metadata: { pinned: true } })]);
    expect(await ids()).toEqual(["old", "new"]);
  });

  test("API-08: pinning and unpinning do not touch the update time", async () => {
    await create("t");
    const before = (await thread("t"))?.updatedAt;
    await bench.record("t", [ThreadMetadataChanged({ metadata: { deerflow_pinned: true } })]);
    expect(await thread("t")).toMatchObject({ updatedAt: before, pinned: true });
    await bench.record("t", [ThreadMetadataChanged({ metadata: { deerflow_pinned: null } })]);
    expect(await thread("t")).toMatchObject({ updatedAt: before, pinned: false, metadata: {} });
  });

  test("other metadata does", async () => {
    await create("t");
    await bench.record("t", [ThreadMetadataChanged({ metadata: { pinned: true, owner: "ada" } })]);
    expect(await thread("t")).toMatchObject({
      updatedAt: "2026-01-01T00:00:01.000Z",
      metadata: { owner: "ada" },
    });
  });

  test("the newest update comes first, then the larger id; pages follow on each other", async () => {
    const recordedAt = "2026-02-01T00:00:00.000Z";
    for (const id of ["a", "c", "b"]) await bench.record(id, [ThreadCreated({})], { recordedAt });
    await create("older");
    expect(await ids()).toEqual(["c", "b", "a", "older"]);
    const [, second] = await listThreads(bench.view, { limit: 2 });
    expect(await ids({ ...(second && { after: second.cursor }) })).toEqual(["a", "older"]);
  });
});

describe("title", () => {
  test("TTL-32: the title of the state is the title of the list", async () => {
    await create("t");
    await bench.record("t", [
      RunStarted({ runId: "r", owner: "me" }),
      TitleSet({ title: "Trip", origin: "auto" }),
    ]);
    await bench.record("t", [RunFailed({ runId: "r", error: { name: "E", message: "no" } })]);
    expect(await thread("t")).toMatchObject({ title: "Trip", status: "failed" });
  });

  test("TTL-33: a title set from outside is seen and found", async () => {
    await create("t");
    await bench.record("t", [StateUpdated({ field: "title", value: "Renamed", replace: true })]);
    expect(await thread("t")).toMatchObject({ title: "Renamed" });
    expect(await ids({ search: "renam" })).toEqual(["t"]);
  });

  test("a title of the user's stays when a program gives another", async () => {
    await title("t", "Mine");
    await title("t", "Automatic", "auto");
    expect(await thread("t")).toMatchObject({ title: "Mine" });
  });

  test("after a rewind it is the title of that version, also back on an abandoned branch", async () => {
    await create("t");
    await title("t", "First");
    await title("t", "Second");
    await bench.record("t", [ThreadRewound({ toVersion: 2 })]);
    expect(await thread("t")).toMatchObject({ title: "First", version: 4 });
    await title("t", "Third");
    await bench.record("t", [ThreadRewound({ toVersion: 3 })]);
    expect(await thread("t")).toMatchObject({ title: "Second" });
    await bench.record("t", [ThreadRewound({ toVersion: 4 })]);
    expect(await thread("t")).toMatchObject({ title: "First" });
    await bench.record("t", [ThreadRewound({ toVersion: 1 })]);
    expect(await thread("t")).toMatchObject({ title: null });
  });

  test("a fork begins with the title that its parent had there", async () => {
    await title("parent", "Early");
    await title("parent", "Late");
    await bench.record("child", [ThreadForked({ parentThreadId: "parent", parentVersion: 1 })]);
    expect(await thread("child")).toMatchObject({ title: "Early", parentThreadId: "parent" });
    expect(await thread("parent")).toMatchObject({ title: "Late", children: ["child"] });
    await title("child", "Own");
    await bench.record("child", [ThreadRewound({ toVersion: 1 })]);
    expect(await thread("child")).toMatchObject({ title: "Early" });
  });
});

describe("status and counts", () => {
  test("follow the runs", async () => {
    await create("t");
    expect(await thread("t")).toMatchObject({ status: "idle", runs: 0 });
    const message = { id: "m", type: "human", content: "hi" };
    await bench.record("t", [
      RunStarted({ runId: "r", owner: "me" }),
      MessagesAdded({ messages: [message] }),
    ]);
    expect(await thread("t")).toMatchObject({
      status: "running",
      runs: 1,
      runId: "r",
      messages: 1,
      version: 3,
    });
    await bench.record("t", [RunInterrupted({ runId: "r", interrupts: [{ id: "i", kind: "q", value: 1 }] })]);
    expect(await thread("t")).toMatchObject({ status: "interrupted", runId: null });
    await bench.record("t", [
      RunStarted({ runId: "r2", owner: "me" }),
      RunCancelled({ runId: "r2", reason: "x" }),
    ]);
    expect(await thread("t")).toMatchObject({ status: "cancelled", runs: 2 });
    await bench.record("t", [RunStarted({ runId: "r3", owner: "me" }), RunCompleted({ runId: "r3" })]);
    expect(await thread("t")).toMatchObject({ status: "idle" });
    await bench.record("t", [ThreadArchived({})]);
    expect(await ids({ status: "archived" })).toEqual(["t"]);
    expect(await ids({ status: "idle" })).toEqual([]);
  });

  test("threads of sub-agents are left out unless asked for", async () => {
    await create("boss");
    const parent = { threadId: "boss", runId: "r", callId: "c" };
    await bench.record("helper", [ThreadCreated({}), RunStarted({ runId: "h", owner: "me", parent })]);
    expect(await ids()).toEqual(["boss"]);
    expect(await ids({ delegatedBy: "boss" })).toEqual(["helper"]);
  });
});

describe("search", () => {
  test("finds English in any case and Chinese words of two characters", async () => {
    await title("en", "Quarterly REPORT");
    await title("zh", "第三季度报告");
    await title("other", "Trip");
    expect(await ids({ search: "report" })).toEqual(["en"]);
    expect(await ids({ search: "报告" })).toEqual(["zh"]);
    expect(await ids({ search: "季度" })).toEqual(["zh"]);
  });

  test("finds by metadata and by parent", async () => {
    await bench.record("a", [ThreadCreated({ metadata: { graph_id: "lead" } })]);
    await bench.record("b", [
      ThreadForked({ parentThreadId: "a", parentVersion: 1, metadata: { graph_id: "x" } }),
    ]);
    expect(await ids({ metadata: { graph_id: "lead" } })).toEqual(["a"]);
    expect(await ids({ parentThreadId: "a" })).toEqual(["b"]);
  });
});

describe("what is gone", () => {
  test("an erased thread keeps its row without its title, and so do forks that inherited it", async () => {
    await title("parent", "Secret");
    await bench.record("child", [ThreadForked({ parentThreadId: "parent", parentVersion: 1 })]);
    await title("child", "Own");
    await bench.record("child", [ThreadRewound({ toVersion: 1 })]);
    await bench.record("parent", [ThreadErased({})]);
    expect(await thread("parent")).toMatchObject({ status: "erased", title: null });
    await bench.record("child", [ThreadRewound({ toVersion: 2 })]);
    expect(await thread("child")).toMatchObject({ title: "Own" });
    expect(JSON.stringify(await bench.store.list("thread-list"))).not.toContain("Secret");
  });

  test("a redacted title is gone wherever it was taken over", async () => {
    await create("t");
    await title("t", "Secret");
    await title("t", "Harmless");
    await bench.record("t", [ThreadRewound({ toVersion: 2 })]);
    await bench.record("t", [ContentRedacted({ rule: "title", versions: [2] })]);
    expect(await thread("t")).toMatchObject({ title: null });
    expect(JSON.stringify(await bench.store.list("thread-list"))).not.toContain("Secret");
  });
});
