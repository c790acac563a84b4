import { sha256 as digest } from "../hash-chain.ts";
import { BlobMissingError, type BlobStore, needsRefresh } from "./blob-store.ts";

/** A blob store in memory. */
export function createMemoryBlobs(): BlobStore {
  const blobs = new Map<string, { bytes: Uint8Array; writtenAt: string }>();
  return {
    async put(content, mimeType) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content.slice();
      const sha256 = digest(bytes);
      const before = blobs.get(sha256);
      if (!before || needsRefresh(new Date(before.writtenAt)))
        blobs.set(sha256, { bytes, writtenAt: new Date().toISOString() });
      return { sha256, mimeType, size: bytes.length };
    },
    async get(sha256) {
      const blob = blobs.get(sha256);
      if (!blob) throw new BlobMissingError(sha256);
      return blob.bytes.slice();
    },
    has: async (sha256) => blobs.has(sha256),
    async delete(sha256, { writtenBefore } = {}) {
      const blob = blobs.get(sha256);
      if (blob && writtenBefore !== undefined && blob.writtenAt >= writtenBefore) return false;
      blobs.delete(sha256);
      return true;
    },
    async *list() {
      for (const [sha256, { bytes, writtenAt }] of [...blobs])
        yield { sha256, size: bytes.length, writtenAt };
    },
  };
}
