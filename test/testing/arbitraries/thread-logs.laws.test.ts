import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import { createEventRegistry } from "../../../events/event-registry.ts";
import { findBrokenLink } from "../../../events/hash-chain.ts";
import { createMemoryLog } from "../../../events/log/memory.ts";
import { resolveLineage } from "../../../projections/lineage.ts";
import { refold } from "../../../projections/refold.ts";
import { importThreads } from "../../../projections/thread-import.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { type Defect, invalidLogs } from "../../../testing/arbitraries/invalid-logs.ts";
import { threadLogLines, threadLogs } from "../../../testing/arbitraries/thread-logs.ts";

const source = { reducer: createThreadReducer({ openFields: true }), registry: createEventRegistry() };

function emptyStore() {
  return { log: createMemoryLog(), blobs: createMemoryBlobs() };
}

describe("threadLogs", () => {
  test("every chain holds, every event fits its schema", () => {
    fc.assert(
      fc.property(threadLogs(source), ({ threads }) => {
        for (const { events } of threads) {
          expect(findBrokenLink(events.map((event) => ({ ...event, position: "" })))).toBeUndefined();
          for (const { type, data } of events)
            if (source.registry.get(type)) source.registry.check({ type, data });
        }
      }),
      { numRuns: 40 },
    );
  });

  test("can be imported, and each state is the fold of the lineage, at the ends of runs by its recorded hash", async () => {
    await fc.assert(
      fc.asyncProperty(threadLogs(source, { maxForks: 2 }), async (generated) => {
        const store = emptyStore();
        await importThreads(store, threadLogLines(generated));
        for (const { threadId, events, states } of generated.threads) {
          for (const version of new Set([events.length, Math.ceil(events.length / 2)])) {
            const { state, divergence } = await refold(store.log, source, `thread-${threadId}`, version);
            expect(divergence).toBeUndefined();
            expect(state).toEqual(states[version]);
          }
          expect(await resolveLineage(store.log, `thread-${threadId}`, events.length)).not.toEqual([]);
        }
      }),
      { numRuns: 25 },
    );
  });

  test("hold everything that happens to threads", () => {
    const seen = new Set<string>();
    let parallel = 0;
    for (const { threads } of fc.sample(threadLogs(source), { numRuns: 150, seed: 7 })) {
      for (const { events } of threads) {
        for (const { type } of events) seen.add(type);
        parallel += events.filter(
          ({ type }, at) => type === "ToolCallStarted" && events[at + 1]?.type === type,
        ).length;
      }
    }
    for (const type of [
      "ThreadCreated",
      "ThreadForked",
      "ThreadRewound",
      "RunCompleted",
      "RunFailed",
      "RunCancelled",
      "RunInterrupted",
      "InterruptResolved",
      "RunTakenOver",
      "ToolCallCompleted",
      "ToolCallFailed",
      "ToolCallAbandoned",
      "TodosWritten",
      "SandboxBound",
      "NobodyKnowsThis",
    ]) {
      expect(seen.has(type), type).toBe(true);
    }
    expect(parallel).toBeGreaterThan(0);
  });

  test("`maxTurns` and `maxForks` bound what happens", () => {
    const small = fc.sample(threadLogs(source, { maxTurns: 1, maxForks: 0 }), 60);
    expect(Math.max(...small.map(({ threads }) => threads.length))).toBe(1);
    const starts = small.map(
      ({ threads }) => threads[0]?.events.filter(({ type }) => type === "RunStarted").length ?? 0,
    );
    expect(Math.max(...starts)).toBeLessThanOrEqual(2);
    const forked = fc.sample(threadLogs(source, { maxForks: 3 }), 60);
    expect(Math.max(...forked.map(({ threads }) => threads.length))).toBeGreaterThan(2);
  });
});

/** Errors that may name a defect. A changed end of a thread is a gap or a short file, whichever is seen first. */
const errors: Readonly<Record<Exclude<Defect, "data-misfit">, readonly string[]>> = {
  "data-changed": ["BrokenExportError"],
  "event-missing": ["BrokenExportError"],
  "events-swapped": ["BrokenExportError"],
  "hash-changed": ["BrokenExportError"],
  "link-changed": ["BrokenExportError"],
  "version-skipped": ["BrokenExportError"],
  "end-missing": ["ExportFormatError"],
  "event-refused": ["FoldError"],
  "schema-newer": ["NewerSchemaError"],
  "parent-missing": ["MissingParentError"],
};

describe("invalidLogs", () => {
  test("each is refused with the error of its one defect, and nothing is written", async () => {
    const found = new Map<Defect, number>();
    await fc.assert(
      fc.asyncProperty(invalidLogs(source), async ({ defect, version, events, lines }) => {
        found.set(defect, (found.get(defect) ?? 0) + 1);
        if (defect === "data-misfit") {
          const wrong = events[version - 1];
          const misfit = () => source.registry.check({ type: wrong?.type ?? "", data: wrong?.data });
          expect(misfit).toThrow(/Event TodosWritten is not valid/);
          return;
        }
        const store = emptyStore();
        const error = await importThreads(store, lines).catch((reason: Error) => reason);
        expect(errors[defect]).toContain(error instanceof Error ? error.name : "none");
        expect(await store.log.streams({})).toEqual([]);
      }),
      { numRuns: 150 },
    );
    expect(found.size).toBe(11);
  });
});
