import type { EventDataByName } from "../events/catalogue.ts";
import type { EventDraft } from "../events/define-event.ts";
import type { FoldEvent } from "../events/envelope.ts";

/**
 * What a reducer claims about itself. The fuzz kit checks the laws that follow from the claim.
 *
 * - `replace`: the last value wins whole; `last-write`: the same for single values
 * - `write-once`: later values never change the first
 * - `grow-only-set`: values are added in order of arrival, never twice, never removed
 * - `keyed-merge`: entries by key, the last value of a key wins
 * - `fail-closed`: the same value again changes nothing, another value is refused
 * - `scoped-set`: a grow-only set inside a scope; another scope starts anew
 * - `sequence`: an ordered list of entries with ids
 */
export type Algebra =
  | "replace"
  | "last-write"
  | "write-once"
  | "grow-only-set"
  | "keyed-merge"
  | "fail-closed"
  | "scoped-set"
  | "sequence";

/** Folds many events with one mutable value; gives the same as the handlers one by one. */
export interface Accumulator<Value> {
  /** Undefined for events that this field does not fold. */
  apply(event: FoldEvent): void;
  value(): Value;
}

type DataFor<Name extends string> = Name extends keyof EventDataByName ? EventDataByName[Name] : never;

/** `(value, data, event) => value`. Pure; gives `value` itself back when nothing changes. Throws to refuse an event. */
export type Handler<Value, Data> = (value: Value, data: Data, event: FoldEvent<Data>) => Value;

export type Handlers<Value> = { readonly [Name in keyof EventDataByName]?: Handler<Value, DataFor<Name>> } & {
  // Events of user middlewares: the handler states the data type itself.
  // biome-ignore lint/suspicious/noExplicitAny: data of events that are not in the catalogue
  readonly [name: string]: Handler<Value, any> | undefined;
};

/** How one field of ThreadState follows from events. */
export interface ReducerDefinition<Value = unknown> {
  readonly field: string;
  /** Value before any event; undefined: the field is absent. */
  readonly initial: Value;
  /** Raise it when a change of the code changes results: snapshots of the old version are then left unused. */
  readonly version: number;
  readonly algebra: Algebra | undefined;
  readonly on: Readonly<Record<string, Handler<Value, unknown>>>;
  /** Linear-time fold of many events, where the handlers one by one would be slower. */
  readonly accumulate: ((initial: Value) => Accumulator<Value>) | undefined;
  /** Turns a plain update of the field, as a hook returns it, into events. Left out: `StateUpdated`. */
  readonly fromUpdate: ((update: unknown, current: Value) => readonly EventDraft[]) | undefined;
  /** How `StateUpdated` without `replace` merges; undefined: the last value wins, and two writers in one step are refused. */
  readonly merge: ((value: Value, update: unknown) => Value) | undefined;
}

/** A reducer definition whatever its value. */
// biome-ignore lint/suspicious/noExplicitAny: reducers of all value types stand in one list
export type AnyReducerDefinition = ReducerDefinition<any>;

/**
 * Defines how one field of the state follows from events.
 *
 * @example
 * const plan = defineReducer<string>({ field: "plan", initial: "", on: { PlanWritten: (_plan, data) => data.plan } });
 */
export function defineReducer<Value>(options: {
  field: string;
  initial: Value;
  on: Handlers<Value>;
  version?: number;
  algebra?: Algebra;
  accumulate?: (initial: Value) => Accumulator<Value>;
  fromUpdate?: (update: unknown, current: Value) => readonly EventDraft[];
  merge?: (value: Value, update: unknown) => Value;
}): ReducerDefinition<Value> {
  const { field, initial, on, version = 1, algebra, accumulate, fromUpdate, merge } = options;
  return {
    field,
    initial,
    version,
    algebra,
    accumulate,
    fromUpdate,
    merge,
    on: on as ReducerDefinition<Value>["on"],
  };
}
