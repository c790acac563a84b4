import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BlobStore } from "./blobs/blob-store.ts";
import { createMemoryBlobs } from "./blobs/memory.ts";
import { createMemoryLog } from "./log/memory.ts";
import { createMemorySide } from "./log/memory-side.ts";
import type { Store } from "./store.ts";

/** A URL names no kind of store that this version can open. */
export class UnknownStoreUrlError extends Error {
  override readonly name = "UnknownStoreUrlError";
  constructor(readonly url: string) {
    super(`No store opens "${url}". Use one of: ${storeSchemes.map((scheme) => `${scheme}:`).join(", ")}.`);
  }
}

export interface OpenStoreOptions {
  /** Another place for blobs than beside the log. */
  readonly blobs?: BlobStore;
}

const storeSchemes = ["sqlite", "memory"];

/**
 * Opens the log, blobs and side records behind a store URL. A bare path is a SQLite file.
 *
 * @throws {UnknownStoreUrlError}
 * @example
 * const store = await openStore("memory:");
 */
export async function openStore(
  url = "sqlite:.threadfold/threads.db",
  options: OpenStoreOptions = {},
): Promise<Store> {
  const scheme = /^([a-z][a-z0-9+]+):/.exec(url)?.[1];
  if (scheme === "memory") return openMemoryStore(options);
  throw new UnknownStoreUrlError(url);
}

async function openMemoryStore({ blobs = createMemoryBlobs() }: OpenStoreOptions): Promise<Store> {
  const log = createMemoryLog();
  const folder = await mkdtemp(join(tmpdir(), "threadfold-"));
  return {
    url: "memory:",
    log,
    blobs,
    side: createMemorySide(),
    folder,
    async close() {
      await log.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
