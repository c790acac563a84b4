import { createHash } from "node:crypto";
import type { RecordedEvent } from "../../../events/envelope.ts";
import { threadIdOf, threadStream } from "../../../events/envelope.ts";
import type { EventLog } from "../../../events/log/event-log.ts";

/** 100-ns ticks from the beginning of the Gregorian calendar, where UUID times start, to 1970. */
const gregorianTicks = 122_192_928_000_000_000n;
const ticksPerMs = 10_000;

/**
 * The checkpoint id of a version of a thread: a UUIDv6 whose time is that of the event, so that ids sort as the
 * versions do, and whose last part is the version. Nothing is stored for it.
 *
 * @param recordedAt ISO time of the event at that version
 * @example
 * checkpointIdOf("thread-t1", 12, "2026-01-01T00:00:00.000Z"); // "1f0e6a…-…-6…-…-00000000000c"
 */
export function checkpointIdOf(stream: string, version: number, recordedAt: string): string {
  const ticks =
    BigInt(Date.parse(recordedAt)) * BigInt(ticksPerMs) + BigInt(version % ticksPerMs) + gregorianTicks;
  const high = hex(ticks >> 28n, 8);
  const middle = hex((ticks >> 12n) & 0xffffn, 4);
  const low = hex(ticks & 0xfffn, 3);
  const sequence = hex(BigInt(0x8000 | (streamDigest(stream) & 0x3fff)), 4);
  return `${high}-${middle}-6${low}-${sequence}-${hex(BigInt(version), 12)}`;
}

function hex(value: bigint, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

function streamDigest(stream: string): number {
  return createHash("sha256").update(stream).digest().readUInt16BE(0);
}

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-6[0-9a-f]{3}-[89ab][0-9a-f]{3}-([0-9a-f]{12})$/;

/** A version of a thread, or of one that it was forked from. */
export interface CheckpointPlace {
  readonly threadId: string;
  readonly version: number;
}

/** The version that an id stands for in a thread's history; undefined: it is none of this thread's. */
export async function findCheckpoint(
  log: EventLog,
  threadId: string,
  id: string,
): Promise<CheckpointPlace | undefined> {
  const digits = pattern.exec(id)?.[1];
  if (digits === undefined) return undefined;
  const version = Number.parseInt(digits, 16);
  const seen = new Set<string>();
  let stream: string | undefined = threadStream(threadId);
  let limit = Number.POSITIVE_INFINITY;
  while (stream !== undefined && !seen.has(stream)) {
    seen.add(stream);
    const event = version <= limit ? await eventAt(log, stream, Math.max(1, version)) : undefined;
    if (event && checkpointIdOf(stream, version, event.recordedAt) === id) {
      return { threadId: threadIdOf(stream) ?? stream, version };
    }
    const first: RecordedEvent | undefined = await eventAt(log, stream, 1);
    const fork = first?.type === "ThreadForked" ? (first.data as unknown as ForkData) : undefined;
    stream = fork && threadStream(fork.parentThreadId);
    limit = fork?.parentVersion ?? 0;
  }
  return undefined;
}

interface ForkData {
  readonly parentThreadId: string;
  readonly parentVersion: number;
}

/** One event of a stream, when it is there. */
export async function eventAt(
  log: EventLog,
  stream: string,
  version: number,
): Promise<RecordedEvent | undefined> {
  for await (const page of log.read(stream, { from: version, to: version })) return page[0];
  return undefined;
}
