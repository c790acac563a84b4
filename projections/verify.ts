import { BlobDamagedError, BlobMissingError, type BlobStore } from "../events/blobs/blob-store.ts";
import { type RecordedEvent, threadIdOf, threadStream } from "../events/envelope.ts";
import { createEventRegistry, type EventRegistry } from "../events/event-registry.ts";
import { type ChainHead, chainStart, findBrokenLink } from "../events/hash-chain.ts";
import { storedLog } from "../events/log/encrypting-log.ts";
import { DamagedEventError, type EventLog } from "../events/log/event-log.ts";
import type { SideStore } from "../events/log/side-store.ts";
import { createThreadReducer } from "../reducers/built-in.ts";
import type { StateReducer } from "../reducers/thread-state.ts";
import { blobsOf } from "./blob-references.ts";
import { BrokenLineageError, resolveLineage, UnknownThreadError } from "./lineage.ts";
import { type Refold, refold } from "./refold.ts";
import { createStateReader } from "./state-at.ts";
import { createStateHasher } from "./state-hash.ts";

/** What can be verified of a thread. */
export type VerifyCheck = "chain" | "fold" | "blobs" | "snapshots";

export const verifyChecks: readonly VerifyCheck[] = ["chain", "fold", "blobs", "snapshots"];

/** Something that does not hold. */
export interface Problem {
  readonly check: VerifyCheck;
  readonly stream: string;
  readonly version: number;
  /** One line: what does not hold at this event. */
  readonly message: string;
}

export interface VerifiedThread {
  readonly threadId: string;
  readonly version: number;
  /** Events whose place in the chain was checked, those of parents included. */
  readonly events: number;
  /** Ends of runs whose state hash was compared. */
  readonly stateHashes: number;
  /** Ends of runs whose state had fields that the reducers here do not know. */
  readonly uncheckedStates: number;
  /** Ends of runs whose state cannot be compared any more, because content before them was erased or redacted. */
  readonly erasedStates: number;
  readonly unknownFields: readonly string[];
  /** Blobs that were read. */
  readonly blobs: number;
  /** Blobs that the source never had: with `withoutBlobs` only. */
  readonly absentBlobs: number;
  /** Blobs that are gone because the thread's content was erased or redacted. */
  readonly erasedBlobs: number;
  /** The first problem of each check, in the order of the checks. None: everything holds. */
  readonly problems: readonly Problem[];
}

export interface VerifySource {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly side: SideStore;
  /** Default: the events that Threadfold knows. */
  readonly registry?: EventRegistry;
  /** Default: the fields that Threadfold knows. */
  readonly reducer?: StateReducer;
}

/**
 * Verifies a thread: the chain of hashes from its first event (parents of a fork included), the fold and the state
 * hash at each end of a run, the blobs that its events name, and that snapshots give the same state.
 *
 * @param options.checks default: all. The fold of a broken chain is not looked at.
 * @throws {UnknownThreadError}
 * @example
 * const { problems } = await verifyThread(store, "0190c3…");
 */
export async function verifyThread(
  source: VerifySource,
  threadId: string,
  options: {
    readonly checks?: readonly VerifyCheck[];
    /** The source was made without the blobs that events name, like an export: they are counted, and no problem. */
    readonly withoutBlobs?: boolean;
  } = {},
): Promise<VerifiedThread> {
  const { checks = verifyChecks, withoutBlobs = false } = options;
  const stream = threadStream(threadId);
  const { version, deleted } = await storedLog(source.log).head(stream);
  if (version === 0 || deleted) throw new UnknownThreadError(threadId);
  const problems: Problem[] = [];
  let events = 0;
  if (checks.includes("chain")) {
    const chain = await verifyChains(source.log, stream);
    events = chain.events;
    if (chain.problem) problems.push(chain.problem);
  }
  const sound = problems.length === 0;
  const folded = sound && checks.some((check) => check === "fold" || check === "snapshots");
  const fold = folded ? await verifyFold(source, stream, version) : undefined;
  if (fold?.problem && checks.includes("fold")) problems.push(fold.problem);
  // Who cannot be followed to a beginning has nothing else to verify.
  const lineage = sound ? await lineageProblem(source.log, stream, version) : undefined;
  if (lineage) problems.splice(0, problems.length, lineage);
  const blobs =
    sound && !lineage && checks.includes("blobs")
      ? await verifyBlobs(source, stream, withoutBlobs)
      : undefined;
  if (blobs?.problem) problems.push(blobs.problem);
  if (checks.includes("snapshots") && fold?.refold) {
    const problem = await verifySnapshots(source, threadId, version, fold.refold);
    if (problem) problems.push(problem);
  }
  return {
    threadId,
    version,
    events,
    stateHashes: checks.includes("fold") ? (fold?.refold?.checked ?? 0) : 0,
    uncheckedStates: checks.includes("fold") ? (fold?.refold?.unchecked ?? 0) : 0,
    erasedStates: checks.includes("fold") ? (fold?.refold?.erased ?? 0) : 0,
    unknownFields: checks.includes("fold") ? (fold?.refold?.unknownFields ?? []) : [],
    blobs: blobs?.read ?? 0,
    absentBlobs: blobs?.absent ?? 0,
    erasedBlobs: blobs?.erased ?? 0,
    problems,
  };
}

async function lineageProblem(log: EventLog, stream: string, version: number): Promise<Problem | undefined> {
  try {
    await resolveLineage(log, stream, version);
    return undefined;
  } catch (error) {
    if (!(error instanceof BrokenLineageError)) throw error;
    return { check: "chain", stream, version: 1, message: error.message };
  }
}

interface ChainResult {
  readonly events: number;
  readonly problem: Problem | undefined;
}

const reasons = {
  hash: "the event does not have the hash that it was recorded with",
  "previous-hash": "the event does not follow the one before it",
  "version-gap": "the event before it is missing",
} as const;

/** The chain of a stream, then that of its parent as far as the fork stands on it. */
async function verifyChains(from: EventLog, stream: string): Promise<ChainResult> {
  const log = storedLog(from);
  let events = 0;
  const seen = new Set<string>();
  let at:
    | { readonly stream: string; readonly version: number; readonly hash: string | undefined }
    | undefined = {
    stream,
    version: (await log.head(stream)).version,
    hash: undefined,
  };
  let child = { stream, version: 1 };
  while (at && !seen.has(at.stream)) {
    seen.add(at.stream);
    const result = await verifyChain(log, at.stream, at.version);
    events += result.head.version;
    if (result.problem) return { events, problem: result.problem };
    if (at.hash !== undefined && at.hash !== result.head.hash) {
      const message = `the fork stands on another history of ${at.stream}@${at.version} than the store has`;
      return { events, problem: { check: "chain", ...child, message } };
    }
    const forked =
      result.first?.type === "ThreadForked" ? (result.first.data as unknown as ForkData) : undefined;
    child = { stream: at.stream, version: 1 };
    at = forked && {
      stream: threadStream(forked.parentThreadId),
      version: forked.parentVersion,
      hash: forked.parentHash,
    };
  }
  return { events, problem: undefined };
}

interface ForkData {
  readonly parentThreadId: string;
  readonly parentVersion: number;
  readonly parentHash?: string;
}

async function verifyChain(
  log: EventLog,
  stream: string,
  to: number,
): Promise<{ head: ChainHead; first: RecordedEvent | undefined; problem: Problem | undefined }> {
  let head: ChainHead = { version: 0, hash: chainStart };
  let first: RecordedEvent | undefined;
  const failed = (version: number, message: string) => ({
    head,
    first,
    problem: { check: "chain" as const, stream, version, message },
  });
  try {
    for await (const page of log.read(stream, { to })) {
      first ??= page[0];
      const broken = findBrokenLink(page, head);
      if (broken)
        return failed(
          broken.reason === "version-gap" ? head.version + 1 : broken.version,
          reasons[broken.reason],
        );
      const last = page.at(-1);
      if (last) head = { version: last.version, hash: last.metadata.hash };
    }
  } catch (error) {
    if (!(error instanceof DamagedEventError)) throw error;
    return failed(error.version, error.message);
  }
  if (head.version < to) return failed(head.version + 1, "the event is missing");
  return { head, first, problem: undefined };
}

async function verifyFold(
  source: VerifySource,
  stream: string,
  version: number,
): Promise<{ refold: Refold | undefined; problem: Problem | undefined }> {
  const {
    log,
    registry = createEventRegistry(),
    reducer = createThreadReducer({ openFields: true }),
  } = source;
  try {
    const compared = new Set<string>();
    let result = await refold(log, { registry, reducer }, stream, version, compared);
    for (const end of await abandonedEnds(log, stream)) {
      const branch = await refold(log, { registry, reducer }, stream, end, compared);
      result = {
        ...result,
        checked: result.checked + branch.checked,
        unchecked: result.unchecked + branch.unchecked,
        erased: result.erased + branch.erased,
        unknownFields: [...new Set([...result.unknownFields, ...branch.unknownFields])],
        divergence: result.divergence ?? branch.divergence,
      };
    }
    const { divergence } = result;
    const problem: Problem | undefined = divergence && {
      check: "fold",
      stream: divergence.stream,
      version: divergence.version,
      message: `the state at the end of run ${divergence.runId} has the hash ${divergence.folded}, recorded is ${divergence.recorded}`,
    };
    return { refold: result, problem };
  } catch (error) {
    const { event } = error as { event?: { version?: number } };
    const message = error instanceof Error ? error.message : String(error);
    return {
      refold: undefined,
      problem: { check: "fold", stream, version: event?.version ?? version, message },
    };
  }
}

/** Last versions of the branches that rewinds left behind: what was abandoned is still part of the record. */
async function abandonedEnds(log: EventLog, stream: string): Promise<number[]> {
  const ends: number[] = [];
  for await (const page of log.read(stream, { types: ["ThreadRewound"] })) {
    for (const { version } of page) ends.push(version - 1);
  }
  return ends;
}

const erasing = ["ThreadErased", "ContentRedacted"];

async function verifyBlobs(
  { log, blobs }: VerifySource,
  stream: string,
  withoutBlobs: boolean,
): Promise<{ read: number; erased: number; absent: number; problem: Problem | undefined }> {
  let erased = 0;
  const absent = new Set<string>();
  const read = new Set<string>();
  let mayBeGone = false;
  const segments = await resolveLineage(log, stream, (await log.head(stream)).version);
  // Also after the fork: what a parent lost its forks lost, too.
  for (const name of new Set(segments.map((segment) => segment.stream))) {
    for await (const _page of log.read(name, { types: erasing, limit: 1 })) mayBeGone = true;
  }
  const inherited = segments.filter((segment) => segment.stream !== stream);
  // Of its own stream also what rewinds left behind.
  for (const { stream: name, ...range } of [...inherited, { stream }]) {
    for await (const page of log.read(name, range)) {
      for (const event of page) {
        for (const { sha256 } of blobsOf(event)) {
          if (read.has(sha256)) continue;
          try {
            await (blobs.stored ?? blobs).get(sha256);
            read.add(sha256);
          } catch (error) {
            if (!(error instanceof BlobMissingError || error instanceof BlobDamagedError)) throw error;
            if (mayBeGone && error instanceof BlobMissingError) {
              erased += 1;
              continue;
            }
            if (withoutBlobs && error instanceof BlobMissingError) {
              absent.add(sha256);
              continue;
            }
            const at = { stream: event.stream, version: event.version };
            return {
              read: read.size,
              erased,
              absent: absent.size,
              problem: { check: "blobs", ...at, message: error.message },
            };
          }
        }
      }
    }
  }
  return { read: read.size, erased, absent: absent.size, problem: undefined };
}

async function verifySnapshots(
  source: VerifySource,
  threadId: string,
  version: number,
  { stateHash }: Refold,
): Promise<Problem | undefined> {
  const {
    log,
    side,
    registry = createEventRegistry(),
    reducer = createThreadReducer({ openFields: true }),
  } = source;
  const state = await createStateReader({ log, side, registry, reducer }).stateAt(threadId, version);
  const hash = createStateHasher().hash(state);
  if (hash === stateHash) return undefined;
  const message = `with snapshots the state has the hash ${hash}, without them ${stateHash}`;
  return { check: "snapshots", stream: threadStream(threadId), version, message };
}

/** Ids of all threads of a log, by name. */
export async function* allThreads(log: EventLog): AsyncGenerator<string> {
  const pageSize = 500;
  let after = "";
  for (;;) {
    const page = await log.streams({ prefix: "thread-", after, limit: pageSize });
    for (const { stream } of page) {
      const id = threadIdOf(stream);
      if (id !== undefined) yield id;
    }
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    after = last.stream;
  }
}
