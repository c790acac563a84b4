import { describe, expect, test } from "vitest";
import { SandboxConflictError, sandbox } from "../../reducers/sandbox.ts";
import { composeReducers, FoldError } from "../../reducers/thread-state.ts";

const reducer = composeReducers([{ source: "test", reducers: [sandbox] }]);
const bound = { type: "SandboxBound", data: { sandbox_id: "s1" }, version: 1 };
const rebound = (previous: string, sandbox_id: string) => {
  return { type: "SandboxRebound", data: { sandbox_id, previous }, version: 2 };
};

describe("a bound sandbox", () => {
  test("is replaced when it is the one that was lost", () => {
    expect(reducer.fold([bound, rebound("s1", "s2")]).sandbox).toEqual({ sandbox_id: "s2" });
  });

  test("stays when the lost one is another, and the event is refused", () => {
    expect(() => reducer.fold([bound, rebound("s9", "s2")])).toThrow(FoldError);
  });

  test("conflicts name both ids", () => {
    const other = { type: "SandboxBound", data: { sandbox_id: "s2" }, version: 2 };
    try {
      reducer.fold([bound, other]);
      expect.unreachable();
    } catch (error) {
      expect((error as FoldError).cause).toMatchObject({ bound: "s1", offered: "s2" });
      expect((error as FoldError).cause).toBeInstanceOf(SandboxConflictError);
    }
  });

  test("stays in state when it goes back to its provider", () => {
    const state = reducer.fold([bound]);
    const released = { type: "SandboxReleased", data: { sandbox_id: "s1" }, version: 2 };
    expect(reducer.apply(state, released)).toBe(state);
  });

  test("is bound by a plain update only when it changes something", () => {
    expect(sandbox.fromUpdate?.({ sandbox_id: "s1" }, undefined)).toMatchObject(
      [bound].map(({ type, data }) => ({ type, data })),
    );
    expect(sandbox.fromUpdate?.({ sandbox_id: "s1" }, { sandbox_id: "s1" })).toEqual([]);
    expect(sandbox.fromUpdate?.(null, { sandbox_id: "s1" })).toEqual([]);
  });
});
