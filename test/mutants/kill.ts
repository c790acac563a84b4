import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { createMemoryBlobs } from "../../events/blobs/memory.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import { sealEvents } from "../../events/hash-chain.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { refold } from "../../projections/refold.ts";
import { importThreads } from "../../projections/thread-import.ts";
import { builtInReducers, createThreadReducer } from "../../reducers/built-in.ts";
import { invalidLogs } from "../../testing/arbitraries/invalid-logs.ts";
import { threadLogLines, threadLogs } from "../../testing/arbitraries/thread-logs.ts";
import { checkReducer, checkState, checkSubject } from "../../testing/check-reducer.ts";
import { stateSubject } from "../../testing/subject-of.ts";

const source = { reducer: createThreadReducer({ openFields: true }), registry: createEventRegistry() };
const runs = 300;

/** The hash of one event, worked out once: a chain that is wrong in the same way everywhere would hold. */
const knownHash = "79f0f6593ab7eae9fd01d31734f67ab7ee00e72ecb268def99d0b93143a0fdc4";

function firstHash(): string | undefined {
  const metadata = { schema: 1, by: "user", causationId: "a", correlationId: "a" } as const;
  const event = {
    id: "a",
    type: "TodosWritten",
    data: { todos: [] },
    recordedAt: "2026-01-01T00:00:00.000Z",
    metadata,
  };
  return sealEvents("thread-a", { version: 1, hash: "f".repeat(64) }, [event])[0]?.metadata.hash;
}

async function checkLogs(): Promise<void> {
  if (firstHash() !== knownHash) throw new Error(`the hash of a known event is ${firstHash()}`);
  await fc.assert(
    fc.asyncProperty(threadLogs(source), async (generated) => {
      const target = { log: createMemoryLog(), blobs: createMemoryBlobs() };
      await importThreads(target, threadLogLines(generated));
      for (const { threadId, events, states } of generated.threads) {
        const { state } = await refold(target.log, source, `thread-${threadId}`, events.length);
        if (!isDeepStrictEqual(state, states[events.length])) throw new Error("a log folds to another state");
      }
    }),
    { numRuns: 20 },
  );
  await fc.assert(
    fc.asyncProperty(invalidLogs(source), async ({ defect, version, events, lines }) => {
      const target = { log: createMemoryLog(), blobs: createMemoryBlobs() };
      const wrong = events[version - 1];
      const taken =
        defect === "data-misfit" && wrong
          ? Promise.resolve().then(() => source.registry.check(wrong))
          : importThreads(target, lines);
      const refused = await taken.then(
        () => false,
        () => true,
      );
      if (!refused) throw new Error(`a log with the defect ${defect} was taken`);
    }),
    { numRuns: 150 },
  );
}

const [, , by = ""] = process.argv;
const reducer = builtInReducers.find(({ field }) => field === by);
if (by === "logs") await checkLogs();
else if (by === "state")
  checkState(source, { laws: ["unknown-event", "stable-reference", "bulk", "independent"], runs });
else if (reducer) checkReducer(reducer, { runs });
else checkSubject(stateSubject(source), { laws: ["total", "json-closed", "snapshot-cut", "bulk"], runs });
