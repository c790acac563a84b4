import type { EventRegistry } from "../events/event-registry.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { StateReducer } from "../reducers/thread-state.ts";
import { foldedTypes } from "./fields-at.ts";

/** What a reader makes of one type of event in a log. */
export interface EventTypeUse {
  readonly type: string;
  readonly count: number;
  /** Emitters without what follows the colon of models and tools: `middleware:title`, `tool`, `runtime`. */
  readonly by: readonly string[];
  /** Highest schema version that was recorded. */
  readonly schema: number;
  /** Highest one that the reader knows; undefined: it does not know the type at all, and skips it. */
  readonly knownSchema: number | undefined;
  /** Some field of the reader folds it. */
  readonly folded: boolean;
}

export interface EventTypes {
  readonly types: readonly EventTypeUse[];
  /** Events that were looked at. */
  readonly events: number;
  /** There are more. */
  readonly cut: boolean;
}

/**
 * Looks over the types of events in a log, as one reader knows them: types that it skips, and schemas that are newer
 * than its own.
 *
 * @param options.limit events at most; default: all
 * @example
 * const { types } = await readEventTypes(store.log, { registry, reducer });
 * types.filter(({ knownSchema }) => knownSchema === undefined);
 */
export async function readEventTypes(
  log: EventLog,
  reading: { readonly registry: EventRegistry; readonly reducer: StateReducer },
  options: { readonly limit?: number } = {},
): Promise<EventTypes> {
  const { limit = Number.POSITIVE_INFINITY } = options;
  const found = new Map<string, { count: number; by: Set<string>; schema: number }>();
  let events = 0;
  let cut = false;
  scan: for await (const page of log.readAll()) {
    for (const { type, metadata } of page) {
      if (events === limit) {
        cut = true;
        break scan;
      }
      events += 1;
      const use = found.get(type) ?? { count: 0, by: new Set(), schema: 0 };
      found.set(type, use);
      use.count += 1;
      use.by.add(metadata.by.startsWith("middleware:") ? metadata.by : metadata.by.replace(/:.*/s, ""));
      use.schema = Math.max(use.schema, metadata.schema);
    }
  }
  const folded = new Set(foldedTypes(reading.reducer));
  const types = [...found].map(([type, { count, by, schema }]) => ({
    type,
    count,
    by: [...by].sort(),
    schema,
    knownSchema: reading.registry.get(type)?.version,
    folded: folded.has(type),
  }));
  return { types: types.sort((a, b) => (a.type < b.type ? -1 : 1)), events, cut };
}
