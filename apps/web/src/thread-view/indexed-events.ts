import type { TimelineIndex, TimelineMark } from "../../../../projections/timeline-index.ts";
import type { BareEvent } from "../api/log-api.ts";

/** What a timeline knows of an event without having read it. */
export interface IndexedEvent {
  readonly version: number;
  readonly type: string;
  readonly by: string;
  readonly run: string | undefined;
  readonly step: number | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Events of one part of an index, oldest first. */
export function eventsOfIndex(index: TimelineIndex): IndexedEvent[] {
  const { types, emitters, runs } = index;
  let at = index.start;
  return index.version.map((version, row) => {
    at += index.after[row] ?? 0;
    const step = index.step[row] ?? -1;
    return {
      version,
      type: types[index.type[row] ?? 0] ?? "",
      by: emitters[index.by[row] ?? 0] ?? "",
      run: runs[index.run[row] ?? -1],
      step: step === -1 ? undefined : step,
      at,
    };
  });
}

/** The same of an event that was heard live. */
export function indexedEvent({ version, type, recordedAt, metadata }: BareEvent): IndexedEvent {
  const { by, runId, step } = metadata;
  return { version, type, by, run: runId, step, at: Date.parse(recordedAt) };
}

/** Types whose marks need what the event holds: the index is read again when one is heard live. */
export const markedTypes: ReadonlySet<string> = new Set([
  "ThreadRewound",
  "ThreadForked",
  "ContentRedacted",
  "HeadNamed",
]);

/** Versions that redactions took content out of. */
export function redactedVersions(marks: readonly TimelineMark[]): ReadonlySet<number> {
  return new Set(marks.flatMap((mark) => (mark.kind === "redacted" ? mark.versions : [])));
}

/** Place of a version in events that are in order; the place where it would stand when it is not there. */
export function placeOfVersion(events: readonly IndexedEvent[], version: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.version ?? 0) < version) low = middle + 1;
    else high = middle;
  }
  return low;
}
