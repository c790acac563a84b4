import type { Json } from "./json.ts";

/** Who emitted an event. */
export type Emitter =
  | "user"
  | "client"
  | "runtime"
  | `model:${string}`
  | `tool:${string}`
  | `middleware:${string}`;

/** What an event says about itself besides its data. Hash fields are set when the event is recorded. */
export interface EventMetadata {
  /** Schema version of `data`, counted from 1. */
  readonly schema: number;
  readonly by: Emitter;
  /** Id of the event that led to this one; an event without a cause names itself. */
  readonly causationId: string;
  /** One id for everything that follows from one input: the run id, or the event's own id outside a run. */
  readonly correlationId: string;
  readonly runId?: string;
  /** Ordinal of the step in its run, from 0. */
  readonly step?: number;
  /** W3C trace context. */
  readonly traceparent?: string;
}

/** An event that is ready to be appended: id and time are minted, the place in the log is not known yet. */
export interface NewEvent {
  /** UUIDv7. The idempotency key of the append. */
  readonly id: string;
  readonly type: string;
  readonly data: Json;
  /** ISO 8601 with milliseconds, UTC. */
  readonly recordedAt: string;
  readonly metadata: EventMetadata;
}

/** An event as the log holds it, on every wire and in every export. */
export interface RecordedEvent extends Omit<NewEvent, "metadata"> {
  /** `thread-<threadId>` for threads. */
  readonly stream: string;
  /** Counts from 1 in its stream. */
  readonly version: number;
  /** Global order: an opaque string; comparing two as strings gives their order in one log. */
  readonly position: string;
  readonly metadata: EventMetadata & {
    /** Lower-case hex SHA-256 of `previousHash` and the canonical JSON of the event without its hashes and position. */
    readonly hash: string;
    /** Hash of the event before it in the stream; 64 zeros for the first. */
    readonly previousHash: string;
  };
}

/** A recorded event without what most readers of a whole log leave alone: ids, causes and hashes. */
export interface BriefEvent extends Pick<NewEvent, "type" | "data" | "recordedAt"> {
  readonly stream: string;
  readonly version: number;
  readonly position: string;
  readonly metadata: Pick<EventMetadata, "schema" | "runId">;
}

export function briefOf(event: BriefEvent): BriefEvent {
  const { type, data, stream, version, position, recordedAt, metadata } = event;
  const { schema, runId } = metadata;
  return {
    type,
    data,
    stream,
    version,
    position,
    recordedAt,
    metadata: runId === undefined ? { schema } : { schema, runId },
  };
}

/** What a reducer sees of an event. */
export interface FoldEvent<Data = unknown> {
  readonly type: string;
  readonly data: Data;
  readonly version: number;
}

/** `thread-<id>` */
export function threadStream(threadId: string): string {
  return `thread-${threadId}`;
}

/** The thread id of a stream, or undefined for a stream that is not a thread's. */
export function threadIdOf(stream: string): string | undefined {
  return stream.startsWith("thread-") ? stream.slice("thread-".length) : undefined;
}
