import type fc from "fast-check";
import type { EventDraft } from "../../events/define-event.ts";
import type { FoldEvent } from "../../events/envelope.ts";
import { deepFreeze } from "../../events/log/deep-freeze.ts";
import type { AnyReducerDefinition } from "../../reducers/define-reducer.ts";
import { FoldError, type State, type StateReducer } from "../../reducers/thread-state.ts";

/** What laws are checked for: one field, or a whole state. */
export interface LawSubject {
  readonly name: string;
  readonly reducer: StateReducer;
  /** The reducer of the one field that the subject is about; undefined: a whole state. */
  readonly definition: AnyReducerDefinition | undefined;
  /** Drafts of the events that the subject folds. */
  readonly drafts: fc.Arbitrary<EventDraft>;
  /** True for events that must leave a value as it is, by content; undefined: none were stated. */
  readonly noOps: ((value: unknown, event: FoldEvent) => boolean) | undefined;
}

/** Events of one log that folded, and the states between them: `states[k]` follows from the first k events. */
export interface FoldedLog {
  readonly events: readonly FoldEvent[];
  readonly states: readonly State[];
}

const crashes = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError, URIError];

/** What a reducer threw, without the wrapper that names the field. */
export function causeOf(error: unknown): unknown {
  return error instanceof FoldError ? error.cause : error;
}

/** True when a reducer refuses on purpose: with an error of its own kind, not with one of the language's. */
export function isRefusal(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof Error && !crashes.some((kind) => cause instanceof kind);
}

/** State after an event, or undefined when it is refused or the reducer crashed. */
export function tryApply(reducer: StateReducer, state: State, event: FoldEvent): State | undefined {
  try {
    return deepFreeze(reducer.apply(state, event));
  } catch {
    return undefined;
  }
}

/** Folds drafts one by one, deeply frozen. What is refused is not in the log. */
export function foldDrafts(
  { reducer }: Pick<LawSubject, "reducer">,
  drafts: readonly EventDraft[],
  from: State = reducer.initial,
): FoldedLog {
  const events: FoldEvent[] = [];
  const states: State[] = [deepFreeze(from)];
  for (const { type, data } of drafts) {
    const event = deepFreeze({ type, data, version: events.length + 1 });
    const next = tryApply(reducer, states[states.length - 1] ?? from, event);
    if (next === undefined) continue;
    events.push(event);
    states.push(next);
  }
  return { events, states };
}

/** The last state of a log. */
export function lastState({ states }: FoldedLog): State {
  return states[states.length - 1] ?? {};
}

/** The value that a subject of one field is about; the whole state otherwise. */
export function valueIn(subject: LawSubject, state: State): unknown {
  return subject.definition ? state[subject.definition.field] : state;
}
