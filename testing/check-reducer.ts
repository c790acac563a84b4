import type { AnyReducerDefinition } from "../reducers/define-reducer.ts";
import type { ArbitraryOptions } from "./arbitraries/arbitrary-of.ts";
import { counterexampleText } from "./counterexample.ts";
import { lawsFor } from "./laws/all-laws.ts";
import type { LawSubject } from "./laws/law-subject.ts";
import { type LawReport, type LawRunOptions, runLaw } from "./run-law.ts";
import {
  type AnyPlainReducer,
  type StateSource,
  type SubjectOptions,
  stateSubject,
  subjectOf,
} from "./subject-of.ts";

export interface CheckOptions extends LawRunOptions {
  /** Names of the laws to check. Default: all that apply. */
  readonly laws?: readonly string[] | undefined;
}

/** A reducer does not keep its laws. The message holds the smallest events that show it. */
export class LawsBrokenError extends Error {
  override readonly name = "LawsBrokenError";
  constructor(
    readonly subject: string,
    /** Reports of the laws that are broken. */
    readonly reports: readonly LawReport[],
  ) {
    super(reports.map(counterexampleText).join("\n\n"));
  }
}

/**
 * Tries every law of a subject, and throws when one is broken.
 *
 * @throws {LawsBrokenError} @throws {UnknownLawError}
 */
export function checkSubject(subject: LawSubject, options: CheckOptions = {}): readonly LawReport[] {
  const reports = lawsFor(subject, options.laws).map((law) => runLaw(law, subject, options));
  const broken = reports.filter((report) => report.broken !== undefined);
  if (broken.length > 0) throw new LawsBrokenError(subject.name, broken);
  return reports;
}

/**
 * Holds a reducer to its laws on generated events: those of every reducer, and those that follow from the algebra
 * it claims. Events are generated from the schemas of their definitions.
 *
 * @throws {LawsBrokenError} with the shrunk events, and the seed and path that repeat them
 * @throws {UndefinedEventError} @throws {NoEventsError} @throws {UnknownLawError}
 * @example
 * test("the plan keeps its laws", () => {
 *   checkReducer(plan, { events: [PlanWritten] });
 * });
 */
export function checkReducer(
  reducer: AnyReducerDefinition | AnyPlainReducer,
  options: SubjectOptions & CheckOptions = {},
): readonly LawReport[] {
  return checkSubject(subjectOf(reducer, options), options);
}

/**
 * Holds the whole state of an agent to the laws, with the events of all its middlewares, and each of its fields to its own.
 *
 * @throws {LawsBrokenError} @throws {NoEventsError} @throws {UnknownLawError}
 * @example
 * checkState(createAgent({ model, middleware: [plannerMiddleware()] }));
 */
export function checkState(
  source: StateSource,
  options: ArbitraryOptions & CheckOptions = {},
): readonly LawReport[] {
  const events = source.registry.types.flatMap((type) => source.registry.get(type) ?? []);
  const fields = [...source.reducer.definitions.values()].filter(({ field }) => !field.startsWith("$"));
  const whole = stateSubject(source, options);
  if (options.laws) return checkSubject(whole, options);
  return [
    ...checkSubject(whole, options),
    ...fields.flatMap((field) => checkSubject(subjectOf(field, { ...options, events }), options)),
  ];
}
