import { test as propertyTest } from "@fast-check/vitest";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { IndexedEvent } from "../../apps/web/src/thread-view/indexed-events.ts";
import { rowOfVersion, timelineRows } from "../../apps/web/src/timeline/timeline-rows.ts";

const threads = fc
  .array(
    fc.record({
      run: fc.constantFrom(undefined, "r1", "r2", "r3"),
      step: fc.constantFrom(undefined, 0, 1, 2),
      type: fc.constantFrom("RunStarted", "ModelResponded", "RunCompleted", "RunFailed", "TitleSet"),
    }),
    { maxLength: 60 },
  )
  .map((parts): IndexedEvent[] =>
    parts.map((part, index) => ({ ...part, version: index + 1, by: "runtime", at: index })),
  );

const none: ReadonlySet<string> = new Set();

describe("rows of the timeline", () => {
  propertyTest.prop([threads])(
    "unfolded, every event has one row, in order, below the heading of its run",
    (events) => {
      const rows = timelineRows(events, events, none);
      expect(rows.flatMap((row) => (row.kind === "event" ? [row.event] : []))).toEqual(events);
      let run: string | undefined;
      for (const row of rows) {
        if (row.kind === "run") run = row.run;
        else if (row.kind === "event" && row.inRun) expect(row.event.run).toBe(run);
      }
      expect(rows.filter((row) => row.kind === "gap")).toEqual([]);
    },
  );

  propertyTest.prop([threads])("folded, each run is one row that counts what it holds", (events) => {
    const open = timelineRows(events, events, none);
    const headings = open.flatMap((row) => (row.kind === "run" ? [row] : []));
    const rows = timelineRows(events, events, new Set(headings.map(({ key }) => key)));
    const outside = rows.filter((row) => row.kind === "event" && row.event.run === undefined).length;
    expect(rows).toHaveLength(headings.length + outside);
    const inside = headings.reduce((sum, { count }) => sum + count, 0);
    expect(inside + outside).toBe(events.length);
  });

  propertyTest.prop([threads, fc.nat(70), fc.boolean()])(
    "the row of a version shows it, or the last one before it",
    (events, version, isFolded) => {
      const open = timelineRows(events, events, none);
      const keys = open.flatMap((row) => (row.kind === "run" ? [row.key] : []));
      const rows = timelineRows(events, events, isFolded ? new Set(keys) : none);
      const row = rows[rowOfVersion(rows, version)];
      const wanted = Math.min(version, events.length);
      if (wanted === 0) expect(row).toBeUndefined();
      else if (row?.kind === "event") expect(row.event.version).toBe(wanted);
      else if (row?.kind === "run") expect(row.from <= wanted && wanted <= row.to).toBe(true);
    },
  );

  test("what comes from outside while a run goes on does not cut the run in two; after its end it stands below", () => {
    const event = (version: number, type: string, run?: string): IndexedEvent => ({
      version,
      type,
      by: "runtime",
      run,
      step: undefined,
      at: version,
    });
    const events = [
      event(1, "RunStarted", "r1"),
      event(2, "ThreadMetadataSet"),
      event(3, "ModelResponded", "r1"),
      event(4, "RunInterrupted", "r1"),
      event(5, "TitleSet"),
      event(6, "RunResumed", "r1"),
    ];
    const headings = timelineRows(events, events, none).flatMap((row) => (row.kind === "run" ? [row] : []));
    expect(headings.map(({ from, to, count }) => [from, to, count])).toEqual([
      [1, 4, 4],
      [6, 6, 1],
    ]);
    const [first, , ...rest] = events;
    const withGap = [first, ...rest.map((one) => ({ ...one, version: one.version + 3 }))].flatMap(
      (one) => one ?? [],
    );
    const late = { ...event(5, "ThreadMetadataSet") };
    const cut = [...withGap.slice(0, 1), late, ...withGap.slice(1)];
    expect(timelineRows(cut, cut, none).filter(({ kind }) => kind === "gap")).toHaveLength(1);
  });

  test("missing versions are marked, and not where a filter leaves events out", () => {
    const event = (version: number): IndexedEvent => ({
      version,
      type: "TitleSet",
      by: "user",
      run: undefined,
      step: undefined,
      at: version,
    });
    const events = [event(1), event(2), event(6)];
    expect(timelineRows(events, events, none)).toContainEqual({ kind: "gap", key: "gap:6", from: 3, to: 5 });
    expect(timelineRows(events, [event(1), event(6)], none).filter(({ kind }) => kind === "gap")).toEqual([]);
  });
});
