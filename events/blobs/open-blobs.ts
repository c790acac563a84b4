import { resolve } from "node:path";
import type { BlobStore } from "./blob-store.ts";
import { createFileBlobs } from "./files.ts";

/** Blobs that a URL names. */
export interface OpenedBlobs {
  readonly blobs: BlobStore;
  close(): Promise<void>;
}

/**
 * Opens blobs apart from a log: `s3://bucket/folder`, the table of a `postgres://` store, or a folder.
 *
 * @throws {MissingS3ClientError} @throws {BlobsUnavailableError} @throws {MissingDriverError}
 * @throws {LogUnavailableError}
 */
export async function openBlobs(place: string): Promise<OpenedBlobs> {
  if (/^s3:/i.test(place)) {
    const { openS3Blobs } = await import("./s3.ts");
    return openS3Blobs(place);
  }
  if (/^postgres(ql)?:/i.test(place)) {
    const { openPostgres } = await import("../log/postgres.ts");
    const { log, blobs } = await openPostgres(place);
    return { blobs, close: () => log.close() };
  }
  return { blobs: createFileBlobs(resolve(place.replace(/^file:(\/\/(?=\/))?/i, ""))), async close() {} };
}
