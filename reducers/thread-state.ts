import type { DataOf } from "../events/define-event.ts";
import type { FoldEvent } from "../events/envelope.ts";
import type { StateUpdated } from "../events/state-update.ts";
import type { Accumulator, AnyReducerDefinition, Handler, ReducerDefinition } from "./define-reducer.ts";

/** The state of one thread: one key a field. Plain JSON, never mutated. */
export type State = { readonly [field: string]: unknown };

/** Two different reducers claim one field. */
export class FieldConflictError extends Error {
  override readonly name = "FieldConflictError";
  constructor(
    readonly field: string,
    readonly sources: readonly [string, string],
  ) {
    super(
      `Field "${field}" is declared twice, by ${sources[0]} and by ${sources[1]}. Rename one, or share one declaration.`,
    );
  }
}

/** A reducer refused an event. Nothing was written. */
export class FoldError extends Error {
  override readonly name = "FoldError";
  constructor(
    readonly field: string,
    readonly event: FoldEvent,
    cause: unknown,
  ) {
    super(
      `${event.type} at version ${event.version} does not fold onto "${field}": ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
      },
    );
  }
}

/** The reducers of all fields as one. */
export interface StateReducer {
  readonly fields: readonly string[];
  readonly definitions: ReadonlyMap<string, ReducerDefinition>;
  /** True: `StateUpdated` is folded for fields that nobody declared, too. */
  readonly openFields: boolean;
  /** State before any event. */
  readonly initial: State;
  /** Text that changes whenever the fields or their reducers change; snapshots are keyed by its digest. */
  readonly description: string;
  /**
   * State after one event; the same reference when no field changed.
   * @throws {FoldError}
   */
  apply(state: State, event: FoldEvent): State;
  /**
   * State after many events, in time linear in their number. Give only events of one lineage, in order; for raw
   * streams with rewinds see `effectiveEvents`.
   * @throws {FoldError}
   */
  fold(events: Iterable<FoldEvent>, from?: State): State;
}

interface Bound {
  readonly definition: ReducerDefinition;
  readonly handle: Handler<unknown, unknown>;
}

function withField(state: State, field: string, value: unknown): State {
  const next: Record<string, unknown> = { ...state };
  if (value === undefined) delete next[field];
  else Object.defineProperty(next, field, { value, enumerable: true, writable: true, configurable: true });
  return next;
}

function foldUpdate(definition: ReducerDefinition): Handler<unknown, DataOf<typeof StateUpdated>> {
  return (value, data) => {
    if (data.replace || !definition.merge) return data.value;
    return definition.merge(value, data.value);
  };
}

/**
 * Puts the reducers of all fields together.
 *
 * @param options.openFields also fold `StateUpdated` for fields that nobody declared (reading a log without its agent)
 * @throws {FieldConflictError}
 * @example
 * const reducer = composeReducers([{ source: "base", reducers: [messages, title] }]);
 * reducer.fold(events).title;
 */
export function composeReducers(
  parts: readonly { readonly source: string; readonly reducers: readonly AnyReducerDefinition[] }[],
  options: { readonly openFields?: boolean } = {},
): StateReducer {
  const definitions = new Map<string, ReducerDefinition>();
  const sources = new Map<string, string>();
  for (const { source, reducers } of parts) {
    for (const definition of reducers) {
      const before = definitions.get(definition.field);
      if (before && before !== definition) {
        throw new FieldConflictError(definition.field, [sources.get(definition.field) ?? "", source]);
      }
      definitions.set(definition.field, definition);
      sources.set(definition.field, source);
    }
  }

  const byType = new Map<string, Bound[]>();
  const updates = new Map<string, Bound>();
  let initial: State = {};
  for (const definition of definitions.values()) {
    if (definition.initial !== undefined) initial = withField(initial, definition.field, definition.initial);
    updates.set(definition.field, {
      definition,
      handle: foldUpdate(definition) as Handler<unknown, unknown>,
    });
    for (const [type, handle] of Object.entries(definition.on)) {
      const bound = byType.get(type) ?? [];
      bound.push({ definition, handle });
      byType.set(type, bound);
    }
  }
  const description = [...definitions.values()]
    .sort((a, b) => (a.field < b.field ? -1 : 1))
    .map(({ field, version, initial: value, on, accumulate, merge }) =>
      [
        field,
        version,
        JSON.stringify(value),
        ...Object.entries(on).map(([type, handle]) => `${type}:${handle}`),
        accumulate,
        merge,
      ].join("\n"),
    )
    .concat(options.openFields ? "open fields" : [])
    .join("\n\n");

  const none: readonly Bound[] = [];
  const boundFor = (event: FoldEvent): readonly Bound[] => {
    if (event.type !== "StateUpdated") return byType.get(event.type) ?? none;
    const { field } = event.data as DataOf<typeof StateUpdated>;
    const bound = updates.get(field);
    if (bound) return [bound];
    if (!options.openFields) return none;
    const definition = { field, initial: undefined, version: 1, on: {} } as unknown as ReducerDefinition;
    return [{ definition, handle: foldUpdate(definition) as Handler<unknown, unknown> }];
  };
  const run = ({ definition, handle }: Bound, value: unknown, event: FoldEvent): unknown => {
    try {
      return handle(value, event.data, event);
    } catch (cause) {
      throw new FoldError(definition.field, event, cause);
    }
  };

  const apply = (state: State, event: FoldEvent): State => {
    let next = state;
    for (const bound of boundFor(event)) {
      const { field } = bound.definition;
      const value = Object.hasOwn(next, field) ? next[field] : bound.definition.initial;
      const changed = run(bound, value, event);
      if (changed !== value) next = withField(next, field, changed);
    }
    return next;
  };

  const fold = (events: Iterable<FoldEvent>, from: State = initial): State => {
    let state = from;
    const accumulators = new Map<string, Accumulator<unknown>>();
    const settle = (field: string) => {
      const accumulator = accumulators.get(field);
      if (!accumulator) return;
      accumulators.delete(field);
      const value = accumulator.value();
      if (value !== state[field]) state = withField(state, field, value);
    };
    for (const event of events) {
      for (const bound of boundFor(event)) {
        const { definition } = bound;
        const { field, accumulate } = definition;
        if (accumulate && event.type !== "StateUpdated") {
          let accumulator = accumulators.get(field);
          if (!accumulator) {
            accumulator = accumulate(Object.hasOwn(state, field) ? state[field] : definition.initial);
            accumulators.set(field, accumulator);
          }
          try {
            accumulator.apply(event);
          } catch (cause) {
            throw new FoldError(field, event, cause);
          }
          continue;
        }
        settle(field);
        const value = Object.hasOwn(state, field) ? state[field] : definition.initial;
        const changed = run(bound, value, event);
        if (changed !== value) state = withField(state, field, changed);
      }
    }
    for (const field of [...accumulators.keys()]) settle(field);
    return state;
  };

  const openFields = options.openFields ?? false;
  return { fields: [...definitions.keys()], definitions, openFields, initial, description, apply, fold };
}
