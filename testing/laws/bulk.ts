import { isDeepStrictEqual } from "node:util";
import type { State } from "../../reducers/thread-state.ts";
import { type Law, LawBreach, shown } from "./law.ts";
import { causeOf, foldDrafts, lastState } from "./law-subject.ts";

/** Many events at once give what they give one by one: `accumulate` is only faster. */
export const bulk: Law = {
  name: "bulk",
  statement: "a fold of many events gives what they give one by one",
  appliesTo: () => true,
  check(subject, drafts) {
    const log = foldDrafts(subject, drafts);
    const oneByOne = lastState(log);
    let atOnce: State;
    try {
      atOnce = subject.reducer.fold(log.events);
    } catch (error) {
      throw new LawBreach(`the fold of all events threw ${causeOf(error)}`, log.events);
    }
    if (isDeepStrictEqual({ ...atOnce }, { ...oneByOne })) return;
    throw new LawBreach(`at once they give ${shown(atOnce)}, one by one ${shown(oneByOne)}`, log.events);
  },
};
