import { isDeepStrictEqual } from "node:util";
import { type Law, LawBreach, shown } from "./law.ts";
import { foldDrafts, lastState } from "./law-subject.ts";
import { inWatchedWorld } from "./watched-world.ts";

/** The same events give the same state, on any day: no clock, no dice, no ids of its own. */
export const pure: Law = {
  name: "pure",
  statement: "the same events fold to the same state, without a look at the clock or a throw of the dice",
  appliesTo: () => true,
  check(subject, drafts) {
    const once = foldDrafts(subject, drafts);
    const { result: again, reads } = inWatchedWorld(() => foldDrafts(subject, drafts));
    if (reads.length > 0) {
      throw new LawBreach(
        `the reducer reads ${reads.join(" and ")}. Mint ids and times before the append and put them into the event.`,
        once.events,
      );
    }
    if (isDeepStrictEqual(once, again)) return;
    throw new LawBreach(
      `the second fold gave ${shown(lastState(again))}, the first ${shown(lastState(once))}. Ids and times belong into the event.`,
      once.events,
    );
  },
};
