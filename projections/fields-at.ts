import type { DataOf } from "../events/define-event.ts";
import type { FoldEvent } from "../events/envelope.ts";
import type { MessagesRemoved } from "../events/messages.ts";
import type { StateUpdated } from "../events/state-update.ts";
import { awaitsFirstMessage, compaction } from "../reducers/compaction.ts";
import { messages } from "../reducers/messages.ts";
import { composeReducers, type StateReducer } from "../reducers/thread-state.ts";
import type { FoldPages } from "./fold-pages.ts";
import type { Segment } from "./lineage.ts";
import { createSnapshotPace, firstSnapshotBytes } from "./snapshot-pace.ts";
import type { FieldsAt, Snapshots } from "./snapshots.ts";
import { createStateCache, lengthOf, type StateCache, segmentsAfter } from "./state-cache.ts";

/** Folds all fields but the messages, from the nearest snapshot on. */
export interface FieldsReader {
  read(segments: readonly Segment[]): Promise<FieldsAt>;
  forget(stream: string): void;
}

const eventsPerStep = 64;
/** So near a result in memory no snapshot is looked for. */
const maxEventsToFold = 256;

function updatesMessages({ type, data }: FoldEvent): boolean {
  return type === "StateUpdated" && (data as DataOf<typeof StateUpdated>).field === messages.field;
}

/** The list was empty or replaced at this event, so that nothing before it matters to the messages. */
export function beginsMessages(event: FoldEvent): boolean {
  if (event.type === "MessagesRemoved") return "all" in (event.data as DataOf<typeof MessagesRemoved>);
  return updatesMessages(event) && (event.data as DataOf<typeof StateUpdated>).replace === true;
}

/** The reducers of all fields but the messages. */
function fieldsReducer(reducer: StateReducer): StateReducer {
  const definitions = [...reducer.definitions.values()].filter(({ field }) => field !== messages.field);
  return composeReducers([{ source: "fields", reducers: definitions }], { openFields: reducer.openFields });
}

/** Event types that some field of a reducer folds. */
export function foldedTypes(reducer: StateReducer): string[] {
  const types = [...reducer.definitions.values()].flatMap(({ on }) => Object.keys(on));
  return [...new Set([...types, "StateUpdated"])];
}

export function createFieldsReader(options: {
  readonly reducer: StateReducer;
  readonly pages: FoldPages;
  readonly snapshots: Snapshots;
  /** Results that are kept in memory. */
  readonly cached: number;
}): FieldsReader {
  const { pages, snapshots } = options;
  const reducer = fieldsReducer(options.reducer);
  const ownMessages = options.reducer.definitions.get(messages.field) === messages;
  const allTypes = [...new Set([...foldedTypes(reducer), "MessagesRemoved"])];
  const fewTypes = typesWithoutMessages(reducer);
  const cache: StateCache<FieldsAt> = createStateCache(options.cached);

  const startOf = async (segments: readonly Segment[]) => {
    const cached = cache.best(segments);
    const rest = cached ? segmentsAfter(segments, cached) : segments;
    const isNear = cached && lengthOf(rest) <= maxEventsToFold;
    const snapshot = isNear ? undefined : await snapshots.nearest(rest);
    if (snapshot) return { at: snapshot, value: snapshot as FieldsAt, size: snapshot.size };
    if (cached) return { at: cached, value: cached.value, size: firstSnapshotBytes };
    return {
      at: undefined,
      value: { fields: reducer.initial, messagesFrom: undefined },
      size: firstSnapshotBytes,
    };
  };

  const foldFrom = async (
    start: Awaited<ReturnType<typeof startOf>>,
    segments: readonly Segment[],
    types: readonly string[],
  ): Promise<FieldsAt> => {
    const rest = start.at ? segmentsAfter(segments, start.at) : segments;
    let { fields, messagesFrom }: FieldsAt = start.value;
    const pace = createSnapshotPace(snapshots, start);
    for await (const { segment, events } of pages(rest, types)) {
      for (let from = 0; from < events.length; from += eventsPerStep) {
        const step = events.slice(from, from + eventsPerStep);
        const begin = ownMessages ? step.findLast(beginsMessages) : undefined;
        if (begin) messagesFrom = { stream: segment.stream, version: begin.version };
        fields = reducer.fold(
          step.filter((event) => !updatesMessages(event)),
          fields,
        );
        if (types !== allTypes && awaitsFirstMessage(fields)) return foldFrom(start, segments, allTypes);
        pace.advance(segment, step, () => ({ fields, messagesFrom }));
      }
    }
    // Fields that hardly anything changes leave few events to fold, and much log to look through for them.
    const last = rest.at(-1);
    if (last) pace.finish(last, () => ({ fields, messagesFrom }));
    return { fields, messagesFrom };
  };

  return {
    async read(segments) {
      const last = segments.at(-1);
      if (!last) return { fields: reducer.initial, messagesFrom: undefined };
      const start = await startOf(segments);
      const types = awaitsFirstMessage(start.value.fields) ? allTypes : fewTypes;
      const value = await foldFrom(start, segments, types);
      cache.set({ stream: last.stream, version: last.to }, value);
      return value;
    },
    forget: cache.forget,
  };
}

/**
 * The compaction looks at messages only while it awaits the first one. Without it hardly any field does, and a fold
 * need not read what takes most of the log.
 */
function typesWithoutMessages(reducer: StateReducer): readonly string[] {
  const definitions = [...reducer.definitions.values()].filter((definition) => definition !== compaction);
  const others = composeReducers([{ source: "fields", reducers: definitions }]);
  return [...new Set([...foldedTypes(others), "HistoryCompacted", "MessagesRemoved"])];
}
