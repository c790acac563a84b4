import { type Law, LawBreach, shown } from "./law.ts";
import { causeOf, foldDrafts } from "./law-subject.ts";

/** Events that nobody knows leave the state as it is, by reference: newer programs write them. */
export const unknownEvent: Law = {
  name: "unknown-event",
  statement: "an event that nobody knows leaves the state as it is, by reference",
  appliesTo: () => true,
  check(subject, drafts) {
    const { reducer } = subject;
    const { events, states } = foldDrafts(subject, drafts);
    for (const [version, state] of states.entries()) {
      const event = { type: "NobodyKnowsThis", data: {}, version: version + 1 };
      const shownEvents = [...events.slice(0, version), event];
      let results: unknown[];
      try {
        results = [reducer.apply(state, event), reducer.fold([event], state)];
      } catch (error) {
        throw new LawBreach(
          `the unknown event threw ${causeOf(error)}. Return the state for other types.`,
          shownEvents,
        );
      }
      const changed = results.find((result) => result !== state);
      if (changed === undefined) continue;
      throw new LawBreach(
        `the unknown event gave ${shown(changed)} in place of the same reference`,
        shownEvents,
      );
    }
  },
};
