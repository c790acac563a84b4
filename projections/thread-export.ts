import type { BlobStore } from "../events/blobs/blob-store.ts";
import { storedBlobs } from "../events/blobs/encrypting-blobs.ts";
import { threadIdOf, threadStream } from "../events/envelope.ts";
import { storedLog } from "../events/log/encrypting-log.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { blobsOf } from "./blob-references.ts";
import { blobLine, eventLine, headerLine } from "./export-lines.ts";
import { UnknownThreadError } from "./lineage.ts";

export interface ExportOptions {
  /** Puts the bytes that events refer to into the export, from this store. Left out: events only. */
  readonly blobs?: BlobStore;
}

/**
 * Threads as lines of NDJSON: a header, then every event of each thread, with the parents of forks before them, then
 * blobs. The same threads give the same lines from every store. Lines come without their line end. Encrypted content
 * stays encrypted: the hashes are over it.
 *
 * @throws {UnknownThreadError} before the first line
 * @throws {BlobMissingError} @throws {BlobDamagedError}
 * @example
 * for await (const line of exportThreads(store.log, ["0190c3…"])) process.stdout.write(`${line}\n`);
 */
export async function* exportThreads(
  from: EventLog,
  threadIds: readonly string[],
  options: ExportOptions = {},
): AsyncGenerator<string> {
  const log = storedLog(from);
  const streams = await withParents(log, threadIds);
  yield headerLine(threadIds, streams);
  const mentioned = new Map<string, string>();
  const erased = new Set<string>();
  for (const [stream, version] of streams) {
    const ofStream = new Set<string>();
    for await (const page of log.read(stream, { to: version })) {
      for (const event of page) {
        yield eventLine(event);
        if (!options.blobs) continue;
        if (event.type === "ThreadErased") for (const sha256 of ofStream) erased.add(sha256);
        for (const { sha256, mimeType } of blobsOf(event)) {
          ofStream.add(sha256);
          const known = mentioned.get(sha256);
          if (known === undefined || known === unknownType) mentioned.set(sha256, mimeType ?? unknownType);
        }
      }
    }
  }
  if (!options.blobs) return;
  const blobs = storedBlobs(options.blobs);
  for (const sha256 of [...mentioned.keys()].sort()) {
    // What an erasure took away cannot come along.
    if (erased.has(sha256) && !(await blobs.has(sha256))) continue;
    const data = await blobs.get(sha256);
    yield blobLine({ sha256, mimeType: mentioned.get(sha256) ?? unknownType, data });
  }
}

const unknownType = "application/octet-stream";

/** Streams with their heads, each parent before its forks. */
async function withParents(log: EventLog, threadIds: readonly string[]): Promise<Map<string, number>> {
  const ordered = new Map<string, number>();
  const open = new Set<string>();
  const visit = async (stream: string): Promise<void> => {
    if (ordered.has(stream) || open.has(stream)) return;
    open.add(stream);
    const { version, deleted } = await log.head(stream);
    if (version === 0 || deleted) throw new UnknownThreadError(threadIdOf(stream) ?? stream);
    for await (const page of log.read(stream, { limit: 1 })) {
      const first = page[0];
      if (first?.type !== "ThreadForked") continue;
      await visit(threadStream((first.data as { parentThreadId: string }).parentThreadId));
    }
    ordered.set(stream, version);
  };
  for (const threadId of threadIds) await visit(threadStream(threadId));
  return ordered;
}
