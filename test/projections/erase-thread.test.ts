import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import { findBrokenLink } from "../../events/hash-chain.ts";
import { ImagesViewed } from "../../events/images.ts";
import { createFileKeyStore } from "../../events/keys/files.ts";
import { createMemoryKeyStore } from "../../events/keys/memory.ts";
import { blobsOfThread, type EncryptedStore, withEncryption } from "../../events/keys/with-encryption.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { ModelResponded } from "../../events/model.ts";
import { openStore } from "../../events/open-store.ts";
import { RunInterrupted, RunStarted } from "../../events/run.ts";
import { ThreadForked } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { TodosWritten } from "../../events/todos.ts";
import { ToolCallCompleted } from "../../events/tool.ts";
import { builtInProjections } from "../../projections/built-in.ts";
import {
  deleteThread,
  eraseThread,
  ThreadHasChildrenError,
  ThreadNotEncryptedError,
} from "../../projections/erase-thread.ts";
import { openProjectionStore, openProjections } from "../../projections/open-projections.ts";
import { createSnapshots } from "../../projections/snapshots.ts";
import { createStateReader } from "../../projections/state-at.ts";
import { importThreadState, ThreadDiffersError } from "../../projections/thread-import.ts";
import { threadList } from "../../projections/thread-list.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { appendDrafts } from "./append-drafts.ts";
import { readThread } from "./read-thread.ts";

/** Content of the thread that is erased; no byte of it may stay. */
const secret = "Vermilion Chinchilla";
const chinese = "绝密档案";
const image = Buffer.from(`PNG${secret}`);
/** Content of another thread, which stays. */
const harmless = "Ordinary Sparrow";

let root: string;
let store: EncryptedStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "threadfold-erase-"));
  const plain = await openStore(`sqlite:${join(root, "data", "threads.db")}`);
  store = withEncryption(plain, createFileKeyStore(join(root, "keys")));
});
afterEach(async () => {
  await store.close().catch(() => undefined);
  await rm(root, { recursive: true, force: true });
});

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
/** Files of the store that hold a text, in UTF-8, UTF-16, base64 or JSON escapes. */
async function filesWith(text: string): Promise<string[]> {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].map((shift) => {
    // Whatever stands before it, its middle looks like one of three in base64.
    const padded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
    return Buffer.from(padded.slice(4, -4));
  });
  const escaped = Buffer.from(
    [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  );
  const forms = [bytes, Buffer.from(text, "utf16le"), escaped, ...base64];
  const found: string[] = [];
  for (const path of await filesIn(root)) {
    // Files beside a database come and go.
    const content = await readFile(path).catch(() => Buffer.alloc(0));
    if (forms.some((form) => content.includes(form))) found.push(path);
  }
  return found;
}

test("the threads of sub-agents go with the thread that asked them, whether erased or deleted", async () => {
  const start = (runId: string, threadId?: string) =>
    RunStarted({
      runId,
      owner: "o",
      ...(threadId !== undefined && { parent: { threadId, runId: "r", callId: "c" } }),
    });
  const say = (id: string) =>
    MessagesAdded({ messages: [{ id, type: "human", content: `${secret} ${chinese}` }] });
  for (const top of ["p", "q"]) {
    await appendDrafts(store.log, top, [start(`${top}-r`), say(`${top}-m`)]);
    await appendDrafts(store.log, `${top}-sub`, [start(`${top}-s`, top), say(`${top}-n`)]);
    await appendDrafts(store.log, `${top}-subsub`, [start(`${top}-t`, `${top}-sub`), say(`${top}-o`)]);
  }
  const foldersOf = (id: string) => [join(root, "folders", id)];
  await mkdir(join(root, "folders", "p-sub"), { recursive: true });
  await writeFile(join(root, "folders", "p-sub", "note.txt"), secret);
  const erased = await eraseThread(store, "p", { foldersOf });
  expect([...erased.delegated].sort()).toEqual(["p-sub", "p-subsub"]);
  for (const id of ["p", "p-sub", "p-subsub"]) {
    expect(JSON.stringify(await readThread(store.log, id))).not.toContain(secret);
  }
  expect(await readdir(join(root, "folders"))).toEqual([]);
  expect(JSON.stringify(await readThread(store.log, "q-sub"))).toContain(secret);
  await deleteThread(store, "q");
  for (const id of ["q", "q-sub", "q-subsub"])
    expect(await store.log.head(`thread-${id}`)).toMatchObject({ deleted: true });
});

test("an imported LangGraph thread is encrypted like any other, and can be erased", async () => {
  const long = `${secret} `.repeat(20_000);
  const messages = [
    { type: "human", id: "m1", content: `What of the ${secret}?` },
    { type: "ai", id: "m2", content: long },
  ];
  const document = { values: { messages, title: chinese }, config: { configurable: { thread_id: "old" } } };
  const { threadId, added } = await importThreadState(store, document);
  expect(added).toBeGreaterThan(0);
  expect(await filesWith(secret)).toEqual([]);
  expect(await filesWith(chinese)).toEqual([]);
  expect(await importThreadState(store, document)).toMatchObject({ threadId, added: 0 });
  const other = { ...document, values: { messages, title: "Another title" } };
  await expect(importThreadState(store, other)).rejects.toThrow(ThreadDiffersError);
  const { log, side } = store;
  const reducer = createThreadReducer({ openFields: true });
  const reader = createStateReader({ log, side, reducer, registry: createEventRegistry() });
  expect((await reader.stateAt(threadId)).title).toBe(chinese);
  await reader.settled();

  await eraseThread(store, threadId);
  await expect(importThreadState(store, document)).rejects.toThrow();
});

async function recordThread(threadId: string, text: string) {
  const blobs = blobsOfThread(store, threadId);
  const { sha256, size } = await blobs.put(image, "image/png");
  const human = { id: "h", type: "human", content: `${text} ${chinese}` };
  const call = { id: "c1", name: "bash", args: { command: `echo ${text}` } };
  const ai = { id: "a", type: "ai", content: text, tool_calls: [call] };
  const tool = { id: "t", type: "tool", content: text, tool_call_id: "c1", name: "bash" };
  return appendDrafts(store.log, threadId, [
    RunStarted({ runId: "r", owner: "me" }),
    MessagesAdded({ messages: [human] }),
    ModelResponded({ callId: "m", message: ai, latencyMs: 1 }),
    ToolCallCompleted({ callId: "c1", message: tool, durationMs: 1 }),
    TitleSet({ title: text, origin: "user" }),
    TodosWritten({ todos: [{ content: text, status: "pending" }] }),
    ArtifactsPresented({ paths: [`/mnt/user-data/outputs/${text}.md`] }),
    ImagesViewed({ images: { [`/mnt/${text}.png`]: { mime_type: "image/png", size, sha256 } } }),
    RunInterrupted({ runId: "r", interrupts: [{ id: "i", kind: "question", value: text }] }),
  ]);
}

async function snapshotOf(threadId: string, version: number, text: string) {
  const { log, side } = store;
  const snapshots = createSnapshots({ log, side, description: "test" });
  snapshots.write(
    { stream: `thread-${threadId}`, version },
    { fields: { title: text }, messagesFrom: undefined },
  );
  await snapshots.settled();
  const segment = { stream: `thread-${threadId}`, from: 1, to: version };
  return snapshots.nearest([segment]);
}

describe("after a thread is erased", () => {
  test("no byte of its content is in any file of the store, the write-ahead logs included", async () => {
    const events = await recordThread("gone", secret);
    await recordThread("kept", harmless);
    expect((await snapshotOf("gone", 5, secret))?.fields).toEqual({ title: secret });
    const projections = await openProjections(store, { pollMs: 5 });
    const last = (await recordThread("kept-too", harmless)).at(-1);
    await projections.whenCaughtUp(last?.position ?? "");
    const folder = join(store.folder, "threads", "gone");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "notes.txt"), secret);
    // Rows of projections and the thread's own files are plain; log, blobs and snapshots never were.
    expect((await filesWith(secret)).every((path) => /projections\.db|notes\.txt/.test(path))).toBe(true);
    expect(await filesWith(secret)).not.toHaveLength(0);

    const erased = await eraseThread(store, "gone", {
      reason: "asked for",
      projections: { store: projections.rows, projections: builtInProjections },
      folders: [folder],
    });
    expect(erased).toMatchObject({ version: events.length + 1, blobs: 1, dropped: [] });
    expect(erased.updated).toHaveLength(builtInProjections.length);
    expect(await filesWith(secret)).toEqual([]);
    expect(await filesWith(chinese)).toEqual([]);
    expect(await snapshotOf("gone", 5, "x")).toBeUndefined();

    await projections.close();
    await store.close();
    expect(await filesWith(secret)).toEqual([]);
    // The scan itself finds what is there.
    expect(await filesWith(harmless)).toEqual([expect.stringContaining("projections.db")]);
  });

  test("its events keep their places, ids and kinds, and fold to a state without content", async () => {
    await recordThread("gone", secret);
    await eraseThread(store, "gone");
    const events = await readThread(store.log, "gone");
    const state = createThreadReducer().fold(events);
    expect(state.messages).toEqual([
      { id: "h", type: "human", content: "" },
      {
        id: "a",
        type: "ai",
        content: "",
        tool_calls: [{ id: "c1", name: "bash", type: "tool_call", args: {} }],
      },
      { id: "t", type: "tool", content: "", tool_call_id: "c1" },
    ]);
    expect(state).toMatchObject({ title: "", todos: [], artifacts: [] });
    expect(events[4]?.data).toEqual({ title: "", origin: "user", $erased: ["title"] });
    expect(JSON.stringify(events)).not.toContain(secret);
  });

  test("its chain verifies, and the erasure is an event of it", async () => {
    await recordThread("gone", secret);
    await eraseThread(store, "gone", { reason: "asked for", by: "client" });
    const stored = await readThread(store.stored.log, "gone");
    expect(findBrokenLink(stored)).toBeUndefined();
    expect(stored.at(-1)).toMatchObject({
      type: "ThreadErased",
      data: { reason: "asked for" },
      metadata: { by: "client" },
    });
  });

  test("erasing again finishes the work and records nothing new", async () => {
    await recordThread("gone", secret);
    const first = await eraseThread(store, "gone");
    expect(await eraseThread(store, "gone")).toMatchObject({ version: first.version, blobs: 0 });
  });

  test("states that a reader had in memory are gone, those of its forks included", async () => {
    await recordThread("gone", secret);
    await appendDrafts(store.log, "child", [ThreadForked({ parentThreadId: "gone", parentVersion: 5 })]);
    const { log, side } = store;
    const reader = createStateReader({
      log,
      side,
      reducer: createThreadReducer(),
      registry: createEventRegistry(),
    });
    for (const id of ["gone", "child"]) expect(JSON.stringify(await reader.stateAt(id))).toContain(secret);
    await eraseThread(store, "gone", { children: "keep" });
    for (const id of ["gone", "child"])
      expect(JSON.stringify(await reader.stateAt(id))).not.toContain(secret);
    expect(JSON.stringify(await reader.stateAt("gone", 5))).not.toContain(secret);
    await reader.settled();
  });

  test("an image that another thread shows stays there", async () => {
    await recordThread("gone", secret);
    const { sha256 } = await store.blobs.put("shared prompt", "text/plain");
    const shared = ImagesViewed({ images: { "/mnt/x.png": { mime_type: "image/png", sha256 } } });
    for (const id of ["gone", "kept"]) await appendDrafts(store.log, id, [shared]);
    await eraseThread(store, "gone");
    expect(Buffer.from(await store.blobs.get(sha256)).toString()).toBe("shared prompt");
  });
});

describe("projections that cannot forget by themselves", () => {
  test("are dropped and named: rows of unknown code, and rebuilds that were left behind", async () => {
    await recordThread("gone", secret);
    const rows = await openProjectionStore(store);
    const row = { key: "k", value: secret, order: "", search: "" };
    await rows.open({ name: "unknown", version: 1, rows: [row] });
    await rows.build({ name: "thread-list", version: 1, rows: [row] });
    const { dropped } = await eraseThread(store, "gone", {
      projections: { store: rows, projections: builtInProjections },
    });
    expect([...dropped].sort()).toEqual(["thread-list@1/1", "unknown@1/1"]);
    expect(await filesWith(secret)).toEqual([]);
    await rows.close();
  });
});

describe("a thread is not erased", () => {
  test("when other threads stand on its history, unless they may lose what they inherited", async () => {
    await recordThread("gone", secret);
    await appendDrafts(store.log, "child", [ThreadForked({ parentThreadId: "gone", parentVersion: 5 })]);
    await expect(eraseThread(store, "gone")).rejects.toThrow(ThreadHasChildrenError);
    expect(JSON.stringify(await readThread(store.log, "gone"))).toContain(secret);
    await snapshotOf("child", 1, secret);
    await eraseThread(store, "gone", { children: "keep" });
    expect(await snapshotOf("child", 1, "x")).toMatchObject({ fields: { title: "x" } });
    expect(JSON.stringify(await readThread(store.log, "gone"))).not.toContain(secret);
  });

  test("when its content lies in plain text, and nothing is written", async () => {
    await appendDrafts(store.stored.log, "plain", [TitleSet({ title: secret, origin: "user" })]);
    await expect(eraseThread(store, "plain")).rejects.toThrow(ThreadNotEncryptedError);
    await expect(eraseThread(store.stored, "plain")).rejects.toThrow(/is kept in plain text \(version 1\)/);
    expect(await readThread(store.log, "plain")).toHaveLength(1);
  });

  test("when the registry knows content that the one which recorded it did not", async () => {
    const blind = withEncryption(store.stored, createMemoryKeyStore(), {
      registry: { ...createEventRegistry(), get: () => undefined },
    });
    await appendDrafts(blind.log, "plain", [TitleSet({ title: secret, origin: "user" })]);
    await expect(eraseThread(store, "plain")).rejects.toThrow(ThreadNotEncryptedError);
  });
});

describe("deleting a thread", () => {
  test("takes its events, blobs and rows away, in plain text, too", async () => {
    await appendDrafts(store.stored.log, "plain", [TitleSet({ title: secret, origin: "user" })]);
    const rows = await openProjectionStore(store);
    const { version } = await deleteThread(store.stored, "plain", {
      projections: { store: rows, projections: builtInProjections },
    });
    expect(version).toBe(2);
    expect(await readThread(store.log, "plain")).toEqual([]);
    expect(await store.log.head("thread-plain")).toMatchObject({ deleted: true });
    await rows.close();
  });

  test("removes it from the list of threads", async () => {
    await recordThread("gone", secret);
    const projections = await openProjections(store, { projections: [threadList], pollMs: 5 });
    await projections.whenCaughtUp((await recordThread("kept", harmless)).at(-1)?.position ?? "");
    await deleteThread(store, "gone", {
      projections: { store: projections.rows, projections: [threadList] },
    });
    expect((await projections.view(threadList).list()).map(({ key }) => key)).toEqual(["kept"]);
    await projections.close();
  });

  test("is refused while forks stand on its history", async () => {
    await recordThread("gone", secret);
    await appendDrafts(store.log, "child", [ThreadForked({ parentThreadId: "gone", parentVersion: 5 })]);
    await expect(deleteThread(store, "gone")).rejects.toThrow(/child/);
    await deleteThread(store, "child");
    await deleteThread(store, "gone");
    expect(await store.log.streams()).toEqual([]);
  });
});
