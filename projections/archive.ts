import { mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type Emitter, threadStream } from "../events/envelope.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import { asEncrypted } from "../events/keys/with-encryption.ts";
import { storedLog } from "../events/log/encrypting-log.ts";
import { VersionConflict } from "../events/log/event-log.ts";
import type { Store } from "../events/store.ts";
import { ThreadArchived, ThreadRestored } from "../events/thread.ts";
import { assertNoChildren } from "./erase-thread.ts";
import { type ForksOf, forksFromLog } from "./fork-index.ts";
import { holdingHistory } from "./history-lock.ts";
import { checkVersion } from "./lineage.ts";
import { readExport } from "./read-export.ts";
import { recordThreadEvent } from "./record-event.ts";
import { dropSnapshots } from "./snapshots.ts";
import { exportThreads } from "./thread-export.ts";
import { type ImportedThread, importThreads } from "./thread-import.ts";

/** The archive does not hold what is in the log. The log was not changed. */
export class ArchiveDiffersError extends Error {
  override readonly name = "ArchiveDiffersError";
  constructor(
    readonly file: string,
    readonly thread: string,
  ) {
    super(
      `${file} does not hold the events of thread "${thread}" up to its head. Its events are all in the log; archive it again when nobody works on it.`,
    );
  }
}

export interface ArchiveOptions {
  /** The file to write, NDJSON compressed with gzip. */
  readonly file: string;
  readonly reason?: string;
  /** Default `user`. */
  readonly by?: Emitter;
  /** Take the events out of the log afterwards. The id stays taken; the archive can be restored into another store. */
  readonly remove?: boolean;
  /** Where forks are found, which `remove` must not leave without their history. Default: the log is searched. */
  readonly forks?: ForksOf;
}

export interface ArchivedThread {
  readonly threadId: string;
  readonly file: string;
  /** Events of the thread in the file. */
  readonly events: number;
  /** Version of `ThreadArchived`. */
  readonly version: number;
  readonly removed: boolean;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const { readLines } = await import("./line-files.ts");
  yield* readLines(file, { gzipped: true });
}

async function writeArchive(store: Store, threadId: string, file: string): Promise<void> {
  const { log, blobs } = store;
  await mkdir(dirname(file), { recursive: true });
  const temporary = `${file}.part`;
  try {
    const { writeGzippedLines } = await import("./line-files.ts");
    await writeGzippedLines(exportThreads(log, [threadId], { blobs }), temporary);
    const handle = await open(temporary, "r+");
    await handle.sync();
    await handle.close();
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/**
 * Writes a thread to a file and marks it as archived. The file holds the events as they are stored, with their hashes
 * and blobs: the archive of an encrypted thread is ciphertext and dies with its key. It is read back and compared
 * before anything is recorded.
 *
 * @throws {UnknownThreadError} @throws {ArchiveDiffersError} @throws {BlobMissingError}
 * @throws {ThreadHasChildrenError} `remove` of a thread with forks
 * @example
 * await archiveThread(store, "0190c3…", { file: "archive/0190c3.ndjson.gz" });
 */
export async function archiveThread(
  store: Store,
  threadId: string,
  options: ArchiveOptions,
): Promise<ArchivedThread> {
  const { file, reason, by = "user", remove = false, forks = forksFromLog(store.log) } = options;
  const stream = threadStream(threadId);
  const log = storedLog(store.log);
  await checkVersion(log, stream, undefined);
  if (remove) await assertNoChildren(store, threadId, forks);
  await writeArchive(store, threadId, file);

  const { streams } = await readExport(linesOf(file));
  const archived = streams.get(stream) ?? [];
  const head = await log.head(stream);
  if (archived.at(-1)?.metadata.hash !== head.hash) throw new ArchiveDiffersError(file, threadId);

  const draft = ThreadArchived({ archive: basename(file), ...(reason !== undefined && { reason }) });
  // What was appended since is not in the file: it must neither be marked as archived nor taken away.
  const differs = (error: unknown): never => {
    throw error instanceof VersionConflict ? new ArchiveDiffersError(file, threadId) : error;
  };
  const mark = () => recordThreadEvent(store.log, threadId, draft, by, head.version);
  if (!remove)
    return {
      threadId,
      file,
      events: archived.length,
      version: (await mark().catch(differs)).version,
      removed: false,
    };
  const { version } = await holdingHistory(store.side, stream, async () => {
    await assertNoChildren(store, threadId, forksFromLog(store.log));
    const marked = await mark().catch(differs);
    // The key stays, or the archive could not be read any more.
    await log.erase(stream, { expectedVersion: marked.version }).catch(differs);
    return marked;
  });
  await dropSnapshots((asEncrypted(store)?.stored ?? store).side, stream);
  return { threadId, file, events: archived.length, version, removed: true };
}

/**
 * Takes the threads of an archive back into use: events that the log still has are compared by their hashes, those
 * that it does not have are put back exactly as they were.
 *
 * @throws {ExportFormatError} @throws {BrokenExportError} @throws {ThreadDiffersError}
 * @throws {StreamDeletedError} the thread was removed from this very store: restore it into another one
 * @example
 * await restoreThread(store, "archive/0190c3.ndjson.gz");
 */
export async function restoreThread(
  store: Store,
  file: string,
  options: { readonly by?: Emitter; readonly registry?: EventRegistry } = {},
): Promise<readonly ImportedThread[]> {
  const { by = "user", registry } = options;
  const { log, blobs } = store;
  const { header } = await readExport(linesOf(file));
  const imported = await importThreads({ log, blobs, ...(registry && { registry }) }, linesOf(file));
  const restored: ImportedThread[] = [];
  for (const thread of imported) {
    // Parents of forks came along only to stand under them.
    if (!header.threads.includes(thread.threadId)) continue;
    const draft = ThreadRestored({ archive: basename(file) });
    const { version } = await recordThreadEvent(store.log, thread.threadId, draft, by);
    restored.push({ ...thread, version });
  }
  return restored;
}
