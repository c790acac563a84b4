import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ImagesViewed } from "../../events/images.ts";
import { createMemoryKeyStore } from "../../events/keys/memory.ts";
import { blobsOfThread, withEncryption } from "../../events/keys/with-encryption.ts";
import { StreamDeletedError } from "../../events/log/event-log.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { ThreadForked } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { ArchiveDiffersError, archiveThread, restoreThread } from "../../projections/archive.ts";
import { eraseThread, ThreadHasChildrenError } from "../../projections/erase-thread.ts";
import { DamagedArchiveError } from "../../projections/line-files.ts";
import { UnknownThreadError } from "../../projections/lineage.ts";
import { BrokenExportError } from "../../projections/read-export.ts";
import { appendDrafts } from "./append-drafts.ts";
import { readThread } from "./read-thread.ts";

let folder: string;
let file: string;
let store: Store;
let sha256: string;
const opened: Store[] = [];
async function open(): Promise<Store> {
  const made = await openStore("memory:");
  opened.push(made);
  return made;
}
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-archive-"));
  file = join(folder, "deep", "t.ndjson.gz");
  store = await open();
  sha256 = await record(store);
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await rm(folder, { recursive: true, force: true });
});

async function record(target: Store) {
  const picture = await blobsOfThread(target, "t").put("picture", "image/png");
  await appendDrafts(target.log, "t", [
    TitleSet({ title: "the secret", origin: "user" }),
    ImagesViewed({
      images: { "/mnt/a.png": { mime_type: "image/png", size: picture.size, sha256: picture.sha256 } },
    }),
  ]);
  return picture.sha256;
}
const typesOf = async (from: Store) => (await readThread(from.log, "t")).map(({ type }) => type);

/** The store, with a title set by somebody else right before an append of a type. */
function disturbed(type: string): Store {
  const { log } = store;
  let isOver = false;
  const setTitle = () => appendDrafts(log, "t", [TitleSet({ title: "meanwhile", origin: "user" })]);
  const disturbing: Store["log"] = {
    ...log,
    async append(stream, events, options) {
      const isNow = !isOver && type === "before" && events.some((event) => event.type === "ThreadArchived");
      isOver ||= isNow;
      if (isNow) await setTitle();
      return log.append(stream, events, options);
    },
    async erase(stream, options) {
      if (type === "after") await setTitle();
      return log.erase(stream, options);
    },
  };
  return { ...store, log: disturbing };
}

describe("archiving", () => {
  test.each(["before", "after"])(
    "loses nothing that is recorded while it goes on: %s the mark of the archive",
    async (when) => {
      const archiving = archiveThread(disturbed(when), "t", { file, remove: true });
      await expect(archiving).rejects.toThrow(ArchiveDiffersError);
      await expect(archiving).rejects.toThrow("archive it again");
      expect(await typesOf(store)).toContain("TitleSet");
      const events = await readThread(store.log, "t");
      expect(events.some(({ data }) => (data as { title?: string }).title === "meanwhile")).toBe(true);
      expect(await archiveThread(store, "t", { file, remove: true })).toMatchObject({ removed: true });
    },
  );

  test("writes the thread with its blobs to a file for its owner, and records it", async () => {
    const result = await archiveThread(store, "t", { file, reason: "old", by: "client" });
    expect(result).toEqual({ threadId: "t", file, events: 2, version: 3, removed: false });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const lines = gunzipSync(await readFile(file))
      .toString()
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(4);
    expect(lines[1]).toContain("the secret");
    expect((await readThread(store.log, "t")).at(-1)).toMatchObject({
      type: "ThreadArchived",
      data: { archive: "t.ndjson.gz", reason: "old" },
      metadata: { by: "client" },
    });
  });

  test("can take the events out of the log, but not from under a fork", async () => {
    await appendDrafts(store.log, "child", [ThreadForked({ parentThreadId: "t", parentVersion: 1 })]);
    await expect(archiveThread(store, "t", { file, remove: true })).rejects.toThrow(ThreadHasChildrenError);
    await store.log.erase("thread-child");
    expect(await archiveThread(store, "t", { file, remove: true })).toMatchObject({ removed: true });
    expect(await readThread(store.log, "t")).toEqual([]);
  });

  test("of a thread that is not there writes nothing", async () => {
    await expect(archiveThread(store, "nobody", { file })).rejects.toThrow(UnknownThreadError);
    await expect(stat(file)).rejects.toThrow();
  });
});

describe("restoring", () => {
  test("takes an archived thread back into use", async () => {
    await archiveThread(store, "t", { file });
    expect(await restoreThread(store, file)).toEqual([{ threadId: "t", version: 4, added: 0 }]);
    expect(await typesOf(store)).toEqual(["TitleSet", "ImagesViewed", "ThreadArchived", "ThreadRestored"]);
  });

  test("puts a removed thread into another store exactly as it was, blobs included", async () => {
    const before = await readThread(store.log, "t");
    await archiveThread(store, "t", { file, remove: true });
    await expect(restoreThread(store, file)).rejects.toThrow(StreamDeletedError);
    const other = await open();
    expect(await restoreThread(other, file, { by: "client" })).toEqual([
      { threadId: "t", version: 3, added: 2 },
    ]);
    const after = await readThread(other.log, "t");
    expect(after.slice(0, 2).map(({ id, metadata }) => [id, metadata.hash])).toEqual(
      before.map(({ id, metadata }) => [id, metadata.hash]),
    );
    expect(after[2]?.metadata.by).toBe("client");
    expect(Buffer.from(await other.blobs.get(sha256)).toString()).toBe("picture");
  });

  test("refuses a file that was changed", async () => {
    await archiveThread(store, "t", { file });
    const text = gunzipSync(await readFile(file))
      .toString()
      .replace("the secret", "the forgery");
    await writeFile(file, gzipSync(text));
    await expect(restoreThread(store, file)).rejects.toThrow(BrokenExportError);
    for (const bytes of [gzipSync("{}".repeat(100)).subarray(0, 20), Buffer.from("no gzip")]) {
      await writeFile(file, bytes);
      const refused = restoreThread(store, file);
      await expect(refused).rejects.toThrow(DamagedArchiveError);
      await expect(refused).rejects.toThrow("cut short, or no gzip file");
    }
    expect(await typesOf(store)).not.toContain("ThreadRestored");
  });
});

test("a thread can be archived after it was erased: its blobs are gone with its content", async () => {
  const encrypted = withEncryption(await open(), createMemoryKeyStore());
  await record(encrypted);
  await eraseThread(encrypted, "t");
  expect(await archiveThread(encrypted, "t", { file })).toMatchObject({ events: 3 });
  expect(await restoreThread(await open(), file)).toMatchObject([{ added: 3 }]);
});

test("the archive of an encrypted thread is ciphertext: it is restored with its key, and dies with it", async () => {
  const keys = createMemoryKeyStore();
  const encrypted = withEncryption(await open(), keys);
  const picture = await record(encrypted);
  await archiveThread(encrypted, "t", { file, remove: true });
  expect(gunzipSync(await readFile(file)).toString()).not.toContain("the secret");
  const other = withEncryption(await open(), keys);
  await restoreThread(other, file);
  expect((await readThread(other.log, "t"))[0]?.data).toMatchObject({ title: "the secret" });
  expect(Buffer.from(await other.blobs.get(picture)).toString()).toBe("picture");
  await other.keys.destroy("thread-t");
  expect((await readThread(other.log, "t"))[0]?.data).toMatchObject({ title: "" });
});
