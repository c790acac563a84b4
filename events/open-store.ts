import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { BlobStore } from "./blobs/blob-store.ts";
import { createFileBlobs } from "./blobs/files.ts";
import { createMemoryBlobs } from "./blobs/memory.ts";
import { sha256 } from "./hash-chain.ts";
import { createFileKeyStore } from "./keys/files.ts";
import type { KeyStore } from "./keys/key-store.ts";
import { createMemoryKeyStore } from "./keys/memory.ts";
import { withEncryption } from "./keys/with-encryption.ts";
import { createMemoryLog } from "./log/memory.ts";
import { createMemorySide } from "./log/memory-side.ts";
import type { SqliteOptions } from "./log/sqlite.ts";
import type { Store } from "./store.ts";

export interface OpenStoreOptions extends SqliteOptions {
  /** Another place for blobs than beside the log. */
  readonly blobs?: BlobStore;
  /**
   * Encrypts the content of threads: with keys in files beside the log (`<log>.keys`, mode 0600), or in another key
   * store. Default: on when that folder of keys is there, otherwise off.
   */
  readonly encrypt?: boolean | KeyStore;
}

type StoreOpener = (url: string, options: OpenStoreOptions) => Promise<Store>;

/** By scheme. Whatever needs more than Node itself is imported when its first URL is opened. */
const openers: Readonly<Record<string, StoreOpener>> = {
  sqlite: openSqliteStore,
  memory: openMemoryStore,
  postgres: openPostgresStore,
  postgresql: openPostgresStore,
  kurrentdb: openKurrentStore,
  "kurrentdb+discover": openKurrentStore,
  esdb: openKurrentStore,
  "esdb+discover": openKurrentStore,
};

/** A URL names no kind of store that this version can open. */
export class UnknownStoreUrlError extends Error {
  override readonly name = "UnknownStoreUrlError";
  constructor(readonly url: string) {
    const supported = Object.keys(openers).map((scheme) => `${scheme}:`);
    super(`No store opens "${url}". Use one of ${supported.join(", ")}, or the path of a SQLite file.`);
  }
}

/**
 * A store URL as it may be shown and logged: without user name, password and secrets in the query.
 *
 * @example
 * withoutCredentials("postgres://ada:secret@db/threads"); // "postgres://db/threads"
 */
export function withoutCredentials(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1")
    .replace(/([?&](?:password|user|token|key)[^=&#]*=)[^&#]*/gi, "$1***");
}

/** Two letters at least: `C:\threads.db` is a path. */
const schemePattern = /^([a-z][a-z0-9+.-]+):/i;

/**
 * Opens the log, blobs and side records behind a store URL: `sqlite:<path>` or a bare path, `memory:`,
 * `postgres://user:password@host/database`, `kurrentdb://user:password@host:2113` or `esdb://…`.
 *
 * @throws {UnknownStoreUrlError} @throws {LogUnavailableError} @throws {LogFormatError} @throws {MissingDriverError}
 * @example
 * const store = await openStore("sqlite:.threadfold/threads.db");
 */
export async function openStore(
  url = "sqlite:.threadfold/threads.db",
  options: OpenStoreOptions = {},
): Promise<Store> {
  const scheme = schemePattern.exec(url)?.[1]?.toLowerCase() ?? "sqlite";
  const open = Object.hasOwn(openers, scheme) ? openers[scheme] : undefined;
  if (!open) throw new UnknownStoreUrlError(withoutCredentials(url));
  return open(url, options);
}

async function openSqliteStore(
  url: string,
  { blobs, encrypt, ...options }: OpenStoreOptions,
): Promise<Store> {
  const path = resolve(url.replace(/^sqlite:(\/\/(?=\/))?/i, ""));
  const folder = dirname(path);
  const { openSqlite } = await import("./log/sqlite.ts");
  const { log, side } = await openSqlite(path, options);
  const keysFolder = `${path.replace(/\.db$/, "")}.keys`;
  const store = {
    url,
    log,
    side,
    blobs: blobs ?? createFileBlobs(join(folder, "blobs")),
    folder,
    close: () => log.close(),
  };
  // A log that was begun with encryption is never gone on with in plain text by accident.
  return encryptWith(store, encrypt ?? existsSync(keysFolder), () => createFileKeyStore(keysFolder));
}

function encryptWith(store: Store, encrypt: boolean | KeyStore, ownKeys: () => KeyStore): Store {
  if (encrypt === false) return store;
  return withEncryption(store, encrypt === true ? ownKeys() : encrypt);
}

async function openPostgresStore(
  url: string,
  { blobs, encrypt, ...options }: OpenStoreOptions,
): Promise<Store> {
  const { openPostgres } = await import("./log/postgres.ts");
  const { log, side, keys, ...opened } = await openPostgres(url, options);
  try {
    const store = {
      url: withoutCredentials(url),
      log,
      side,
      blobs: blobs ?? opened.blobs,
      // Files of threads, and what is derived from the log, are of this machine; stores must not share them.
      folder: resolve(".threadfold", `postgres-${sha256(withoutCredentials(url)).slice(0, 16)}`),
      close: () => log.close(),
    };
    return encryptWith(store, encrypt ?? (await keys.isUsed()), () => keys);
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** The server keeps events only: side records, keys and blobs are in a folder of this machine. */
async function openKurrentStore(url: string, { blobs, encrypt, readOnly }: OpenStoreOptions): Promise<Store> {
  const [address, given] = takeSideFolder(url);
  const shown = withoutCredentials(address);
  const folder = resolve(given ?? join(".threadfold", `kurrentdb-${sha256(shown).slice(0, 16)}`));
  const { openKurrentDb } = await import("./log/kurrentdb.ts");
  const { openSqlite } = await import("./log/sqlite.ts");
  const log = await openKurrentDb(address, { readOnly });
  const beside = await openSqlite(join(folder, "side.db"), { readOnly }).catch(async (error: unknown) => {
    await log.close();
    throw error;
  });
  const keysFolder = join(folder, "keys");
  const store = {
    url: shown,
    log,
    side: beside.side,
    blobs: blobs ?? createFileBlobs(join(folder, "blobs")),
    folder,
    async close() {
      await log.close();
      await beside.log.close();
    },
  };
  return encryptWith(store, encrypt ?? existsSync(keysFolder), () => createFileKeyStore(keysFolder));
}

/** Takes `side=<folder>` out of the query of a URL: the client of the server does not know it. */
function takeSideFolder(url: string): [address: string, folder: string | undefined] {
  const [, before = url, query] = /^([^?]*)\?(.*)$/.exec(url) ?? [];
  const parameters = new URLSearchParams(query);
  const folder = parameters.get("side") ?? undefined;
  parameters.delete("side");
  const rest = parameters.toString();
  return [rest === "" ? before : `${before}?${rest}`, folder];
}

async function openMemoryStore(
  url: string,
  { blobs = createMemoryBlobs(), encrypt = false }: OpenStoreOptions,
): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-"));
  const log = createMemoryLog();
  const store = {
    url,
    log,
    blobs,
    side: createMemorySide(),
    folder,
    async close() {
      await log.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return encryptWith(store, encrypt, createMemoryKeyStore);
}
