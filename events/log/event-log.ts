import type { BriefEvent, FoldEvent, NewEvent, RecordedEvent } from "../envelope.ts";
import type { ChainHead } from "../hash-chain.ts";
import type { Json } from "../json.ts";

/** `"no-stream"` is the same as 0; `"any"` appends wherever the stream ends and is not a safe retry. */
export type ExpectedVersion = number | "any" | "no-stream";

interface AppendOptions {
  readonly expectedVersion: ExpectedVersion;
}

export interface AppendResult {
  /** Version of the last event of the batch. */
  readonly version: number;
  /** Position of the last event of the batch. */
  readonly position: string;
  /** The events as recorded, in order. */
  readonly events: readonly RecordedEvent[];
}

export interface ReadOptions {
  /** First version, counted from 1. */
  readonly from?: number;
  /** Last version, included. */
  readonly to?: number;
  readonly backwards?: boolean;
  /** Events at most. */
  readonly limit?: number;
  readonly types?: readonly string[];
}

export type FoldReadOptions = Pick<ReadOptions, "from" | "to" | "types">;

export interface ReadAllOptions {
  /** Position after which to start; from the beginning when left out. */
  readonly after?: string;
  readonly types?: readonly string[];
  readonly limit?: number;
}

export interface SubscribeOptions {
  /** Position after which to start; `"end"`: only what comes from now on. From the beginning when left out. */
  readonly after?: string | "end";
  readonly types?: readonly string[];
  readonly stream?: string;
  readonly signal?: AbortSignal;
}

/** `caught-up` comes once, when everything recorded before the subscription began has been given. */
export type SubscriptionItem =
  | { readonly kind: "event"; readonly event: RecordedEvent }
  | { readonly kind: "caught-up"; readonly position: string | undefined };

export interface StreamHead extends ChainHead {
  /** The stream was deleted: it refuses appends for ever. */
  readonly deleted: boolean;
}

export interface StreamSummary {
  readonly stream: string;
  readonly version: number;
  readonly firstRecordedAt: string;
  readonly lastRecordedAt: string;
}

/** What a fold needs of a recorded event: its data as it was recorded, with the schema version for the upcasters. */
export interface StoredFoldEvent extends FoldEvent<Json> {
  readonly schema: number;
}

/** What every store of events can do. One contract suite (`test/events/log/event-log.contract.ts`) holds for all. */
export interface EventLog {
  /** `sqlite`, `memory`, `kurrentdb`, `postgres` … */
  readonly kind: string;
  /** The log underneath, when this one decrypts: events as they are stored, over which the hashes are. */
  readonly stored?: EventLog;
  /**
   * Appends events to one stream, all or none, and resolves when they are durable. The same ids at the same expected
   * version again resolve with the first result.
   * @throws {VersionConflict} the stream is at another version
   * @throws {StreamDeletedError} @throws {EventTooLargeError} @throws {InvalidNameError}
   * @throws {AppendOutcomeUnknownError} retry with the same ids and the same expected version
   * @throws {LogUnavailableError} nothing was written
   */
  append(stream: string, events: readonly NewEvent[], options: AppendOptions): Promise<AppendResult>;
  /** Pages of events of one stream, oldest first unless `backwards`. A stream that is not there is empty. */
  read(stream: string, options?: ReadOptions): AsyncIterable<readonly RecordedEvent[]>;
  /**
   * Pages of what a fold needs of one stream, oldest first: a faster `read` in stores that have one. The same events,
   * not upcast and without a chain to verify.
   */
  readForFold?(stream: string, options?: FoldReadOptions): AsyncIterable<readonly StoredFoldEvent[]>;
  /** Pages of events of all streams in order of position. */
  readAll(options?: ReadAllOptions): AsyncIterable<readonly RecordedEvent[]>;
  /** A faster `readAll` in stores that have one: the same events, without ids, causes and hashes. */
  readAllBriefly?(options?: ReadAllOptions): AsyncIterable<readonly BriefEvent[]>;
  /** Events as they are recorded, at least once each, in order of position; ends when `signal` aborts or the log closes. */
  subscribe(options?: SubscribeOptions): AsyncIterable<SubscriptionItem>;
  /** Version 0: no stream. */
  head(stream: string): Promise<StreamHead>;
  /** Streams by name; `after` pages on. */
  streams(options?: { prefix?: string; after?: string; limit?: number }): Promise<readonly StreamSummary[]>;
  /**
   * What the store itself finds wrong with its files, one line each; empty: nothing. Complements the hash chain, which
   * cannot miss events that are gone from the end of a stream.
   */
  check?(): Promise<readonly string[]>;
  /**
   * Takes the events of a stream away for good and leaves a tombstone that refuses appends. With `expectedVersion` only
   * while the stream is there.
   *
   * @throws {VersionConflict} something was appended since; nothing was taken away
   */
  erase(stream: string, options?: EraseStreamOptions): Promise<void>;
  close(): Promise<void>;
}

interface EraseStreamOptions {
  readonly expectedVersion?: number | undefined;
}

/** Largest event, as JSON text in UTF-8 bytes. The same in every store, so that a log can move. */
export const maxEventBytes = 512 * 1024;
/** Largest append, as the sum of its events, each with `eventOverheadBytes` on top. */
export const maxAppendBytes = 1_000_000;
/** What an event takes in an append beside its JSON: its two hashes, and what the protocols of servers add. */
export const eventOverheadBytes = 256;

export class VersionConflict extends Error {
  override readonly name = "VersionConflict";
  constructor(
    readonly stream: string,
    readonly expected: ExpectedVersion,
    readonly actual: number,
  ) {
    super(
      expected === "no-stream" || expected === 0
        ? `Stream ${stream} is there already, at version ${actual}; nothing was written. Take another id, or read it and go on from there.`
        : `Stream ${stream} is at version ${actual}, not at ${expected}: somebody else wrote to it. Read the new events and try again.`,
    );
  }
}

export class StreamDeletedError extends Error {
  override readonly name = "StreamDeletedError";
  constructor(readonly stream: string) {
    super(`Stream ${stream} was deleted and takes no more events. Use another thread id.`);
  }
}

export class EventTooLargeError extends Error {
  override readonly name = "EventTooLargeError";
  constructor(
    readonly stream: string,
    readonly type: string,
    readonly bytes: number,
    readonly limit: number,
  ) {
    super(
      `${type} for ${stream} has ${bytes} bytes, the limit is ${limit}. Put large content into the blob store and record its digest.`,
    );
  }
}

export class InvalidNameError extends Error {
  override readonly name = "InvalidNameError";
  constructor(readonly value: string) {
    super(
      `"${value.slice(0, 80)}" is no valid stream name: 1 to 200 of the characters A-Z a-z 0-9 . _ : / -, starting with a letter or digit.`,
    );
  }
}

/** The store did not say whether the append happened. Retrying the same ids at the same expected version is safe. */
export class AppendOutcomeUnknownError extends Error {
  override readonly name = "AppendOutcomeUnknownError";
}

/** The store cannot be reached or read; nothing was written. */
export class LogUnavailableError extends Error {
  override readonly name = "LogUnavailableError";
}

/** The file is not a Threadfold store, or it is damaged, or a newer version made it. */
export class LogFormatError extends Error {
  override readonly name = "LogFormatError";
}

/** A stored event cannot be read back: its row was changed outside Threadfold, or the disk damaged it. */
export class DamagedEventError extends Error {
  override readonly name = "DamagedEventError";
  constructor(
    readonly stream: string,
    readonly version: number,
    reason: string,
  ) {
    super(
      `${stream}@${version} is damaged: ${reason}. Restore the store from a backup; the versions before it can still be read.`,
    );
  }
}

const streamName = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/;

/** @throws {InvalidNameError} */
export function checkStreamName(stream: string): void {
  if (!streamName.test(stream)) throw new InvalidNameError(stream);
}
