import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FoldEvent } from "../../events/envelope.ts";
import { deepFreeze } from "../../events/log/deep-freeze.ts";
import { builtInReducers } from "../../reducers/built-in.ts";
import { composeReducers, FoldError, type State } from "../../reducers/thread-state.ts";
import { anyDraft, anyLog, reducer } from "./arbitrary-log.ts";

const copy = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
const oneByOne = (events: readonly FoldEvent[], from: State = reducer.initial): State => {
  return events.reduce<State>((state, event) => deepFreeze(reducer.apply(state, event)), from);
};

describe("the fold of a thread", () => {
  test("is total and pure: frozen events fold, twice to the same, and only a FoldError refuses", () => {
    fc.assert(
      fc.property(anyLog, anyDraft, (events, draft) => {
        expect(oneByOne(events)).toEqual(oneByOne(events));
        try {
          reducer.apply(oneByOne(events), deepFreeze({ ...draft, version: events.length + 1 }));
        } catch (error) {
          expect(error).toBeInstanceOf(FoldError);
        }
      }),
    );
  });

  test("is closed under JSON: a state survives a round trip, strange keys included", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const state = oneByOne(events);
        expect(copy(state)).toEqual(state);
        expect(JSON.stringify(copy(state))).toBe(JSON.stringify(state));
      }),
    );
  });

  test("in bulk gives the same as event by event", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        expect(reducer.fold(events)).toEqual(oneByOne(events));
      }),
    );
  });

  test("can be cut anywhere: a fold goes on from any state that was written down", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const whole = reducer.fold(events);
        for (let cut = 0; cut <= events.length; cut++) {
          const before = deepFreeze(copy(reducer.fold(events.slice(0, cut))));
          expect(reducer.fold(events.slice(cut), before)).toEqual(whole);
        }
      }),
      { numRuns: 30 },
    );
  });

  test("leaves the state as it is, by reference, on events that nobody knows", () => {
    fc.assert(
      fc.property(anyLog, fc.json(), (events, data) => {
        const state = oneByOne(events);
        const unknown = { type: "NobodyKnowsThis", data: JSON.parse(data), version: events.length + 1 };
        expect(reducer.apply(state, unknown)).toBe(state);
        expect(reducer.fold([unknown], state)).toBe(state);
      }),
    );
  });

  test("keeps the reference of every field that an event leaves as it was", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        let state = reducer.initial;
        for (const event of events) {
          const next = deepFreeze(reducer.apply(state, event));
          for (const field of Object.keys(next)) {
            if (JSON.stringify(next[field]) !== JSON.stringify(state[field])) continue;
            if (event.type !== "StateUpdated") expect(next[field]).toBe(state[field]);
          }
          state = next;
        }
      }),
    );
  });

  test("gives the same when the last event comes again, or refuses it", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const last = events.at(-1);
        if (!last) return;
        const state = oneByOne(events);
        try {
          expect(reducer.apply(state, last)).toEqual(state);
        } catch (error) {
          expect(last.type).toBe("MessagesRemoved");
          expect(error).toBeInstanceOf(FoldError);
        }
      }),
    );
  });

  test("keeps fields apart: each field alone folds to what it is among the others", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const state = oneByOne(events);
        for (const definition of builtInReducers) {
          const alone = composeReducers([{ source: "law", reducers: [definition] }]);
          expect(alone.fold(events)[definition.field]).toEqual(state[definition.field]);
        }
      }),
      { numRuns: 50 },
    );
  });

  test("does not mix threads that are folded in turns", () => {
    fc.assert(
      fc.property(anyLog, anyLog, (left, right) => {
        let [a, b] = [reducer.initial, reducer.initial];
        for (let at = 0; at < Math.max(left.length, right.length); at++) {
          const [fromLeft, fromRight] = [left[at], right[at]];
          if (fromLeft) a = deepFreeze(reducer.apply(a, fromLeft));
          if (fromRight) b = deepFreeze(reducer.apply(b, fromRight));
        }
        expect([a, b]).toEqual([reducer.fold(left), reducer.fold(right)]);
      }),
      { numRuns: 50 },
    );
  });
});

describe("updates of hooks", () => {
  test("that hand a field back as it is become no event", () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const state = oneByOne(events);
        for (const { field, fromUpdate } of builtInReducers) {
          if (!fromUpdate || !Object.hasOwn(state, field)) continue;
          expect(fromUpdate(copy(state[field]), state[field])).toEqual([]);
        }
      }),
    );
  });
});
