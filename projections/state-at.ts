import { type FoldEvent, threadStream } from "../events/envelope.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { SideStore } from "../events/log/side-store.ts";
import { messages } from "../reducers/messages.ts";
import type { State, StateReducer } from "../reducers/thread-state.ts";
import { type Change, readChanges } from "./blame.ts";
import { createErasureWatch } from "./erasure-watch.ts";
import { createFieldsReader, foldedTypes } from "./fields-at.ts";
import { createFoldPages } from "./fold-pages.ts";
import { type HistoryOptions, type HistoryRow, readHistory } from "./history.ts";
import type { Segment } from "./lineage.ts";
import { createLineageCache } from "./lineage-cache.ts";
import { createLiveSnapshots } from "./live-snapshots.ts";
import { createMessagesReader } from "./messages-at.ts";
import { createSnapshots, dropSnapshots } from "./snapshots.ts";
import {
  createStateCache,
  lengthOf,
  placeOnLineage,
  type StreamVersion,
  segmentsAfter,
} from "./state-cache.ts";

/** A state with the version that it belongs to. */
interface VersionedState {
  readonly state: State;
  readonly version: number;
}

/** Reads the states of threads at any version. Nothing that it returns may be changed. */
export interface StateReader {
  /**
   * The whole state at a version, or at the head.
   * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {BrokenLineageError}
   * @throws {NewerSchemaError} @throws {FoldError}
   */
  stateAt(threadId: string, version?: number): Promise<State>;
  /** As `stateAt`, with the version that was the head. */
  latest(threadId: string): Promise<VersionedState>;
  /** All fields but the messages; throws as `stateAt` does. Its time does not depend on the thread's length. */
  fieldsAt(threadId: string, version?: number): Promise<State>;
  /** What happened, as rows; throws as `stateAt` does. */
  history(threadId: string, options?: HistoryOptions): Promise<readonly HistoryRow[]>;
  /**
   * The events that changed what stands at a field or JSONPath, oldest first.
   * @throws {InvalidPathError} from the iteration, as are the errors of `stateAt`
   */
  blame(threadId: string, path: string, options?: { readonly at?: number }): AsyncIterable<Change>;
  /** The last of `blame`; undefined: nothing ever changed it. */
  lastChanged(
    threadId: string,
    path: string,
    options?: { readonly at?: number },
  ): Promise<Change | undefined>;
  /** Tells of events that were appended and the state after them, so that a snapshot can be left behind. Returns at once. */
  appended(threadId: string, events: readonly FoldEvent[], state: State): void;
  /** Drops everything that is remembered of a thread: its content was erased or redacted. */
  forget(threadId: string): Promise<void>;
  /** Resolves when no snapshot is being written. */
  settled(): Promise<void>;
}

/** Farther than this from a state in memory, the messages are folded anew: their events are often at hand. */
const maxContinuedEvents = 500;
const defaultMessageBytes = 64 * 1024 * 1024;

/**
 * Opens a reader of states.
 *
 * @param options.cachedStates whole states kept in memory; 4 when left out
 * @param options.cachedMessageBytes parsed message events kept in memory, as bytes of their JSON; 64 MiB when left out
 * @example
 * const reader = createStateReader({ log, side, reducer: createThreadReducer({ openFields: true }), registry });
 * await reader.stateAt("t1", 12);
 */
export function createStateReader(options: {
  readonly log: EventLog;
  readonly side: SideStore;
  readonly reducer: StateReducer;
  readonly registry: EventRegistry;
  readonly cachedStates?: number;
  readonly cachedMessageBytes?: number;
}): StateReader {
  const { log, side, reducer, registry, cachedStates = 4 } = options;
  const { cachedMessageBytes = defaultMessageBytes } = options;
  const lineage = createLineageCache(log);
  const lostContent = createErasureWatch(log);
  const pages = createFoldPages(log, registry);
  const snapshots = createSnapshots({ log, side, description: reducer.description });
  const fields = createFieldsReader({ reducer, pages, snapshots, cached: 4 * cachedStates });
  const readMessages = createMessagesReader(reducer, pages, cachedMessageBytes);
  const types = foldedTypes(reducer);
  const live = createLiveSnapshots(snapshots);
  const states = createStateCache<State>(cachedStates);

  /** From a state that is known, when one is on the way; else fields and messages, each by its shortest way. */
  const stateOver = async (segments: readonly Segment[]): Promise<State> => {
    const last = segments.at(-1);
    if (!last) return reducer.initial;
    const known = states.best(segments);
    const isNear = known && lengthOf(segmentsAfter(segments, known)) <= maxContinuedEvents;
    const state = isNear
      ? await continued(known.value, segmentsAfter(segments, known))
      : await whole(segments);
    states.set({ stream: last.stream, version: last.to }, state);
    return state;
  };
  const continued = async (from: State, rest: readonly Segment[]): Promise<State> => {
    let state = from;
    for await (const { events } of pages(rest, types)) state = reducer.fold(events, state);
    return state;
  };
  const whole = async (segments: readonly Segment[]): Promise<State> => {
    const found = await fields.read(segments);
    if (!readMessages) return found.fields;
    const list = await readMessages.read(since(segments, found.messagesFrom));
    return { [messages.field]: list, ...found.fields };
  };

  const forgetMemory = (stream: string) => {
    lineage.forget(stream);
    fields.forget(stream);
    states.forget(stream);
    readMessages?.forget(stream);
    live.forget(stream);
  };
  const resolve = async (threadId: string, version?: number) => {
    const resolved = await lineage.resolve(threadStream(threadId), version);
    // What a fork remembers may hold content of its parent.
    if (await lostContent(resolved.segments)) {
      for (const { stream } of resolved.segments) forgetMemory(stream);
    }
    return resolved;
  };

  const reader: StateReader = {
    async stateAt(threadId, version) {
      const { segments } = await resolve(threadId, version);
      return stateOver(segments);
    },
    async latest(threadId) {
      const { segments, version } = await resolve(threadId);
      return { state: await stateOver(segments), version };
    },
    async fieldsAt(threadId, version) {
      const { segments } = await resolve(threadId, version);
      return (await fields.read(segments)).fields;
    },
    async history(threadId, historyOptions = {}) {
      const { segments } = await resolve(threadId, historyOptions.at);
      return readHistory(log, threadId, segments, historyOptions, reader);
    },
    async *blame(threadId, path, { at } = {}) {
      const { segments } = await resolve(threadId, at);
      yield* readChanges(log, registry, segments, reducer, path);
    },
    async lastChanged(threadId, path, at) {
      let last: Change | undefined;
      for await (const change of reader.blame(threadId, path, at)) last = change;
      return last;
    },
    appended: (threadId, events, state) => live.appended(threadStream(threadId), events, state),
    async forget(threadId) {
      const stream = threadStream(threadId);
      forgetMemory(stream);
      await snapshots.settled();
      await dropSnapshots(side, stream);
    },
    settled: snapshots.settled,
  };
  return reader;
}

/** The lineage from an event on, when that event is on it. */
function since(segments: readonly Segment[], from: StreamVersion | undefined): readonly Segment[] {
  if (!from || placeOnLineage(segments, from) === -1) return segments;
  return segmentsAfter(segments, { stream: from.stream, version: from.version - 1 });
}
