import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { BlobStore } from "./blobs/blob-store.ts";
import { createFileBlobs } from "./blobs/files.ts";
import { createMemoryBlobs } from "./blobs/memory.ts";
import { sha256 } from "./hash-chain.ts";
import { createElsewhereKeys, isMarkedEncrypted, markEncrypted } from "./keys/encryption-mark.ts";
import { createFileKeyStore } from "./keys/files.ts";
import type { KeyStore } from "./keys/key-store.ts";
import { createMemoryKeyStore } from "./keys/memory.ts";
import { withEncryption } from "./keys/with-encryption.ts";
import { LogUnavailableError } from "./log/event-log.ts";
import { withLocalKinds } from "./log/local-kinds.ts";
import { createMemoryLog } from "./log/memory.ts";
import { createMemorySide } from "./log/memory-side.ts";
import type { SideStore } from "./log/side-store.ts";
import type { SqliteOptions } from "./log/sqlite.ts";
import { createSideQueue } from "./queue/side-queue.ts";
import type { Store } from "./store.ts";
import { createParts, type StoreParts, takeParameters } from "./store-parts.ts";
import { StoreUrlError } from "./store-url-error.ts";
import { serverOf, withoutCredentials } from "./without-credentials.ts";

export { StoreUrlError } from "./store-url-error.ts";

export interface OpenStoreOptions extends SqliteOptions {
  /**
   * Another place for blobs than beside the log: `s3://bucket/folder`, a `postgres://` URL or a folder. Servers' URLs
   * also take it as `?blobs=…`, percent-encoded.
   */
  readonly blobs?: BlobStore | string;
  /**
   * Encrypts the content of threads: with keys in files beside the log (`<log>.keys`, mode 0600), or in another key
   * store. Default: on when that folder of keys is there, otherwise off; a store that was opened with keys before and is
   * now opened without them refuses to show or add content (`KeysElsewhereError`). `false`: as it is stored.
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

/** Two letters at least: `C:\threads.db` is a path. */
const schemePattern = /^([a-z][a-z0-9+.-]+):/i;

/**
 * Opens the log, blobs and side records behind a store URL: `sqlite:<path>` or a bare path, `memory:`,
 * `postgres://user:password@host/database`, `kurrentdb://user:password@host:2113` or `esdb://…`.
 *
 * @throws {UnknownStoreUrlError} @throws {StoreUrlError} @throws {LogUnavailableError} @throws {LogFormatError} @throws {MissingDriverError}
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
  if (/^sqlite:.*\?[\w.-]*=/is.test(url)) {
    throw new StoreUrlError(
      `"${withoutCredentials(url)}" has options, and sqlite: takes none. Pass them to openStore(url, options); a file with a question mark in its name is opened by its path, without sqlite: before it.`,
    );
  }
  const path = resolve(url.replace(/^sqlite:(\/\/(?=\/))?/i, ""));
  const folder = dirname(path);
  const keysFolder = `${path.replace(/\.db$/, "")}.keys`;
  const { openSqlite } = await import("./log/sqlite.ts");
  return assemble(async (parts) => {
    const { log, side, queue } = await openSqlite(path, options);
    parts.keep(log);
    const chosen = await parts.blobs(blobs, () => createFileBlobs(join(folder, "blobs")));
    const store = { url, log, side, queue, blobs: chosen, folder, close: parts.close };
    return encryptWith(store, { encrypt, ...options }, existsSync(keysFolder), () =>
      createFileKeyStore(keysFolder),
    );
  });
}

/** Closes what was opened when the rest cannot be. */
async function assemble(open: (parts: StoreParts) => Promise<Store>): Promise<Store> {
  const parts = createParts();
  try {
    return await open(parts);
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/** A log that was begun with encryption is never gone on with in plain text by accident. */
async function encryptWith(
  store: Store,
  { encrypt, readOnly = false }: OpenStoreOptions,
  hasOwnKeys: boolean,
  ownKeys: () => KeyStore,
): Promise<Store> {
  const keys = encrypt ?? hasOwnKeys;
  if (encrypt === undefined && !hasOwnKeys && (await isMarkedEncrypted(store.side))) {
    return withEncryption(store, createElsewhereKeys());
  }
  if (keys === false) return store;
  if (!readOnly) await markEncrypted(store.side);
  return withEncryption(store, keys === true ? ownKeys() : keys);
}

async function openPostgresStore(
  url: string,
  { blobs, encrypt, ...options }: OpenStoreOptions,
): Promise<Store> {
  const [address, given] = takeParameters(url, ["blobs"]);
  const shown = withoutCredentials(address);
  const { openPostgres } = await import("./log/postgres.ts");
  const { postgresIdentity } = await import("./log/postgres-driver.ts");
  return assemble(async (parts) => {
    const { log, side, keys, queue, database, ...opened } = await openPostgres(address, options);
    parts.keep(log);
    const store = {
      url: shown,
      log,
      side,
      queue,
      database,
      blobs: await parts.blobs(blobs ?? given.blobs, () => opened.blobs),
      // Files of threads are of this machine; stores must not share them.
      folder: localFolder("postgres", postgresIdentity(address), shown),
      close: parts.close,
    };
    return encryptWith(store, { encrypt, ...options }, await keys.isUsed(), () => keys);
  });
}

/** The server keeps events and side records; keys, blobs and snapshots are in a folder unless the URL says otherwise. */
async function openKurrentStore(
  url: string,
  { blobs, encrypt, ...options }: OpenStoreOptions,
): Promise<Store> {
  const [address, given] = takeParameters(url, ["side", "keys", "blobs"]);
  const shown = withoutCredentials(address);
  const folder =
    given.side === undefined
      ? localFolder("kurrentdb", kurrentIdentity(address), shown)
      : resolve(given.side);
  const { openKurrentDb } = await import("./log/kurrentdb.ts");
  const { openKeys } = await import("./keys/open-keys.ts");
  const { readOnly, pollIntervalMs } = options;
  return assemble(async (parts) => {
    const { log, side } = await openKurrentDb(address, { readOnly, pollIntervalMs });
    parts.keep(log);
    // Snapshots are many and large, and only a cache: a server that never forgets is not their place. Rows of read models
    // are in this folder, so who feeds them is settled here.
    const local = await openLocalSide(join(folder, "snapshots.db"), options, parts);
    const keys = parts.keep(await openKeys(given.keys ?? join(folder, "keys")));
    const chosen = await parts.blobs(blobs ?? given.blobs, () => createFileBlobs(join(folder, "blobs")));
    const store = {
      url: shown,
      log,
      side: withLocalKinds(side, local, ["snapshot", "projection-owner"]),
      queue: createSideQueue(side),
      blobs: chosen,
      folder,
      close: parts.close,
    };
    return encryptWith(store, { encrypt, ...options }, await keys.isUsed(), () => keys.keys);
  });
}

/** What names the server, whatever its URL says beside: how to connect is no other server. */
function kurrentIdentity(url: string): string {
  return serverOf(url)
    .replace(/^(?:kurrentdb|esdb)(?:\+discover)?:/i, "kurrentdb:")
    .toLowerCase();
}

/** The folder of a server's store on this machine; one that an earlier version named after the whole URL is kept. */
function localFolder(kind: string, identity: string, shown: string): string {
  const named = (text: string) => resolve(".threadfold", `${kind}-${sha256(text).slice(0, 16)}`);
  return existsSync(named(shown)) ? named(shown) : named(identity);
}

async function openLocalSide(path: string, options: SqliteOptions, parts: StoreParts): Promise<SideStore> {
  if (options.readOnly && !existsSync(path)) return createMemorySide();
  if (!options.readOnly) await makeFolder(dirname(path));
  const { openSqlite } = await import("./log/sqlite.ts");
  const { log, side } = await openSqlite(path, options);
  parts.keep(log);
  return side;
}

/** @throws {LogUnavailableError} */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new LogUnavailableError(
      `The folder ${folder} for snapshots, keys and blobs of this machine cannot be made (${code}). Start where you may write, or name another one with ?side=<folder>.`,
      { cause },
    );
  }
}

async function openMemoryStore(url: string, { blobs, encrypt = false }: OpenStoreOptions): Promise<Store> {
  return assemble(async (parts) => {
    const folder = await mkdtemp(join(tmpdir(), "threadfold-"));
    parts.keep({ close: () => rm(folder, { recursive: true, force: true }) });
    const log = parts.keep(createMemoryLog());
    const chosen = await parts.blobs(blobs, createMemoryBlobs);
    const side = createMemorySide();
    const queue = createSideQueue(side);
    const store = { url, log, blobs: chosen, side, queue, folder, close: parts.close };
    return encryptWith(store, { encrypt }, false, createMemoryKeyStore);
  });
}
