import type { BlobStore } from "../../events/blobs/blob-store.ts";

/**
 * Digests of the texts that an event of the thread names, by the text. Only such a text is known to be there still: a
 * blob that other threads named goes when they are erased, also by another process.
 */
export type NamedTexts = ReadonlyMap<string, string>;

/** Prompts, schemas and edits that one model call names. */
export interface CallTexts {
  /** Digest of a text that is in the blob store now. What the call before named is not put again. */
  put(text: string, mimeType: string): Promise<string>;
  /** What was put: known to be there once the event that names it is recorded. */
  readonly named: NamedTexts;
}

/** @param before what the recorded call before named */
export function createCallTexts(blobs: BlobStore, before: NamedTexts | undefined): CallTexts {
  const named = new Map<string, string>();
  return {
    named,
    async put(text, mimeType) {
      const sha256 = before?.get(text) ?? (await blobs.put(text, mimeType)).sha256;
      named.set(text, sha256);
      return sha256;
    },
  };
}
