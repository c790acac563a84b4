import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BlobMissingError, type BlobStore } from "../../../events/blobs/blob-store.ts";
import { sha256 } from "../../../events/hash-chain.ts";

/** What every blob store must do. */
export function describeBlobStore(
  name: string,
  open: () => Promise<{ readonly blobs: BlobStore; dispose(): Promise<void> }>,
): void {
  describe(`blob store: ${name}`, () => {
    let blobs: BlobStore;
    let dispose: () => Promise<void>;
    beforeEach(async () => {
      ({ blobs, dispose } = await open());
    });
    afterEach(async () => {
      await dispose();
    });
    const listed = async () => {
      const found = [];
      for await (const blob of blobs.list()) found.push(blob);
      return found;
    };

    it("gives bytes back by their digest", async () => {
      const bytes = new Uint8Array(randomBytes(300_000));
      const reference = await blobs.put(bytes, "image/png");
      expect(reference).toEqual({ sha256: sha256(bytes), mimeType: "image/png", size: 300_000 });
      expect(await blobs.get(reference.sha256)).toEqual(bytes);
      expect(await blobs.has(reference.sha256)).toBe(true);
    });

    it("stores a text as UTF-8, and nothing at all", async () => {
      const { sha256: digest, size } = await blobs.put("日本語", "text/plain");
      expect(size).toBe(9);
      expect(new TextDecoder().decode(await blobs.get(digest))).toBe("日本語");
      expect(await blobs.get((await blobs.put("", "text/plain")).sha256)).toEqual(new Uint8Array());
    });

    it("stores the same bytes once, also from many writers at the same time", async () => {
      const references = await Promise.all(
        Array.from({ length: 20 }, () => blobs.put("the same", "text/plain")),
      );
      expect(new Set(references.map((reference) => reference.sha256)).size).toBe(1);
      expect(await listed()).toHaveLength(1);
    });

    it("lists digests with size and time", async () => {
      expect(await listed()).toEqual([]);
      const before = Date.now() - 2000;
      await blobs.put("one", "text/plain");
      await blobs.put("three", "text/plain");
      const found = await listed();
      expect(found.map(({ sha256: digest, size }) => [digest, size]).sort()).toEqual(
        [
          [sha256("one"), 3],
          [sha256("three"), 5],
        ].sort(),
      );
      for (const { writtenAt } of found) {
        expect(new Date(writtenAt).toISOString()).toBe(writtenAt);
        expect(Date.parse(writtenAt)).toBeGreaterThan(before);
      }
    });

    it("deletes, and then says that the blob is missing", async () => {
      const { sha256: digest } = await blobs.put("to be erased", "text/plain");
      await blobs.delete(digest);
      await blobs.delete(digest);
      expect(await blobs.has(digest)).toBe(false);
      await expect(blobs.get(digest)).rejects.toThrow(BlobMissingError);
      expect(await listed()).toEqual([]);
    });

    it("deletes only what was put before a time, when one is given", async () => {
      const { sha256: digest } = await blobs.put("put since", "text/plain");
      const at = (ms: number) => new Date(Date.now() + ms).toISOString();
      expect(await blobs.delete(digest, { writtenBefore: at(-60_000) })).toBe(false);
      expect(new TextDecoder().decode(await blobs.get(digest))).toBe("put since");
      expect(await blobs.delete(digest, { writtenBefore: at(60_000) })).toBe(true);
      expect(await blobs.has(digest)).toBe(false);
      expect(await blobs.delete(digest, { writtenBefore: at(60_000) })).toBe(true);
      await blobs.put("put since", "text/plain");
      expect(await blobs.has(digest)).toBe(true);
    });

    it.each(["", "abc", "../../etc/passwd", "A".repeat(64)])(
      "has nothing under a name that is no digest: %j",
      async (bad) => {
        expect(await blobs.has(bad)).toBe(false);
        await expect(blobs.get(bad)).rejects.toMatchObject({ name: "BlobMissingError", sha256: bad });
      },
    );

    it("does not change with the bytes that it was given or that it gave", async () => {
      const bytes = new Uint8Array([1, 2, 3]);
      const { sha256: digest } = await blobs.put(bytes, "application/octet-stream");
      bytes[0] = 9;
      const read = await blobs.get(digest);
      read[1] = 9;
      expect(await blobs.get(digest)).toEqual(new Uint8Array([1, 2, 3]));
    });
  });
}
