import type { DataOf, EventDraft } from "../../events/define-event.ts";
import type { FoldEvent } from "../../events/envelope.ts";
import type { StateUpdated } from "../../events/state-update.ts";
import type { AnyReducerDefinition } from "../../reducers/define-reducer.ts";
import type { State } from "../../reducers/thread-state.ts";
import { foldDrafts, type LawSubject, tryApply, valueIn } from "./law-subject.ts";

/** One event that a field folds, with the field's value around it. */
export interface FieldStep {
  readonly event: FoldEvent;
  readonly state: State;
  readonly before: unknown;
  /** Undefined: the event was refused. */
  readonly after: { readonly value: unknown } | undefined;
  /** What the event makes of a thread in which nothing has happened; undefined: refused there. */
  readonly fresh: { readonly value: unknown } | undefined;
  /** Events up to this one. */
  readonly events: readonly FoldEvent[];
}

/** True when the field has a say in what the event does. */
export function folds(definition: AnyReducerDefinition, { type, data }: EventDraft): boolean {
  if (Object.hasOwn(definition.on, type)) return true;
  return type === "StateUpdated" && (data as DataOf<typeof StateUpdated>).field === definition.field;
}

/** The steps of a log that concern the subject's field, refused ones included. */
export function fieldSteps(
  subject: LawSubject & { readonly definition: AnyReducerDefinition },
  drafts: readonly EventDraft[],
): FieldStep[] {
  const { reducer, definition } = subject;
  const valueAfter = (state: State | undefined) => state && { value: valueIn(subject, state) };
  const steps: FieldStep[] = [];
  let log = foldDrafts(subject, []);
  for (const draft of drafts) {
    const state = log.states[log.states.length - 1] ?? reducer.initial;
    const event = { type: draft.type, data: draft.data, version: log.events.length + 1 };
    const after = tryApply(reducer, state, event);
    const events = [...log.events, event];
    if (folds(definition, event)) {
      const before = valueIn(subject, state);
      const fresh = valueAfter(tryApply(reducer, reducer.initial, event));
      steps.push({ event, state, before, after: valueAfter(after), fresh, events });
    }
    if (after) log = { events, states: [...log.states, after] };
  }
  return steps;
}
