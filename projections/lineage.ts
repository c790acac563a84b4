import type { DataOf } from "../events/define-event.ts";
import { type FoldEvent, type RecordedEvent, threadIdOf, threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { ThreadForked, ThreadRewound } from "../events/thread.ts";

/** No thread of this id is in the store. */
export class UnknownThreadError extends Error {
  override readonly name = "UnknownThreadError";
  constructor(
    readonly thread: string,
    why = "It is not in this store, or it was deleted.",
  ) {
    super(`There is no thread "${thread}". ${why} List the threads to see which ones there are.`);
  }
}

/** The thread has no such version. */
export class VersionOutOfRangeError extends Error {
  override readonly name = "VersionOutOfRangeError";
  constructor(
    readonly thread: string,
    readonly version: number,
    /** The thread's last version. */
    readonly head: number,
    /** The version as it was written, when not as a number. */
    written = String(version),
  ) {
    super(`Thread "${thread}" has no version ${written}: its versions are whole numbers from 0 to ${head}.`);
  }
}

/** A thread stands on a history that cannot be followed to its beginning. */
export class BrokenLineageError extends Error {
  override readonly name = "BrokenLineageError";
  constructor(
    readonly thread: string,
    readonly reason: string,
  ) {
    super(
      `The history of thread "${thread}" cannot be followed: ${reason}. Verify the store, or restore the parent.`,
    );
  }
}

/** Consecutive events of one stream, `from` and `to` included. */
export interface Segment {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
}

/** What decides which events a state of one stream builds on. */
export interface StreamTurns {
  /** The parent that the stream's first event names. */
  readonly fork: { readonly stream: string; readonly version: number } | undefined;
  /** Rewinds by their own version, oldest first. */
  readonly rewinds: readonly { readonly version: number; readonly to: number }[];
}

/** Events that bend the line from one version to the one before. */
export const lineageTypes: readonly string[] = ["ThreadForked", "ThreadRewound"];

export const noTurns: StreamTurns = { fork: undefined, rewinds: [] };

/** Adds what an event says about the lineage of its stream. */
export function addTurn(turns: StreamTurns, event: FoldEvent): StreamTurns {
  if (event.type === "ThreadForked" && event.version === 1) {
    const { parentThreadId, parentVersion } = event.data as DataOf<typeof ThreadForked>;
    return { ...turns, fork: { stream: threadStream(parentThreadId), version: parentVersion } };
  }
  if (event.type === "ThreadRewound") {
    const { toVersion } = event.data as DataOf<typeof ThreadRewound>;
    const to = Math.min(toVersion, event.version - 1);
    return { ...turns, rewinds: [...turns.rewinds, { version: event.version, to }] };
  }
  return turns;
}

function lastRewind(turns: StreamTurns, version: number) {
  let low = 0;
  let high = turns.rewinds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((turns.rewinds[middle]?.version ?? 0) <= version) low = middle + 1;
    else high = middle;
  }
  return turns.rewinds[low - 1];
}

/** Versions of one stream that the state at `version` builds on, oldest first. */
export function ownSegments(stream: string, turns: StreamTurns, version: number): Segment[] {
  const segments: Segment[] = [];
  let to = version;
  while (to > 0) {
    const rewind = lastRewind(turns, to);
    segments.push({ stream, from: rewind?.version ?? 1, to });
    to = rewind?.to ?? 0;
  }
  return joined(segments.reverse());
}

/** Neighbours that follow on each other become one. */
function joined(segments: readonly Segment[]): Segment[] {
  const result: Segment[] = [];
  for (const segment of segments) {
    const last = result.at(-1);
    if (last && last.stream === segment.stream && last.to + 1 === segment.from) {
      result[result.length - 1] = { ...last, to: segment.to };
    } else result.push(segment);
  }
  return result;
}

/** Gives the turns of a stream up to a version. */
export type TurnsReader = (stream: string, version: number) => Promise<StreamTurns>;

async function readTurns(log: EventLog, stream: string, version: number): Promise<StreamTurns> {
  let turns = noTurns;
  if (version === 0) return turns;
  for await (const page of log.read(stream, { to: version, types: lineageTypes }))
    turns = page.reduce(addTurn, turns);
  return turns;
}

/**
 * Checks that a thread has a version, and gives its head.
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError}
 */
export async function checkVersion(
  log: EventLog,
  stream: string,
  version: number | undefined,
): Promise<number> {
  const thread = threadIdOf(stream) ?? stream;
  const head = await log.head(stream);
  if (head.version === 0 || head.deleted) throw new UnknownThreadError(thread);
  if (version === undefined) return head.version;
  if (!Number.isInteger(version) || version < 0 || version > head.version) {
    throw new VersionOutOfRangeError(thread, version, head.version);
  }
  return version;
}

/** As `resolveLineage`, with the turns of a stream from wherever they are known. */
export async function followLineage(
  log: EventLog,
  stream: string,
  version: number,
  turnsOf: TurnsReader,
): Promise<Segment[]> {
  const result: Segment[][] = [];
  const seen = new Set<string>();
  let at: { readonly stream: string; readonly version: number } | undefined = { stream, version };
  while (at) {
    const thread = threadIdOf(at.stream) ?? at.stream;
    if (seen.has(at.stream)) throw new BrokenLineageError(thread, "it is its own ancestor");
    seen.add(at.stream);
    await checkAncestor(log, at, stream);
    const turns = await turnsOf(at.stream, at.version);
    const segments = ownSegments(at.stream, turns, at.version);
    result.push(segments);
    at = segments[0]?.from === 1 ? turns.fork : undefined;
  }
  return joined(result.reverse().flat());
}

async function checkAncestor(
  log: EventLog,
  at: { stream: string; version: number },
  child: string,
): Promise<void> {
  try {
    await checkVersion(log, at.stream, at.version);
  } catch (error) {
    if (at.stream === child) throw error;
    throw new BrokenLineageError(
      threadIdOf(child) ?? child,
      `its parent is missing. ${(error as Error).message}`,
    );
  }
}

/**
 * The events that the state at a version builds on, as ranges of streams, oldest first: a rewind leaves out what it
 * abandoned, a fork begins with its parent's history.
 *
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {BrokenLineageError}
 * @example
 * await resolveLineage(log, "thread-b", 3); // [{ stream: "thread-a", from: 1, to: 8 }, { stream: "thread-b", from: 1, to: 3 }]
 */
export async function resolveLineage(log: EventLog, stream: string, version: number): Promise<Segment[]> {
  return followLineage(log, stream, version, (of, upTo) => readTurns(log, of, upTo));
}

/**
 * Pages of the events that the state at a version builds on, oldest first, from all streams of its lineage.
 *
 * @param options.types only events of these types
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {BrokenLineageError}
 */
export async function* readLineage(
  log: EventLog,
  stream: string,
  version: number,
  options: { readonly types?: readonly string[] } = {},
): AsyncGenerator<readonly RecordedEvent[]> {
  for (const segment of await resolveLineage(log, stream, version)) {
    yield* log.read(segment.stream, { from: segment.from, to: segment.to, ...options });
  }
}

/**
 * Events of one whole stream without those that a rewind abandoned. The history of a fork's parent is not among them.
 *
 * @example
 * reducer.fold(effectiveEvents(events));
 */
export function effectiveEvents<Event extends FoldEvent>(events: readonly Event[]): Event[] {
  const turns = events.reduce<StreamTurns>(addTurn, noTurns);
  const last = events.at(-1)?.version ?? 0;
  const segments = ownSegments("", turns, last);
  let current = 0;
  return events.filter(({ version }) => {
    while ((segments[current]?.to ?? Number.POSITIVE_INFINITY) < version) current += 1;
    return (segments[current]?.from ?? Number.POSITIVE_INFINITY) <= version;
  });
}
