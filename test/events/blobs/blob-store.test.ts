import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BlobDamagedError, type BlobStore } from "../../../events/blobs/blob-store.ts";
import { createFileBlobs } from "../../../events/blobs/files.ts";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import { describeBlobStore } from "./blob-store.contract.ts";

describeBlobStore("memory", async () => ({ blobs: createMemoryBlobs(), dispose: async () => {} }));

describeBlobStore("files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-blobs-"));
  const dispose = () => rm(folder, { recursive: true });
  return { blobs: createFileBlobs(join(folder, "blobs")), dispose };
});

describe("blobs in files", () => {
  let folder: string;
  let blobs: BlobStore;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "threadfold-blobs-"));
    blobs = createFileBlobs(folder);
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it("lie under the first two digits of their digest, as they are", async () => {
    const { sha256 } = await blobs.put("plain bytes", "text/plain");
    expect(await readFile(join(folder, sha256.slice(0, 2), sha256), "utf8")).toBe("plain bytes");
  });

  it("are verified whenever they are read", async () => {
    const { sha256 } = await blobs.put("what was seen", "text/plain");
    await writeFile(join(folder, sha256.slice(0, 2), sha256), "what was seeN");
    await expect(blobs.get(sha256)).rejects.toThrow(BlobDamagedError);
  });

  it("leave nothing beside them: neither after a write nor when one failed", async () => {
    const { sha256 } = await blobs.put("whole", "text/plain");
    expect(await readdir(join(folder, sha256.slice(0, 2)))).toEqual([sha256]);
    const { sha256: other } = await createMemoryBlobs().put("blocked", "text/plain");
    // A file where the folder must be.
    await writeFile(join(folder, other.slice(0, 2)), "");
    await expect(blobs.put("blocked", "text/plain")).rejects.toThrow();
    expect((await readdir(folder)).sort()).toEqual([sha256.slice(0, 2), other.slice(0, 2)].sort());
  });

  it("are listed without what a killed writer left", async () => {
    const { sha256 } = await blobs.put("whole", "text/plain");
    await writeFile(join(folder, sha256.slice(0, 2), `.${sha256}.left-behind`), "wh");
    const listed = [];
    for await (const blob of blobs.list()) listed.push(blob.sha256);
    expect(listed).toEqual([sha256]);
  });

  it("are shared by all who open the folder", async () => {
    const { sha256 } = await blobs.put("shared", "text/plain");
    expect(await createFileBlobs(folder).has(sha256)).toBe(true);
  });
});
