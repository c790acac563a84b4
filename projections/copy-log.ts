import { BlobMissingError, type BlobStore } from "../events/blobs/blob-store.ts";
import { storedBlobs } from "../events/blobs/encrypting-blobs.ts";
import type { RecordedEvent } from "../events/envelope.ts";
import { type ChainHead, findBrokenLink } from "../events/hash-chain.ts";
import { isMarkedEncrypted, markEncrypted } from "../events/keys/encryption-mark.ts";
import { storedLog } from "../events/log/encrypting-log.ts";
import type { EventLog, StreamHead } from "../events/log/event-log.ts";
import type { Store } from "../events/store.ts";
import { appendRecorded } from "./append-recorded.ts";
import { blobsOf } from "./blob-references.ts";
import { readMark, writeMark } from "./copy-mark.ts";

/** A stream of the source does not hold together, so it was not copied. */
export class BrokenSourceError extends Error {
  override readonly name = "BrokenSourceError";
  constructor(
    readonly stream: string,
    readonly version: number,
    reason: string,
  ) {
    super(
      `${stream}@${version} of the source is not what its hashes say (${reason}). Nothing after it was copied; look at it with: threadfold verify`,
    );
  }
}

/** The target has other events in a stream than the source. */
export class CopyDiffersError extends Error {
  override readonly name = "CopyDiffersError";
  constructor(
    readonly stream: string,
    readonly version: number,
  ) {
    super(
      `${stream} of the target is not a copy: it differs at version ${version}, or goes further than the source. Copy into an empty store, or leave this stream out.`,
    );
  }
}

export interface CopyProgress {
  /** Events looked at, of `total` there were in the source when the copy began. */
  readonly events: number;
  readonly total: number;
  /** Events that the target did not have. */
  readonly copied: number;
  readonly blobs: number;
}

export interface CopyResult extends CopyProgress {
  /** Of `events`, those that an earlier copy from this source brought over: they were not looked at again. */
  readonly before: number;
  /** Digests that events name and the source does not have. */
  readonly missingBlobs: readonly string[];
  /** Streams that were erased in the source, and now in the target. */
  readonly erased: readonly string[];
  /** Streams that were erased in the target, and so were left out. */
  readonly refused: readonly string[];
}

type CopySide = Pick<Store, "log" | "blobs" | "side" | "url">;

export interface CopyOptions {
  readonly from: CopySide;
  readonly to: CopySide;
  /** Only these streams. Default: all, going on where the last copy from the same source ended. */
  readonly streams?: readonly string[];
  /** Called after each page. */
  readonly onProgress?: (progress: CopyProgress) => void;
  /** Ends the copy after the page that is being written. */
  readonly signal?: AbortSignal;
}

/**
 * Copies events and blobs from one store to another, of whatever kinds. Ids, versions, times and hashes stay the same;
 * every chain is verified on the way, and blobs are there before the events that name them. Streams come in the order in
 * which they began. A copy that was cut short goes on when it is called again; one that is complete adds nothing.
 * Encrypted content is copied as it is, without its keys.
 *
 * @throws {BrokenSourceError} @throws {CopyDiffersError} @throws {BlobDamagedError} @throws {LogUnavailableError}
 * @example
 * const { copied } = await copyLog({ from: await openStore("threads.db"), to: await openStore("postgres://db/threads") });
 */
export async function copyLog(options: CopyOptions): Promise<CopyResult> {
  const { from, to, streams, onProgress, signal } = options;
  const [source, target] = [storedLog(from.log), storedLog(to.log)];
  const blobs = createBlobCopy(storedBlobs(from.blobs), storedBlobs(to.blobs));
  const heads = new Map<string, StreamHead>();
  const refused = new Set<string>();
  const total = await countEvents(source, streams);
  let [events, copied] = [0, 0];
  const progress = (): CopyProgress => ({ events, total, copied, blobs: blobs.copied });

  if (await isMarkedEncrypted(from.side)) await markEncrypted(to.side);
  const mark = streams ? undefined : await readMark(source, to.side, from.url);
  events = mark?.events ?? 0;
  for await (const page of pagesOf(source, streams, mark?.position)) {
    const byStream = new Map<string, RecordedEvent[]>();
    for (const event of page) {
      const known = byStream.get(event.stream);
      if (known) known.push(event);
      else byStream.set(event.stream, [event]);
    }
    const wanted: [stream: string, events: readonly RecordedEvent[]][] = [];
    for (const [stream, found] of byStream) {
      const head = heads.get(stream) ?? (await agreedHead(source, target, stream));
      heads.set(stream, head);
      const lacking = head.deleted ? [] : checkedAfter(head, stream, found);
      if (head.deleted) refused.add(stream);
      if (lacking.length > 0) wanted.push([stream, lacking]);
    }
    for (const [, lacking] of wanted) await blobs.copyNamed(lacking);
    // Streams are independent of each other: a store may take their appends in one transaction.
    await Promise.all(
      wanted.map(async ([stream, lacking]) => {
        await appendRecorded(target, stream, lacking);
        const last = lacking.at(-1);
        if (last) heads.set(stream, { version: last.version, hash: last.metadata.hash, deleted: false });
        copied += lacking.length;
      }),
    );
    events += page.length;
    const last = page.at(-1);
    if (!streams && last) await writeMark(to.side, from.url, last, events);
    onProgress?.(progress());
    if (signal?.aborted) break;
  }
  const erased = signal?.aborted ? [] : await copyErasures(source, target, streams);
  return {
    ...progress(),
    before: mark?.events ?? 0,
    missingBlobs: blobs.missing(),
    erased,
    refused: [...refused],
  };
}

async function countEvents(log: EventLog, streams: readonly string[] | undefined): Promise<number> {
  const versions = streams
    ? await Promise.all(streams.map(async (stream) => (await log.head(stream)).version))
    : (await log.streams()).map(({ version }) => version);
  return versions.reduce((sum, version) => sum + version, 0);
}

async function* pagesOf(
  log: EventLog,
  streams: readonly string[] | undefined,
  after: string | undefined,
): AsyncGenerator<readonly RecordedEvent[]> {
  if (streams) for (const stream of streams) yield* log.read(stream);
  else yield* log.readAll(after === undefined ? {} : { after });
}

/** Head of the stream in the target, when the source has the same event there. */
async function agreedHead(source: EventLog, target: EventLog, stream: string): Promise<StreamHead> {
  const head = await target.head(stream);
  if (head.version === 0 || head.deleted) return head;
  for await (const page of source.read(stream, { from: head.version, to: head.version })) {
    if (page[0]?.metadata.hash === head.hash) return head;
  }
  throw new CopyDiffersError(stream, head.version);
}

/** The events after the head, when they go on its chain. */
function checkedAfter(
  head: ChainHead,
  stream: string,
  events: readonly RecordedEvent[],
): readonly RecordedEvent[] {
  const lacking = events.filter(({ version }) => version > head.version);
  const broken = findBrokenLink(lacking, head);
  if (broken) throw new BrokenSourceError(stream, broken.version, broken.reason);
  return lacking;
}

function createBlobCopy(source: BlobStore, target: BlobStore) {
  const seen = new Set<string>();
  const missing = new Set<string>();
  let copied = 0;
  const copyOne = async (sha256: string, mimeType: string) => {
    if (await target.has(sha256)) return;
    try {
      await target.put(await source.get(sha256), mimeType);
      copied += 1;
    } catch (error) {
      // Erased with its thread: the event that named it stays.
      if (!(error instanceof BlobMissingError)) throw error;
      missing.add(sha256);
    }
  };
  return {
    get copied() {
      return copied;
    },
    missing: () => [...missing],
    async copyNamed(events: readonly RecordedEvent[]) {
      for (const event of events) {
        for (const { sha256, mimeType = "application/octet-stream" } of blobsOf(event)) {
          if (seen.has(sha256)) continue;
          seen.add(sha256);
          await copyOne(sha256, mimeType);
        }
      }
    },
  };
}

/** Erases in the target what the source erased. Streams that the source never had are left alone. */
async function copyErasures(
  source: EventLog,
  target: EventLog,
  streams: readonly string[] | undefined,
): Promise<string[]> {
  const candidates = streams ?? (await target.streams()).map(({ stream }) => stream);
  const erased: string[] = [];
  for (const stream of candidates) {
    if (!(await source.head(stream)).deleted || (await target.head(stream)).deleted) continue;
    await target.erase(stream);
    erased.push(stream);
  }
  return erased;
}
