import { type Emitter, type RecordedEvent, threadIdOf } from "../events/envelope.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { sameJson } from "../reducers/same-json.ts";
import { composeReducers, type State, type StateReducer } from "../reducers/thread-state.ts";
import { foldedTypes } from "./fields-at.ts";
import type { StatePath } from "./json-path.ts";
import type { Segment } from "./lineage.ts";

/** An event that changed what stands at a path. */
export interface Change {
  readonly threadId: string;
  readonly version: number;
  readonly id: string;
  readonly type: string;
  readonly by: Emitter;
  readonly recordedAt: string;
  readonly runId: string | undefined;
  /** What stood at the path before the event; empty: nothing. */
  readonly before: readonly unknown[];
  readonly after: readonly unknown[];
}

/** Only the fields that a path can reach have to be folded. */
function reducerFor(path: StatePath, reducer: StateReducer): StateReducer {
  const { fields } = path;
  if (!fields) return reducer;
  const reducers = [...reducer.definitions.values()].filter(({ field }) => fields.includes(field));
  return composeReducers([{ source: "path", reducers }], { openFields: reducer.openFields });
}

function touches(before: State, after: State, fields: readonly string[] | undefined): boolean {
  if (before === after) return false;
  return !fields || fields.some((field) => before[field] !== after[field]);
}

function changeOf(event: RecordedEvent, before: readonly unknown[], after: readonly unknown[]): Change {
  const { version, id, type, recordedAt, metadata } = event;
  const threadId = threadIdOf(event.stream) ?? event.stream;
  return { threadId, version, id, type, by: metadata.by, recordedAt, runId: metadata.runId, before, after };
}

/** Changes of what stands at a path, oldest first, as `StateReader.blame` gives them. */
export async function* readChanges(
  log: EventLog,
  registry: EventRegistry,
  segments: readonly Segment[],
  reducer: StateReducer,
  text: string,
): AsyncGenerator<Change> {
  const { compilePath } = await import("./json-path.ts");
  const path = compilePath(text);
  const own = reducerFor(path, reducer);
  const types = foldedTypes(own);
  let state = own.initial;
  let values = path.values(state);
  for (const { stream, from, to } of segments) {
    for await (const page of log.read(stream, { from, to, types })) {
      for (const event of page) {
        const { type, version, metadata } = event;
        const data = registry.upcast(type, event.data, metadata.schema);
        const before = state;
        state = own.apply(state, { type, version, data });
        if (!touches(before, state, path.fields)) continue;
        const now = path.values(state);
        if (sameJson(values, now)) continue;
        yield changeOf(event, values, now);
        values = now;
      }
    }
  }
}
