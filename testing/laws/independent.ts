import { isDeepStrictEqual } from "node:util";
import { composeReducers, type State } from "../../reducers/thread-state.ts";
import { type Law, LawBreach, shown } from "./law.ts";
import { foldDrafts, lastState } from "./law-subject.ts";

/** Fields do not look at each other: each alone folds to what it is among the others. */
export const independent: Law = {
  name: "independent",
  statement: "each field alone folds to what it is among the others",
  appliesTo: ({ definition, reducer }) => definition === undefined && reducer.definitions.size > 1,
  check(subject, drafts) {
    const log = foldDrafts(subject, drafts);
    const state = lastState(log);
    for (const [field, definition] of subject.reducer.definitions) {
      const alone = composeReducers([{ source: "law", reducers: [definition] }]).fold(log.events);
      if (isDeepStrictEqual(alone[field], state[field])) continue;
      throw new LawBreach(
        `"${field}" alone gives ${shown(alone[field])}, among the others ${shown(state[field])}`,
        log.events,
      );
    }
  },
};

/** Two threads that are folded in turns come to what each comes to alone: no reducer keeps anything beside the state. */
export const threadsApart: Law = {
  name: "threads-apart",
  statement: "threads that are folded in turns do not mix",
  appliesTo: () => true,
  check(subject, drafts) {
    const { reducer } = subject;
    const left = foldDrafts(
      subject,
      drafts.filter((_, at) => at % 2 === 0),
    );
    const right = foldDrafts(
      subject,
      drafts.filter((_, at) => at % 2 === 1),
    );
    let states: readonly [State, State] = [reducer.initial, reducer.initial];
    for (let at = 0; at < Math.max(left.events.length, right.events.length); at++) {
      const [one, other] = [left.events[at], right.events[at]];
      states = [
        one ? reducer.apply(states[0], one) : states[0],
        other ? reducer.apply(states[1], other) : states[1],
      ];
    }
    for (const [at, log] of [left, right].entries()) {
      if (isDeepStrictEqual(states[at], lastState(log))) continue;
      throw new LawBreach(
        `in turns a thread gives ${shown(states[at])}, alone ${shown(lastState(log))}`,
        log.events,
      );
    }
  },
};
