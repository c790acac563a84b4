import fc from "fast-check";
import { z } from "zod";
import { catalogue } from "../events/catalogue.ts";
import type { AnyEventDefinition, EventDraft } from "../events/define-event.ts";
import type { FoldEvent } from "../events/envelope.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import { type AnyReducerDefinition, defineReducer } from "../reducers/define-reducer.ts";
import { composeReducers, type State, type StateReducer } from "../reducers/thread-state.ts";
import { type ArbitraryOptions, arbitraryOf } from "./arbitraries/arbitrary-of.ts";
import { asRead, draftsOf } from "./arbitraries/event-drafts.ts";
import { names } from "./arbitraries/hostile-strings.ts";
import type { LawSubject } from "./laws/law-subject.ts";

/** A reducer as a plain function over all events. */
export interface PlainReducer<Value = unknown> {
  readonly name?: string;
  readonly initial: Value;
  reduce(value: Value, event: FoldEvent): Value;
}

/** A plain reducer whatever its value. */
export interface AnyPlainReducer {
  readonly name?: string;
  readonly initial: unknown;
  reduce(value: never, event: FoldEvent): unknown;
}

/** An agent, an assembly, or any reducer of a whole state with the events that it knows. */
export interface StateSource {
  readonly reducer: StateReducer;
  readonly registry: Pick<EventRegistry, "types" | "get">;
}

export interface SubjectOptions extends ArbitraryOptions {
  /** Definitions of the events that the reducer folds; those of the catalogue are known. */
  readonly events?: readonly AnyEventDefinition[];
  /** Values of the field, when it is only written by plain updates: a zod schema. Default: any JSON. */
  readonly value?: z.ZodType;
  /** States which events change nothing: the law `no-ops` holds the reducer to it. */
  readonly noOps?: (value: never, event: FoldEvent) => boolean;
}

/** A reducer folds an event whose definition the fuzz kit was not given. */
export class UndefinedEventError extends Error {
  override readonly name = "UndefinedEventError";
  constructor(
    readonly type: string,
    readonly field: string,
  ) {
    super(
      `The reducer of "${field}" folds ${type}, which is not in the catalogue. Pass its definition: { events: [${type}] }.`,
    );
  }
}

/** A subject without any event would hold every law and prove nothing. */
export class NoEventsError extends Error {
  override readonly name = "NoEventsError";
  constructor(readonly subject: string) {
    super(
      `"${subject}" folds no event that is known, so there is nothing to fuzz. Pass the definitions: { events: [PlanWritten] }.`,
    );
  }
}

const unknownDrafts: fc.Arbitrary<EventDraft> = names().map((anything) => ({
  type: "NobodyKnowsThis",
  data: { anything },
}));

function updatesOf(field: string, value: z.ZodType, options: ArbitraryOptions): fc.Arbitrary<EventDraft> {
  return arbitraryOf(value, options).map((update) => ({
    type: "StateUpdated",
    data: asRead({ field, value: update }),
  }));
}

function draftsFor(definition: AnyReducerDefinition, options: SubjectOptions): fc.Arbitrary<EventDraft>[] {
  const own = new Map((options.events ?? []).map((event) => [event.type, event]));
  const known = new Map<string, AnyEventDefinition>([...Object.entries(catalogue), ...own]);
  const { field, on } = definition;
  const folded = Object.keys(on).map((type) => {
    const event = known.get(type);
    if (!event) throw new UndefinedEventError(type, field);
    return draftsOf(event, options);
  });
  if (folded.length > 0 && options.value === undefined) return folded;
  return [...folded, updatesOf(field, options.value ?? z.json(), options)];
}

function withUnknown(known: readonly fc.Arbitrary<EventDraft>[]): fc.Arbitrary<EventDraft> {
  const weighted = known.map((arbitrary) => ({ weight: 4, arbitrary }));
  return fc.oneof(...weighted, { weight: 1, arbitrary: unknownDrafts });
}

function isDefinition(reducer: object): reducer is AnyReducerDefinition {
  return "field" in reducer && "on" in reducer;
}

/** A plain function as a reducer of a state with one field, `value`. */
function composed({ initial, reduce }: PlainReducer): StateReducer {
  const definition = defineReducer<unknown>({ field: "value", initial, on: {} });
  const base = composeReducers([{ source: "plain", reducers: [definition] }]);
  const apply = (state: State, event: FoldEvent): State => {
    const before = state.value;
    const value = reduce(before, event);
    return value === before ? state : { value };
  };
  const fold = (events: Iterable<FoldEvent>, from: State = base.initial) => {
    let state = from;
    for (const event of events) state = apply(state, event);
    return state;
  };
  return { ...base, definitions: new Map(), apply, fold };
}

/**
 * What the laws are checked for, from a reducer.
 *
 * @throws {UndefinedEventError} @throws {NoEventsError}
 * @example
 * runLaw(snapshotCut, subjectOf(plan, { events: [PlanWritten] }));
 */
export function subjectOf(
  reducer: AnyReducerDefinition | AnyPlainReducer,
  options: SubjectOptions = {},
): LawSubject {
  const noOps = options.noOps as LawSubject["noOps"];
  if (isDefinition(reducer)) {
    return {
      name: reducer.field,
      reducer: composeReducers([{ source: "fuzz", reducers: [reducer] }]),
      definition: reducer,
      drafts: withUnknown(draftsFor(reducer, options)),
      noOps,
    };
  }
  const { name = "reducer" } = reducer;
  if (!options.events?.length) throw new NoEventsError(name);
  const drafts = withUnknown(options.events.map((event) => draftsOf(event, options)));
  return { name, reducer: composed(reducer as PlainReducer), definition: undefined, drafts, noOps };
}

/** Updates of fields that nobody declared, which a reducer with open fields folds as well. */
function undeclaredUpdates(reducer: StateReducer, options: ArbitraryOptions): fc.Arbitrary<EventDraft> {
  const name = fc.oneof(names(), fc.constant("__proto__"));
  const field = name.filter((one) => one !== "" && !reducer.definitions.has(one));
  return fc
    .tuple(field, arbitraryOf(z.json(), options))
    .map(([of, value]) => ({ type: "StateUpdated", data: asRead({ field: of, value }) }));
}

/**
 * What the laws are checked for, from a whole state: an agent, an assembly, or a reducer with its events.
 *
 * @example
 * runLaw(independent, stateSubject(createAgent({ model, middleware })));
 */
export function stateSubject(
  source: StateSource,
  options: ArbitraryOptions & { readonly name?: string } = {},
): LawSubject {
  const { reducer, registry } = source;
  const events = registry.types.flatMap((type) => registry.get(type) ?? []);
  const folded = new Set([...reducer.definitions.values()].flatMap(({ on }) => Object.keys(on)));
  const known = events.filter(({ type }) => folded.has(type)).map((event) => draftsOf(event, options));
  const updated = [...reducer.definitions.values()]
    .filter(({ on, field }) => Object.keys(on).length === 0 && !field.startsWith("$"))
    .map(({ field }) => updatesOf(field, z.json(), options));
  if (reducer.openFields) updated.push(undeclaredUpdates(reducer, options));
  if (known.length + updated.length === 0) throw new NoEventsError(options.name ?? "the state");
  return {
    name: options.name ?? "state",
    reducer,
    definition: undefined,
    drafts: withUnknown([...known, ...updated]),
    noOps: undefined,
  };
}
