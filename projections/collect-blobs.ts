import { blobGraceMs } from "../events/blobs/blob-store.ts";
import { storedBlobs } from "../events/blobs/encrypting-blobs.ts";
import { storedLog } from "../events/log/encrypting-log.ts";
import type { Store } from "../events/store.ts";
import { digestsOf } from "./blobs-only-of.ts";

export interface CollectBlobsOptions {
  /** Blobs that were put later than so many milliseconds ago stay: their events may be on the way. Default: a day. */
  readonly graceMs?: number;
  /** Says what would be deleted, and deletes nothing. */
  readonly dryRun?: boolean;
}

export interface CollectedBlobs {
  /** Blobs that were there. */
  readonly blobs: number;
  /** Digests of those that no event names, old enough: deleted, unless it was a dry run. */
  readonly unnamed: readonly string[];
  /** Their bytes. */
  readonly bytes: number;
}

/**
 * Deletes blobs that no event of the log names: of runs that failed before their event, and of logs that were restored
 * from a backup. The log is read once. Everybody who writes to the log must use the same store of blobs.
 *
 * @throws {LogUnavailableError} @throws {BlobsUnavailableError}
 * @example
 * const { unnamed, bytes } = await collectBlobs(await openStore(url), { dryRun: true });
 */
export async function collectBlobs(
  store: Pick<Store, "log" | "blobs">,
  { graceMs = blobGraceMs, dryRun = false }: CollectBlobsOptions = {},
): Promise<CollectedBlobs> {
  const blobs = storedBlobs(store.blobs);
  const latest = new Date(Date.now() - graceMs).toISOString();
  const old = new Map<string, number>();
  let count = 0;
  for await (const { sha256, size, writtenAt } of blobs.list()) {
    count += 1;
    if (writtenAt < latest) old.set(sha256, size);
  }
  // Only then the log: an event that was recorded meanwhile is among those that are read.
  if (old.size > 0) {
    for await (const page of storedLog(store.log).readAll()) {
      for (const event of page) for (const sha256 of digestsOf(event)) old.delete(sha256);
    }
  }
  if (old.size > 0 && !dryRun) {
    // Who put one of them again in the meantime gave it a new time.
    for (const sha256 of [...old.keys()]) {
      if (!(await blobs.delete(sha256, { writtenBefore: latest }))) old.delete(sha256);
    }
  }
  const bytes = [...old.values()].reduce((sum, size) => sum + size, 0);
  return { blobs: count, unnamed: [...old.keys()].sort(), bytes };
}
