import type { RecordedEvent } from "../envelope.ts";
import { chainStart, type SealedEvent, sealEvents } from "../hash-chain.ts";
import type { Json } from "../json.ts";
import {
  AppendOutcomeUnknownError,
  type AppendResult,
  EventTooLargeError,
  type ExpectedVersion,
  eventOverheadBytes,
  StreamDeletedError,
  type StreamHead,
  VersionConflict,
} from "./event-log.ts";
import { encodeEvent } from "./kurrentdb-events.ts";
import { type ErasureNote, erasedStream, type KurrentReader } from "./kurrentdb-reader.ts";
import { errorType, isTransient, type KurrentSession } from "./kurrentdb-session.ts";
import { toPosition } from "./position.ts";
import type { PreparedEvent } from "./prepare-append.ts";
import { createRecentlyUsed } from "./recently-used.ts";
import { anyRetryWindow, earlierAppend } from "./retry.ts";

export interface KurrentWriter {
  append(
    stream: string,
    prepared: readonly PreparedEvent[],
    expected: ExpectedVersion,
  ): Promise<AppendResult>;
  erase(stream: string, expected: number | undefined): Promise<void>;
  /** Lets a read be answered before anything that is appended from now on. */
  before<Result>(read: Promise<Result>): Promise<Result>;
  /** Resolves when everything that was asked for has its answer. */
  idle(): Promise<void>;
}

const maxStreams = 2000;
const tooLargeType = "maximum-append-size-exceeded";
const noStream: StreamHead = { version: 0, hash: chainStart, deleted: false };

export function createKurrentWriter(
  session: KurrentSession,
  reader: KurrentReader,
  placeAtOpening: number,
  announce: () => void,
): KurrentWriter {
  const known = createRecentlyUsed<string, StreamHead>(maxStreams);
  const turns = new Map<string, Promise<unknown>>();
  const reads = new Set<Promise<unknown>>();
  /** Place of the last event that the server is known to have. */
  let newest = placeAtOpening;

  /** Appends of one stream go one after the other; streams do not wait for each other. */
  const inTurn = <Result>(stream: string, work: () => Promise<Result>): Promise<Result> => {
    const before = turns.get(stream);
    const turn =
      before === undefined && reads.size === 0 ? work() : Promise.allSettled([before, ...reads]).then(work);
    turns.set(stream, turn);
    const leave = () => {
      if (turns.get(stream) === turn) turns.delete(stream);
    };
    turn.then(leave, leave);
    return turn;
  };

  const refresh = async (stream: string): Promise<StreamHead> => {
    const head = await reader.head(stream);
    known.set(stream, head);
    return head;
  };

  const readRange = async (stream: string, from: number, to: number): Promise<RecordedEvent[]> => {
    const events: RecordedEvent[] = [];
    for await (const page of reader.read(stream, { from, to })) events.push(...page);
    return events;
  };

  const resultOf = (events: readonly RecordedEvent[]): AppendResult | undefined => {
    const last = events.at(-1);
    return last && { version: last.version, position: last.position, events };
  };

  const findEarlier = async (
    stream: string,
    ids: readonly string[],
    expected: ExpectedVersion,
    { version }: StreamHead,
  ): Promise<AppendResult | undefined> => {
    if (version === 0 || ids.length === 0) return undefined;
    const after = expected === "no-stream" ? 0 : expected;
    const from = after === "any" ? Math.max(1, version - anyRetryWindow + 1) : after + 1;
    const to = after === "any" ? version : Math.min(version, after + ids.length);
    if (from > to) return undefined;
    const events = await readRange(stream, from, to);
    const earlier = earlierAppend(ids, expected, version, {
      read: (first, last) => events.filter((event) => event.version >= first && event.version <= last),
      find: (id, first) => events.findLast((event) => event.version >= first && event.id === id)?.version,
    });
    return earlier && resultOf(earlier);
  };

  /** Undefined: the stream is not where it was believed to be, and nothing was written. */
  const write = async (
    stream: string,
    head: StreamHead,
    sealed: readonly SealedEvent[],
    prepared: readonly PreparedEvent[],
  ): Promise<AppendResult | undefined> => {
    // As it will be read: what the caller holds of its own event may change.
    const datas: Json[] = prepared.map(({ dataText }) => JSON.parse(dataText));
    const wire = sealed.map((event, index) => encodeEvent(event, datas[index] ?? null));
    const state = head.version === 0 ? "no_stream" : BigInt(head.version - 1);
    const options = { streamState: state, expectedRevision: state } as const;
    const written = await session.once((client) => client.appendToStream(stream, wire, options));
    const first = sealed[0];
    const last = sealed.at(-1);
    if (!first || !last) return undefined;
    const place = Number(written.position?.commit ?? 0);
    const isNew = place > newest && Number(written.nextExpectedRevision) + 1 === last.version;
    newest = Math.max(newest, place);
    // The server gives the position of the last event only. And when it had these ids already, what it holds counts.
    const events =
      isNew && sealed.length === 1
        ? [{ ...first, data: datas[0] ?? null, position: toPosition(place) }]
        : await readRange(stream, first.version, last.version);
    const result = resultOf(events);
    const hash = events.at(-1)?.metadata.hash ?? last.metadata.hash;
    known.set(stream, { version: last.version, hash, deleted: false });
    return result;
  };

  const append = async (
    stream: string,
    prepared: readonly PreparedEvent[],
    expected: ExpectedVersion,
  ): Promise<AppendResult> => {
    const startedAt = Date.now();
    const wanted = expected === "no-stream" ? 0 : expected;
    const ids = prepared.map(({ event }) => event.id);
    const newEvents = prepared.map(({ event }) => event);
    let lost: unknown;
    // Who begins a stream believes that it is not there, and the server checks it: a read may cost the newer client 40 ms.
    // But not as the first call of all: reads tell what is wrong with a server that cannot be reached.
    let head = known.get(stream) ?? (wanted === 0 && newest > 0 ? noStream : await refresh(stream));
    let isFresh = false;
    for (let attempt = 0; ; attempt++) {
      if (!isFresh && (head.deleted || wanted !== head.version || prepared.length === 0)) {
        head = await refresh(stream);
        isFresh = true;
      }
      if (head.deleted) throw new StreamDeletedError(stream);
      if (wanted !== head.version || lost !== undefined) {
        const earlier = await findEarlier(stream, ids, expected, head);
        if (earlier) return earlier;
      }
      if (wanted !== "any" && wanted !== head.version)
        throw new VersionConflict(stream, expected, head.version);
      if (prepared.length === 0) {
        const [last] = head.version > 0 ? await readRange(stream, head.version, head.version) : [];
        return { version: head.version, position: last?.position ?? toPosition(0), events: [] };
      }
      try {
        const result = await write(stream, head, sealEvents(stream, head, newEvents), prepared);
        if (result) {
          announce();
          return result;
        }
      } catch (error) {
        const type = errorType(error);
        if (type === "stream-deleted") throw new StreamDeletedError(stream);
        if (isTransient(error)) lost = error;
        else if (type === "") throw error;
        else if (type === tooLargeType) throw tooLarge(stream, prepared, error);
        else if (type !== "wrong-expected-version") throw session.unavailable(error);
      }
      if (lost !== undefined && !(await session.backOff(startedAt, attempt)))
        throw outcomeUnknown(stream, lost);
      head = await refresh(stream).catch((error: unknown) => {
        throw lost === undefined ? error : outcomeUnknown(stream, lost);
      });
      isFresh = true;
    }
  };

  /** The server was told to take less than the stores agree on. */
  const tooLarge = (stream: string, prepared: readonly PreparedEvent[], error: unknown) => {
    const { maxAppendSize = 0 } = error as { readonly maxAppendSize?: number };
    const bytes = prepared.reduce(
      (sum, one) => sum + Buffer.byteLength(one.dataText) + eventOverheadBytes,
      0,
    );
    return new EventTooLargeError(stream, `An append of ${prepared.length} events`, bytes, maxAppendSize);
  };

  const outcomeUnknown = (stream: string, cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new AppendOutcomeUnknownError(
      `The server did not say whether the append to ${stream} happened: ${reason}. Retry the same events at the same expected version.`,
      { cause },
    );
  };

  const note = (data: ErasureNote) => {
    const event = {
      id: crypto.randomUUID(),
      type: "StreamErased",
      contentType: "application/json",
      data,
      metadata: {},
    } as const;
    return session.repeat((client) =>
      client.appendToStream(erasedStream, [event], { streamState: "any", expectedRevision: "any" }),
    );
  };

  const erase = async (stream: string, expected: number | undefined): Promise<void> => {
    for (;;) {
      const head = await refresh(stream);
      if (head.deleted) return;
      const { version, hash } = head;
      if (expected !== undefined && version !== expected)
        throw new VersionConflict(stream, expected, version);
      const expectedRevision = version === 0 ? "no_stream" : BigInt(version - 1);
      // First a note: a tombstone alone would not tell which events of $all are gone.
      await note({ stream, version, hash });
      try {
        await session.repeat((client) => client.tombstoneStream(stream, { expectedRevision }));
        // And one more, so that no reader has to look whether the stream is really gone.
        await note({ stream, version, hash, done: true });
        known.set(stream, { ...head, deleted: true });
        return;
      } catch (error) {
        const type = errorType(error);
        if (type !== "wrong-expected-version" && type !== "stream-deleted") throw error;
      }
    }
  };

  return {
    append: (stream, prepared, expected) => inTurn(stream, () => append(stream, prepared, expected)),
    erase: (stream, expected) => inTurn(stream, () => erase(stream, expected)),
    before(read) {
      const settled = read.finally(() => reads.delete(settled));
      reads.add(settled);
      return settled;
    },
    async idle() {
      await Promise.allSettled(turns.values());
    },
  };
}
