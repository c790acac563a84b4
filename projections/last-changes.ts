import { type RecordedEvent, threadIdOf, threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { sameJson } from "../reducers/same-json.ts";
import type { StateReducer } from "../reducers/thread-state.ts";
import { resolveLineage, type Segment } from "./lineage.ts";
import type { StateReader } from "./state-at.ts";

/** The event that last changed a field. */
export interface LastChange {
  readonly field: string;
  readonly threadId: string;
  readonly version: number;
  readonly type: string;
  readonly by: string;
  readonly recordedAt: string;
  /** The event may have left the field as it was: too many came before it to compare them all. */
  readonly unsure?: true;
}

/** Events that are compared for one field before the answer is given as unsure. */
const maxCompared = 20;

/**
 * For each field of a state the event that gave it its value, found from the newest event backwards: the time does not
 * depend on the thread's length as long as the field's events are few or recent.
 *
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {BrokenLineageError}
 * @example
 * const changes = await readLastChanges({ log, reducer, reader }, "t1", 41);
 * changes.find(({ field }) => field === "title")?.by; // "middleware:title"
 */
export async function readLastChanges(
  sources: { readonly log: EventLog; readonly reducer: StateReducer; readonly reader: StateReader },
  threadId: string,
  version: number,
): Promise<readonly LastChange[]> {
  const segments = await resolveLineage(sources.log, threadStream(threadId), version);
  const found: LastChange[] = [];
  for (const { field, on } of sources.reducer.definitions.values()) {
    const change = await lastChange(sources, segments, field, Object.keys(on));
    if (change) found.push(change);
  }
  return found;
}

async function lastChange(
  { log, reader }: { readonly log: EventLog; readonly reader: StateReader },
  segments: readonly Segment[],
  field: string,
  ownTypes: readonly string[],
): Promise<LastChange | undefined> {
  const types = [...new Set([...ownTypes, "StateUpdated"])];
  let compared = 0;
  for (const [index, { stream, from, to }] of [...segments.entries()].reverse()) {
    for await (const page of log.read(stream, { from, to, types, backwards: true })) {
      for (const event of page) {
        if (event.type === "StateUpdated" && (event.data as { field?: unknown }).field !== field) continue;
        const before = placeBefore(segments, index, event.version);
        // A message is always added, replaced or removed; comparing whole lists would cost more than it tells.
        if (field === "messages") return changeOf(event, field);
        compared += 1;
        if (compared > maxCompared) return { ...changeOf(event, field), unsure: true };
        const now = await valueAt(reader, { stream, version: event.version }, field);
        const old = before ? await valueAt(reader, before, field) : undefined;
        if (!sameJson(now, old)) return changeOf(event, field);
      }
    }
  }
  return undefined;
}

/** The place on the lineage just before a version. */
function placeBefore(
  segments: readonly Segment[],
  index: number,
  version: number,
): { readonly stream: string; readonly version: number } | undefined {
  const segment = segments[index];
  if (segment && version > segment.from) return { stream: segment.stream, version: version - 1 };
  const previous = segments[index - 1];
  return previous && { stream: previous.stream, version: previous.to };
}

async function valueAt(
  reader: StateReader,
  { stream, version }: { readonly stream: string; readonly version: number },
  field: string,
): Promise<unknown> {
  const fields = await reader.fieldsAt(threadIdOf(stream) ?? stream, version);
  return Object.hasOwn(fields, field) ? fields[field] : undefined;
}

function changeOf(event: RecordedEvent, field: string): LastChange {
  const { stream, version, type, recordedAt, metadata } = event;
  return { field, threadId: threadIdOf(stream) ?? stream, version, type, by: metadata.by, recordedAt };
}
