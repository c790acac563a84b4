import type { BlobReference } from "../message.ts";

/** No bytes are stored under this digest. */
export class BlobMissingError extends Error {
  override readonly name = "BlobMissingError";
  constructor(readonly sha256: string) {
    super(
      `Blob ${sha256} is not in the store. It was erased, or the store's blobs folder was not copied along.`,
    );
  }
}

/** The stored bytes do not have the digest they are stored under. */
export class BlobDamagedError extends Error {
  override readonly name = "BlobDamagedError";
  constructor(readonly sha256: string) {
    super(`Blob ${sha256} is damaged: its bytes have another hash. Restore it from a backup.`);
  }
}

/** A blob that no event names is left alone for so long after it was put last: its event may be on the way. */
export const blobGraceMs = 24 * 60 * 60 * 1000;

/** An old blob that is put again gets the time of today, so that it outlives the event that is about to name it. */
export function needsRefresh(writtenAt: Date | undefined): boolean {
  return writtenAt !== undefined && Date.now() - writtenAt.getTime() > blobGraceMs / 2;
}

interface DeleteBlobOptions {
  readonly writtenBefore?: string;
}

/** Large content by the SHA-256 of its bytes. A blob is durable before the event that names it. */
export interface BlobStore {
  /** The store underneath, when this one decrypts: bytes as they are stored, whose hashes are the digests. */
  readonly stored?: BlobStore;
  /**
   * Stores bytes (a text as UTF-8) and gives their reference, when they are durable. Storing the same bytes again changes
   * nothing but the time of a blob that is older than half a day.
   */
  put(content: Uint8Array | string, mimeType: string): Promise<BlobReference>;
  /** @throws {BlobMissingError} @throws {BlobDamagedError} */
  get(sha256: string): Promise<Uint8Array>;
  has(sha256: string): Promise<boolean>;
  /**
   * Deletes a blob; with `writtenBefore` (ISO 8601) only one that was put last before then. False: it was put since, and
   * stays.
   */
  delete(sha256: string, options?: DeleteBlobOptions): Promise<boolean>;
  /** Digests of all blobs, with the time they were put last. */
  list(): AsyncIterable<{ readonly sha256: string; readonly size: number; readonly writtenAt: string }>;
}
