import { isDeepStrictEqual } from "node:util";
import type { State } from "../../reducers/thread-state.ts";
import { type Law, LawBreach, shown } from "./law.ts";
import { causeOf, foldDrafts, lastState } from "./law-subject.ts";

/** A fold goes on from any state that was written down: the law behind snapshots, forks and time travel. */
export const snapshotCut: Law = {
  name: "snapshot-cut",
  statement: "a fold goes on from any earlier state that was written down and read again",
  appliesTo: () => true,
  check(subject, drafts) {
    const { reducer } = subject;
    const log = foldDrafts(subject, drafts);
    const whole = lastState(log);
    for (const [cut, state] of log.states.entries()) {
      // Not frozen: writes that a frozen state would swallow show here.
      const snapshot = JSON.parse(JSON.stringify(state)) as State;
      let gone: State;
      try {
        gone = reducer.fold(log.events.slice(cut), snapshot);
      } catch (error) {
        throw new LawBreach(
          `the fold from the snapshot at version ${cut} threw ${causeOf(error)}`,
          log.events,
        );
      }
      if (isDeepStrictEqual({ ...gone }, { ...whole })) continue;
      throw new LawBreach(
        `from the snapshot at version ${cut} the fold gives ${shown(gone)}, from the beginning ${shown(whole)}`,
        log.events,
      );
    }
  },
};
