import type { FoldEvent } from "../../events/envelope.ts";
import { deepFreeze } from "../../events/log/deep-freeze.ts";
import type { State } from "../../reducers/thread-state.ts";
import { type Law, LawBreach } from "./law.ts";
import { causeOf, isRefusal } from "./law-subject.ts";

/** Every event folds, or is refused with an error of its own; frozen states and events are never written to. */
export const total: Law = {
  name: "total",
  statement: "every event folds or is refused on purpose, and nothing that is given is changed",
  appliesTo: () => true,
  check({ reducer }, drafts) {
    let state: State = deepFreeze(reducer.initial);
    const events: FoldEvent[] = [];
    for (const { type, data } of drafts) {
      const event = deepFreeze({ type, data, version: events.length + 1 });
      try {
        state = deepFreeze(reducer.apply(state, event));
        events.push(event);
      } catch (error) {
        if (isRefusal(error)) continue;
        const cause = causeOf(error);
        throw new LawBreach(`${type} at version ${event.version} threw ${cause}. ${hint(cause)}`, [
          ...events,
          event,
        ]);
      }
    }
  },
};

function hint(cause: unknown): string {
  const wrote =
    cause instanceof TypeError &&
    /read only|not extensible|Cannot (assign|delete|define|add)/.test(cause.message);
  return wrote
    ? "States and events are frozen: return a new value and leave the given one as it is."
    : "Give a value for every state, or throw an error class of your own to refuse the event.";
}
