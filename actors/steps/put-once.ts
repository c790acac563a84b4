import type { BlobStore } from "../../events/blobs/blob-store.ts";

/** Digests of texts that a store has, by the text: prompts and schemas are few and come back with each call. */
const known = new WeakMap<BlobStore, Map<string, string>>();
/** Texts that are remembered for one store. */
const maxKnown = 64;

/** Puts a text into the blob store unless it is known to be there, and gives the digest that the store has it under. */
export async function putOnce(text: string, mimeType: string, blobs: BlobStore): Promise<string> {
  const texts = known.get(blobs) ?? new Map<string, string>();
  known.set(blobs, texts);
  const before = texts.get(text);
  if (before !== undefined) return before;
  const { sha256 } = await blobs.put(text, mimeType);
  const oldest = texts.keys().next();
  if (texts.size >= maxKnown && !oldest.done) texts.delete(oldest.value);
  texts.set(text, sha256);
  return sha256;
}
