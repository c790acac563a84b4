import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { ImagesViewed } from "../../events/images.ts";
import { MessagesReplaced } from "../../events/messages.ts";
import { openStore } from "../../events/open-store.ts";
import { RunCompleted, RunStarted } from "../../events/run.ts";
import type { Store } from "../../events/store.ts";
import { ContentRedacted, ThreadForked, ThreadRewound } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { UnknownThreadError } from "../../projections/lineage.ts";
import { createSnapshots } from "../../projections/snapshots.ts";
import { createStateReader } from "../../projections/state-at.ts";
import { stateHash } from "../../projections/state-hash.ts";
import { allThreads, verifyThread } from "../../projections/verify.ts";
import { appendDrafts } from "./append-drafts.ts";
import { reading, recordFamily, recordTurn } from "./sample-thread.ts";

async function memoryStore(): Promise<Store> {
  const store = await openStore("memory:");
  onTestFinished(() => store.close());
  await recordFamily(store.log);
  return store;
}

/** A store in a file, with a function that changes the file behind the store's back. */
async function fileStore() {
  const folder = await mkdtemp(join(tmpdir(), "verify-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "threads.db");
  const open = async () => {
    const store = await openStore(`sqlite:${path}`);
    onTestFinished(() => store.close());
    return store;
  };
  const change = (sql: string, ...parameters: (string | number | Uint8Array)[]) => {
    const database = new DatabaseSync(path);
    const rows = database.prepare(sql).all(...parameters) as Record<string, unknown>[];
    database.close();
    return rows;
  };
  return { open, change };
}

describe("a thread that holds", () => {
  test("is verified with its parents, its states and its blobs", async () => {
    const store = await memoryStore();
    const { sha256 } = await store.blobs.put("picture", "image/png");
    await appendDrafts(store.log, "child", [
      ImagesViewed({ images: { "/a": { mime_type: "image/png", sha256 } } }),
    ]);
    expect(await verifyThread(store, "child")).toEqual({
      threadId: "child",
      version: 6,
      events: 5 + 6,
      stateHashes: 2,
      uncheckedStates: 0,
      erasedStates: 0,
      unknownFields: [],
      blobs: 1,
      absentBlobs: 0,
      erasedBlobs: 0,
      problems: [],
    });
  });

  test("all threads of a store are listed, page by page", async () => {
    const store = await memoryStore();
    const ids: string[] = [];
    for await (const id of allThreads(store.log)) ids.push(id);
    expect(ids).toEqual(["child", "parent"]);
  });

  test("an unknown thread is not verified", async () => {
    await expect(verifyThread(await memoryStore(), "nobody")).rejects.toThrow(UnknownThreadError);
  });
});

describe("the chain names the first event that was changed", () => {
  test("whatever byte of whatever event flips", async () => {
    const { open, change } = await fileStore();
    const store = await open();
    await recordFamily(store.log);
    await store.close();
    const rows = change(
      "SELECT position, version, data, name FROM events JOIN streams ON streams.id = events.stream",
    );
    expect(rows).toHaveLength(20);
    for (const { position, version, data, name } of rows as {
      position: number;
      version: number;
      data: string;
      name: string;
    }[]) {
      const bytes = Buffer.from(data);
      const at = (position * 7) % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      change("UPDATE events SET data = CAST(? AS TEXT) WHERE position = ?", bytes, position);
      const damaged = await open();
      const { problems } = await verifyThread(damaged, name.replace("thread-", ""));
      await damaged.close();
      expect(problems).toMatchObject([{ check: "chain", stream: name, version }]);
      change("UPDATE events SET data = ? WHERE position = ?", data, position);
    }
    const mended = await open();
    expect((await verifyThread(mended, "child")).problems).toEqual([]);
  });

  test.each([
    ["hash", "UPDATE events SET hash = zeroblob(32) WHERE version = 3 AND stream = 1", 3],
    ["time", "UPDATE events SET at = at + 1 WHERE version = 4 AND stream = 1", 4],
    ["emitter", "UPDATE events SET by = (SELECT max(id) FROM words) WHERE version = 2 AND stream = 1", 2],
    ["gone", "DELETE FROM events WHERE version = 3 AND stream = 1", 3],
  ])("%s", async (_what, sql, version) => {
    const { open, change } = await fileStore();
    const store = await open();
    await recordFamily(store.log);
    await store.close();
    change(sql);
    const damaged = await open();
    for (const thread of ["parent", "child"]) {
      expect((await verifyThread(damaged, thread)).problems).toMatchObject([
        { check: "chain", stream: "thread-parent", version },
      ]);
    }
  });

  test("a fork whose parent has another history is found", async () => {
    const store = await memoryStore();
    const other = await openStore("memory:");
    onTestFinished(() => other.close());
    await recordTurn(other.log, "parent", "x");
    await recordTurn(other.log, "parent", "y");
    const log: typeof store.log = {
      ...store.log,
      read: (stream, options) => (stream === "thread-parent" ? other.log : store.log).read(stream, options),
    };
    expect((await verifyThread({ ...store, log }, "child")).problems).toMatchObject([
      {
        check: "chain",
        stream: "thread-child",
        version: 1,
        message: expect.stringContaining("another history"),
      },
    ]);
  });
});

describe("what follows from the events is verified", () => {
  test("a state hash that no fold gives", async () => {
    const store = await memoryStore();
    await appendDrafts(store.log, "child", [
      RunStarted({ runId: "bad", owner: "test" }),
      RunCompleted({ runId: "bad", stateHash: "f".repeat(64) }),
      TitleSet({ title: "later", origin: "user" }),
    ]);
    const { problems } = await verifyThread(store, "child");
    expect(problems).toMatchObject([{ check: "fold", stream: "thread-child", version: 7 }]);
    expect((await verifyThread(store, "child", { checks: ["chain"] })).problems).toEqual([]);
  });

  test("a state hash in a branch that a rewind abandoned", async () => {
    const store = await memoryStore();
    await appendDrafts(store.log, "child", [
      RunStarted({ runId: "bad", owner: "test" }),
      RunCompleted({ runId: "bad", stateHash: "f".repeat(64) }),
      ThreadRewound({ toVersion: 5 }),
    ]);
    const { problems, stateHashes } = await verifyThread(store, "child");
    expect(problems).toMatchObject([{ check: "fold", stream: "thread-child", version: 7 }]);
    expect(stateHashes).toBe(3);
  });

  test("a state hash covers the fields of the agent that recorded it", async () => {
    const store = await memoryStore();
    const end = (stateFields: string[], state: object) =>
      RunCompleted({ runId: "r", stateHash: stateHash(state as never), stateFields });
    const messages = (await createStateReader({ ...store, ...reading }).stateAt("parent")).messages;
    // The thread has a title, but the agent of this run had no such field.
    await appendDrafts(store.log, "parent", [end(["messages"], { messages })]);
    expect(await verifyThread(store, "parent")).toMatchObject({ problems: [], uncheckedStates: 0 });
    await appendDrafts(store.log, "parent", [end(["messages", "mood"], { messages, mood: "good" })]);
    expect(await verifyThread(store, "parent")).toMatchObject({
      problems: [],
      uncheckedStates: 1,
      unknownFields: ["mood"],
    });
    await appendDrafts(store.log, "parent", [end(["messages", "title"], { messages })]);
    expect((await verifyThread(store, "parent")).problems).toMatchObject([{ check: "fold", version: 18 }]);
  });

  test("an event that does not fold", async () => {
    const store = await memoryStore();
    await appendDrafts(store.log, "child", [
      MessagesReplaced({ messages: [{ id: "nobody", type: "human", content: "" }] }),
    ]);
    expect((await verifyThread(store, "child")).problems).toMatchObject([
      { check: "fold", version: 6, message: expect.stringContaining("nobody") },
    ]);
  });

  test("a history that cannot be followed to its beginning", async () => {
    const store = await memoryStore();
    await appendDrafts(store.log, "ring", [ThreadForked({ parentThreadId: "ring", parentVersion: 1 })]);
    expect((await verifyThread(store, "ring")).problems).toMatchObject([
      { check: "chain", stream: "thread-ring", message: expect.stringContaining("cannot be followed") },
    ]);
    await appendDrafts(store.log, "orphan", [ThreadForked({ parentThreadId: "gone", parentVersion: 1 })]);
    expect((await verifyThread(store, "orphan")).problems).toMatchObject([{ check: "chain" }]);
  });

  test("a blob that is missing; not when the thread was redacted", async () => {
    const store = await memoryStore();
    const images = { "/a": { mime_type: "image/png", sha256: "a".repeat(64) } };
    await appendDrafts(store.log, "child", [ImagesViewed({ images })]);
    expect((await verifyThread(store, "child")).problems).toMatchObject([{ check: "blobs", version: 6 }]);
    expect((await verifyThread(store, "child", { checks: ["chain", "fold"] })).problems).toEqual([]);
    await appendDrafts(store.log, "child", [ContentRedacted({ rule: "images", versions: [6] })]);
    expect(await verifyThread(store, "child")).toMatchObject({ problems: [], erasedBlobs: 1 });
  });

  test("a snapshot that holds another state", async () => {
    const store = await memoryStore();
    const { description } = reading.reducer;
    const snapshots = createSnapshots({ log: store.log, side: store.side, description });
    const fields = { ...reading.reducer.initial, title: "forged" };
    snapshots.write({ stream: "thread-parent", version: 15 }, { fields, messagesFrom: undefined });
    await snapshots.settled();
    expect((await verifyThread(store, "parent")).problems).toMatchObject([
      { check: "snapshots", stream: "thread-parent", version: 15 },
    ]);
    expect((await verifyThread(store, "parent", { checks: ["chain", "fold", "blobs"] })).problems).toEqual(
      [],
    );
  });
});
