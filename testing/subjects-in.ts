import type { Middleware } from "../actors/middleware/define-middleware.ts";
import type { AnyEventDefinition } from "../events/define-event.ts";
import { type AnyReducerDefinition, defineReducer } from "../reducers/define-reducer.ts";
import type { LawSubject } from "./laws/law-subject.ts";
import { type AnyPlainReducer, type StateSource, stateSubject, subjectOf } from "./subject-of.ts";

/** A file exports nothing that folds events. */
export class NothingToFuzzError extends Error {
  override readonly name = "NothingToFuzzError";
  constructor() {
    super(
      "Nothing that is exported folds events. Export a reducer (defineReducer, or { initial, reduce }), a middleware with reducers, or an agent, together with the events.",
    );
  }
}

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}

function isEvent(value: unknown): value is AnyEventDefinition {
  return typeof value === "function" && "schema" in value && "type" in value && "upcasters" in value;
}

function isReducer(value: unknown): value is AnyReducerDefinition {
  return isObject(value) && typeof value.field === "string" && isObject(value.on);
}

function isPlainReducer(value: unknown): value is AnyPlainReducer {
  return isObject(value) && "initial" in value && typeof value.reduce === "function";
}

function isMiddleware(value: unknown): value is Middleware {
  return isObject(value) && typeof value.name === "string" && isObject(value.reducers);
}

function isState(value: unknown): value is StateSource {
  return isObject(value) && isObject(value.reducer) && isObject(value.registry) && "fold" in value.reducer;
}

function reducersOf({ reducers = {} }: Middleware): AnyReducerDefinition[] {
  if (Array.isArray(reducers)) return [...reducers];
  return Object.entries(reducers).map(([field, declared]) =>
    "field" in declared
      ? (declared as AnyReducerDefinition)
      : defineReducer<unknown>({ field, initial: declared.initial, on: declared.on as never }),
  );
}

/**
 * Everything in a module's exports that folds events: reducers, plain reducers, the reducers of middlewares, and the
 * states of agents. The events that the module exports, alone or in its middlewares, are known to all of them.
 *
 * @throws {NothingToFuzzError} @throws {UndefinedEventError}
 * @example
 * subjectsIn(await import("./plan.ts")).map(({ name }) => name); // ["plan"]
 */
export function subjectsIn(exports: Members): readonly LawSubject[] {
  const { default: main } = exports;
  // A ready-made agent is looked at as a whole; the options of one hold its middlewares in a list.
  const members = isObject(main) && !isState(main) ? Object.values(main) : [];
  const values = [...new Set([...Object.values(exports), ...members].flat())];
  const middlewares = values.filter(isMiddleware);
  const events = [...values.filter(isEvent), ...middlewares.flatMap((middleware) => middleware.events ?? [])];
  const reducers = new Set([...values.filter(isReducer), ...middlewares.flatMap(reducersOf)]);
  const states = values.filter(isState);
  const plain = Object.entries(exports).filter((entry): entry is [string, AnyPlainReducer] =>
    isPlainReducer(entry[1]),
  );
  const subjects = [
    ...[...reducers].map((reducer) => subjectOf(reducer, { events })),
    ...plain.map(([name, reducer]) => subjectOf({ ...reducer, name: reducer.name ?? name }, { events })),
    ...states.flatMap(subjectsOfState),
  ];
  if (subjects.length === 0) throw new NothingToFuzzError();
  return subjects;
}

/** The whole state of an agent, and each of its fields alone. */
export function subjectsOfState(source: StateSource): readonly LawSubject[] {
  const events = source.registry.types.flatMap((type) => source.registry.get(type) ?? []);
  const fields = [...source.reducer.definitions.values()].filter(({ field }) => !field.startsWith("$"));
  return [stateSubject(source), ...fields.map((field) => subjectOf(field, { events }))];
}
