import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createMemoryBlobs } from "../events/blobs/memory.ts";
import { createMemoryLog } from "../events/log/memory.ts";
import { createMemorySide } from "../events/log/memory-side.ts";
import { createSideQueue } from "../events/queue/side-queue.ts";
import type { Store } from "../events/store.ts";
import { looksLikeExport } from "./export-lines.ts";
import { importText, importThreads } from "./thread-import.ts";

/** An export is open for reading; nothing can be written to it. */
export class ReadOnlyStoreError extends Error {
  override readonly name = "ReadOnlyStoreError";
  constructor(
    readonly url: string,
    /** What was tried. */
    readonly operation: string,
  ) {
    super(
      `${url} is an export and open for reading only, so ${operation} is refused. Nothing was written; import the file into a store to go on with its threads.`,
    );
  }
}

/** A store over an export. Its log and blobs refuse to be written; closing it leaves the file as it is. */
export interface OpenedExport extends Store {
  /** Threads of the file, parents of forks included. */
  readonly threadIds: readonly string[];
}

const gzipName = /\.gz$/;

async function* linesOf(path: string): AsyncGenerator<string> {
  const { readLines } = await import("./line-files.ts");
  yield* readLines(path, { gzipped: gzipName.test(path) });
}

/**
 * Opens an exported file (NDJSON, also `.gz`), or a LangGraph thread as JSON, as a read-only store. The file is read
 * whole, its chains are checked and every thread is folded once.
 *
 * @param path of the file
 * @throws {ExportFormatError} @throws {BrokenExportError} @throws {MissingParentError} @throws {NewerSchemaError}
 * @throws {FoldError} @throws {NotAThreadError} and the file system's errors
 * @example
 * const store = await openExport("thread.ndjson");
 * const reader = createStateReader({ ...store, reducer: createThreadReducer({ openFields: true }), registry });
 * await reader.stateAt(store.threadIds[0], 12);
 */
export async function openExport(path: string): Promise<OpenedExport> {
  return openLines(linesOf(path), { url: path, folder: dirname(resolve(path)) });
}

/**
 * Opens an export that comes from elsewhere than a file, by its lines. The store has no folder of its own.
 *
 * @throws what `openExport` throws
 * @example
 * const store = await openExportLines(createInterface({ input: request }));
 */
export async function openExportLines(lines: AsyncIterable<string>): Promise<OpenedExport> {
  return openLines(lines, { url: "memory:", folder: join(tmpdir(), `threadfold-${crypto.randomUUID()}`) });
}

async function openLines(
  lines: AsyncIterable<string>,
  { url, folder }: { readonly url: string; readonly folder: string },
): Promise<OpenedExport> {
  const log = createMemoryLog();
  const blobs = createMemoryBlobs();
  const threads = await readInto({ log, blobs }, lines);
  const side = createMemorySide();
  const refuse = (operation: string) => Promise.reject(new ReadOnlyStoreError(url, operation));
  return {
    url,
    threadIds: threads.map(({ threadId }) => threadId),
    log: { ...log, append: () => refuse("append"), erase: () => refuse("erase") },
    blobs: { ...blobs, put: () => refuse("put of a blob"), delete: () => refuse("delete of a blob") },
    // Snapshots and the like are found again from the log, so they may be kept for the while.
    side,
    queue: { ...createSideQueue(side), add: () => refuse("queueing of a run") },
    folder,
    close: () => log.close(),
  };
}

async function readInto(target: Parameters<typeof importThreads>[0], from: AsyncIterable<string>) {
  const lines = from[Symbol.asyncIterator]();
  const first = await lines.next();
  const head = first.done === true ? "" : first.value;
  async function* all() {
    yield head;
    yield* { [Symbol.asyncIterator]: () => lines };
  }
  if (looksLikeExport(head.replace(/^\uFEFF/, ""))) return importThreads(target, all());
  const rest: string[] = [];
  for await (const line of all()) rest.push(line);
  return (await importText(target, rest.join("\n"))).threads;
}
