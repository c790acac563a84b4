import { threadStream } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { resolveLineage } from "../../projections/lineage.ts";
import { builtInReducers } from "../../reducers/built-in.ts";
import type { AnyReducerDefinition } from "../../reducers/define-reducer.ts";
import { composeReducers } from "../../reducers/thread-state.ts";
import type { Reading } from "./session.ts";

const runEnds = ["RunCompleted", "RunFailed", "RunCancelled", "RunInterrupted"];
const known = new Set(builtInReducers.map(({ field }) => field));

/** Fields of a thread's runs that are not built in. */
async function furtherFields(log: EventLog, stream: string): Promise<Set<string>> {
  const fields = new Set<string>();
  const { version } = await log.head(stream);
  if (version === 0) return fields;
  for (const { stream: at, from, to } of await resolveLineage(log, stream, version)) {
    for await (const page of log.read(at, { from, to, types: runEnds })) {
      for (const { data } of page) {
        const { stateFields = [] } = data as { stateFields?: readonly string[] };
        for (const field of stateFields) if (!known.has(field)) fields.add(field);
      }
    }
  }
  return fields;
}

/** Fields that the harness adds, by name. Loaded for threads that have some. */
async function harnessFields(names: ReadonlySet<string>): Promise<AnyReducerDefinition[]> {
  const { assemble } = await import("../../actors/assemble.ts");
  const { harnessMiddleware } = await import("../../actors/harness.ts");
  const { reducer } = assemble({ model: "builtin:planner", middleware: harnessMiddleware() });
  return [...reducer.definitions.values()].filter(({ field }) => names.has(field) && !known.has(field));
}

/**
 * Reducers and events for a thread whose agent is not at hand: the fields that Threadfold knows, those that its runs say
 * they had and the harness knows, and for all other updates of fields the last value.
 */
export async function readingOfThread(log: EventLog, threadId: string): Promise<Reading> {
  const names = await furtherFields(log, threadStream(threadId));
  const further = names.size === 0 ? [] : await harnessFields(names);
  const parts = [
    { source: "threadfold", reducers: builtInReducers },
    { source: "harness", reducers: further },
  ];
  return { registry: createEventRegistry(), reducer: composeReducers(parts, { openFields: true }) };
}
