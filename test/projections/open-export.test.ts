import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openExport, ReadOnlyStoreError } from "../../projections/open-export.ts";
import { BrokenExportError } from "../../projections/read-export.ts";

const file = fileURLToPath(new URL("../histories/0.1.0/images.ndjson", import.meta.url));
const langGraph = fileURLToPath(new URL("../fixtures/threads/tea-shop-zh.json", import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "open-export-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("openExport", () => {
  test("gives a store that reads threads and blobs and refuses to be written", async () => {
    const store = await openExport(file);
    expect(store.threadIds).toEqual(["images"]);
    const { version } = await store.log.head("thread-images");
    expect(version).toBeGreaterThan(10);
    await expect(store.log.append("thread-x", [], { expectedVersion: "any" })).rejects.toThrow(
      ReadOnlyStoreError,
    );
    await expect(store.log.erase("thread-images")).rejects.toThrow(ReadOnlyStoreError);
    await expect(store.blobs.put("x", "text/plain")).rejects.toThrow(ReadOnlyStoreError);
    await expect(store.blobs.delete("x")).rejects.toThrow(ReadOnlyStoreError);
    const blobs: string[] = [];
    for await (const { sha256 } of store.blobs.list()) blobs.push(sha256);
    expect(blobs.length).toBeGreaterThan(0);
    await store.close();
  });

  test("reads what is compressed, and a LangGraph thread", async () => {
    const path = join(folder, "images.ndjson.gz");
    await writeFile(path, gzipSync(await readFile(file)));
    const packed = await openExport(path);
    expect(packed.threadIds).toEqual(["images"]);
    const imported = await openExport(langGraph);
    expect(imported.threadIds).toHaveLength(1);
  });

  test("a file that was changed is refused; one that is not there, too", async () => {
    const path = join(folder, "changed.ndjson");
    await writeFile(path, (await readFile(file, "utf8")).replace("What is on it?", "What is in it?"));
    await expect(openExport(path)).rejects.toThrow(BrokenExportError);
    await expect(openExport(join(folder, "nothing.ndjson"))).rejects.toThrow("ENOENT");
    await expect(openExport(join(folder, "nothing.ndjson.gz"))).rejects.toThrow("ENOENT");
  });
});
