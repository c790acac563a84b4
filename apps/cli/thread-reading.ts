import { threadStream } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { resolveLineage } from "../../projections/lineage.ts";
import { builtInReducers } from "../../reducers/built-in.ts";
import type { AnyReducerDefinition } from "../../reducers/define-reducer.ts";
import { composeReducers } from "../../reducers/thread-state.ts";
import type { Reading } from "./session.ts";

const runTypes = ["RunStarted", "RunCompleted", "RunFailed", "RunCancelled", "RunInterrupted"];
const known = new Set(builtInReducers.map(({ field }) => field));

interface RunData {
  readonly runId?: string;
  readonly stateFields?: readonly string[];
}

/**
 * Fields of a thread's runs that are not built in. All runs count, those of abandoned branches and of parents too, so
 * that a rewind or a fork does not change what an earlier version shows. "all" for a thread whose first run is open:
 * it says its fields when it ends.
 */
async function furtherFields(log: EventLog, stream: string): Promise<ReadonlySet<string> | "all"> {
  const fields = new Set<string>();
  const open = new Set<string>();
  let said = false;
  if ((await log.head(stream)).version === 0) return fields;
  const streams = new Set([stream]);
  for (const segment of await resolveLineage(log, stream, 1)) streams.add(segment.stream);
  for (const at of streams) {
    for await (const page of log.read(at, { types: runTypes })) {
      for (const { type, data } of page) {
        const { runId = "", stateFields } = data as RunData;
        if (type === "RunStarted") open.add(runId);
        else open.delete(runId);
        if (!stateFields) continue;
        said = true;
        for (const field of stateFields) if (!known.has(field)) fields.add(field);
      }
    }
  }
  return open.size > 0 && !said ? "all" : fields;
}

/** Fields that the harness adds, by name. Loaded for threads that have some. */
async function harnessFields(names: ReadonlySet<string> | "all"): Promise<AnyReducerDefinition[]> {
  const { assemble } = await import("../../actors/assemble.ts");
  const { harnessMiddleware } = await import("../../actors/harness.ts");
  const { reducer } = assemble({ model: "builtin:planner", middleware: harnessMiddleware() });
  return [...reducer.definitions.values()].filter(
    ({ field }) => !known.has(field) && (names === "all" || names.has(field)),
  );
}

/**
 * Reducers and events for a thread whose agent is not at hand: the fields that Threadfold knows, those that its runs say
 * they had and the harness knows, and for all other updates of fields the last value.
 */
export async function readingOfThread(log: EventLog, threadId: string): Promise<Reading> {
  const names = await furtherFields(log, threadStream(threadId));
  const further = names !== "all" && names.size === 0 ? [] : await harnessFields(names);
  const parts = [
    { source: "threadfold", reducers: builtInReducers },
    { source: "harness", reducers: further },
  ];
  return { registry: createEventRegistry(), reducer: composeReducers(parts, { openFields: true }) };
}
