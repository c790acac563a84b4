import { describe, expect, test } from "vitest";
import { DelegationsRecorded } from "../../events/delegations.ts";
import { delegations, maxDelegations } from "../../reducers/delegations.ts";
import { composeReducers } from "../../reducers/thread-state.ts";

const reducer = composeReducers([{ source: "test", reducers: [delegations] }]);

describe("delegations", () => {
  test("are capped, and the first seen go first", () => {
    const entries = Array.from({ length: maxDelegations + 2 }, (_, n) => ({
      id: `d${n}`,
      status: "completed",
    }));
    const events = entries.map((entry, index) => ({
      ...DelegationsRecorded({ entries: [entry] }),
      version: index + 1,
    }));
    expect(reducer.fold(events).delegations).toEqual(entries.slice(2));
  });

  test("keep their place when they change", () => {
    const entries = ["a", "b"].map((id) => ({ id, status: "in_progress" }));
    const state = reducer.fold([{ ...DelegationsRecorded({ entries }), version: 1 }]);
    const finished = { ...DelegationsRecorded({ entries: [{ id: "a", status: "completed" }] }), version: 2 };
    expect(reducer.apply(state, finished).delegations).toEqual([
      { id: "a", status: "completed" },
      entries[1],
    ]);
  });

  test("take another run's id only when the entry names one", () => {
    const first = { id: "a", status: "in_progress", created_at: "t", run_id: "r1" };
    const state = reducer.fold([{ ...DelegationsRecorded({ entries: [first] }), version: 1 }]);
    const next = { id: "a", status: "failed", run_id: "r2" };
    const after = reducer.apply(state, { ...DelegationsRecorded({ entries: [next] }), version: 2 });
    expect(after.delegations).toEqual([{ ...next, created_at: "t" }]);
  });
});
