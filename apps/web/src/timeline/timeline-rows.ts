import type { IndexedEvent } from "../thread-view/indexed-events.ts";

/** How a run ended, as far as the events tell. */
type RunEnd = "ok" | "failed" | "cancelled" | "interrupted" | "open";

export type TimelineRow =
  | {
      readonly kind: "run";
      readonly key: string;
      readonly run: string;
      /** Ordinal of the run in the thread, from 1. */
      readonly ordinal: number;
      readonly at: number;
      readonly from: number;
      readonly to: number;
      readonly count: number;
      readonly end: RunEnd;
      readonly folded: boolean;
    }
  | {
      readonly kind: "event";
      readonly key: string;
      readonly event: IndexedEvent;
      /** It stands in a run. */
      readonly inRun: boolean;
      /** First of a step with several events. */
      readonly step: { readonly key: string; readonly count: number; readonly folded: boolean } | undefined;
    }
  | { readonly kind: "gap"; readonly key: string; readonly from: number; readonly to: number };

const ends: Readonly<Record<string, RunEnd>> = {
  RunCompleted: "ok",
  RunFailed: "failed",
  RunCancelled: "cancelled",
  RunInterrupted: "interrupted",
};

/** Events that follow each other in one run, or outside of runs; where some are missing another stretch begins. */
interface Stretch {
  readonly run: string | undefined;
  readonly events: IndexedEvent[];
}

/** Something from outside (metadata, an update) that came while a run was going on does not cut the run in two. */
function goesOnAround(around: Stretch, between: Stretch, event: IndexedEvent, isWhole: boolean): boolean {
  const last = around.events.at(-1);
  const isMissing = isWhole && between.events[0]?.version !== (last?.version ?? 0) + 1;
  return (
    !isMissing &&
    event.run !== undefined &&
    around.run === event.run &&
    between.run === undefined &&
    last !== undefined &&
    !Object.hasOwn(ends, last.type)
  );
}

function stretchesOf(events: readonly IndexedEvent[], isWhole: boolean): Stretch[] {
  const stretches: Stretch[] = [];
  for (const event of events) {
    const last = stretches.at(-1);
    const before = last?.events.at(-1)?.version ?? 0;
    const isNext = !isWhole || event.version === before + 1;
    const around = stretches.at(-2);
    if (last && last.run === event.run && isNext) last.events.push(event);
    else if (last && around && isNext && goesOnAround(around, last, event, isWhole)) {
      around.events.push(...last.events, event);
      stretches.pop();
    } else stretches.push({ run: event.run, events: [event] });
  }
  return stretches;
}

/** Rows of one stretch: steps can be folded to their first event. */
function rowsOfStretch({ run, events }: Stretch, folded: ReadonlySet<string>): TimelineRow[] {
  const rows: TimelineRow[] = [];
  for (let start = 0; start < events.length; ) {
    const first = events[start];
    if (!first) break;
    let end = start + 1;
    while (first.step !== undefined && events[end]?.step === first.step) end += 1;
    const count = end - start;
    const key = `step:${first.version}`;
    const isFolded = folded.has(key);
    const step = run !== undefined && count > 1 ? { key, count, folded: isFolded } : undefined;
    for (const event of events.slice(start, isFolded ? start + 1 : end)) {
      rows.push({
        kind: "event",
        key: `event:${event.version}`,
        event,
        inRun: event.run !== undefined,
        step: event === first ? step : undefined,
      });
    }
    start = end;
  }
  return rows;
}

/**
 * Rows of a timeline, oldest first: a heading for each run, then its events; a mark where versions are missing.
 *
 * @param all events of the thread as far as they are known
 * @param shown those of them that fit the filters
 * @param folded keys of runs and steps that are folded
 */
export function timelineRows(
  all: readonly IndexedEvent[],
  shown: readonly IndexedEvent[],
  folded: ReadonlySet<string>,
): readonly TimelineRow[] {
  const ordinals = new Map<string, number>();
  const endOf = new Map<string, RunEnd>();
  for (const { type, run } of all) {
    if (run === undefined) continue;
    if (!ordinals.has(run)) ordinals.set(run, ordinals.size + 1);
    const end = ends[type];
    if (end) endOf.set(run, end);
  }
  const isWhole = shown.length === all.length;
  const rows: TimelineRow[] = [];
  let before: IndexedEvent | undefined;
  for (const stretch of stretchesOf(shown, isWhole)) {
    const { run, events } = stretch;
    const first = events[0];
    const last = events.at(-1);
    if (!first || !last) continue;
    if (isWhole && before && first.version > before.version + 1) {
      rows.push({
        kind: "gap",
        key: `gap:${first.version}`,
        from: before.version + 1,
        to: first.version - 1,
      });
    }
    before = last;
    if (run === undefined) {
      rows.push(...rowsOfStretch(stretch, folded));
      continue;
    }
    const key = `run:${run}:${first.version}`;
    const isFolded = folded.has(key);
    rows.push({
      kind: "run",
      key,
      run,
      ordinal: ordinals.get(run) ?? 0,
      at: first.at,
      from: first.version,
      to: last.version,
      count: events.length,
      end: endOf.get(run) ?? "open",
      folded: isFolded,
    });
    if (!isFolded) rows.push(...rowsOfStretch(stretch, folded));
  }
  return rows;
}

/** Place of the row that shows a version: its event, or the folded run that holds it; the one before when it is filtered out. */
export function rowOfVersion(rows: readonly TimelineRow[], version: number): number {
  let low = 0;
  let high = rows.length;
  const first = (row: TimelineRow) => (row.kind === "event" ? row.event.version : row.from);
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row && first(row) <= version) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
