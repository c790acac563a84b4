import fc from "fast-check";
import { type JSONValue, jsonpatch } from "json-p3";
import { describe, expect, test } from "vitest";
import type { Message } from "../../events/message.ts";
import { changedNames, diffStates } from "../../projections/diff.ts";
import { toJsonPatch } from "../../projections/json-patch.ts";
import type { State } from "../../reducers/thread-state.ts";
import { anyLog, reducer } from "../reducers/arbitrary-log.ts";

const copy = (state: State) => JSON.parse(JSON.stringify(state)) as { [key: string]: JSONValue };
const human = (id: string, content = id): Message => ({ id, type: "human", content });
const patched = (before: State, after: State) =>
  jsonpatch.apply(toJsonPatch(diffStates(before, after)) as never, copy(before));

/** json-p3 does not write to a key of this name, and no state of ours should need it. */
const hasProto = (state: State) => JSON.stringify(state).includes("__proto__");

describe("the difference of two states", () => {
  test("as a JSON Patch turns the first into the second", () => {
    fc.assert(
      fc.property(anyLog, anyLog, (left, right) => {
        const [before, after] = [reducer.fold(left), reducer.fold(right)];
        fc.pre(!hasProto(before) && !hasProto(after));
        expect(patched(before, after)).toEqual(copy(after));
      }),
    );
  });

  test("is none, with no name and an empty patch, exactly between equal states", () => {
    fc.assert(
      fc.property(anyLog, fc.nat(40), (events, cut) => {
        const [before, after] = [reducer.fold(events.slice(0, cut)), reducer.fold(events)];
        const same = JSON.stringify(copy(before)) === JSON.stringify(copy(after));
        if (same) expect(diffStates(before, copy(after))).toBeUndefined();
        expect(diffStates(before, after) === undefined).toBe(changedNames(before, after).length === 0);
        expect(Object.keys(diffStates(before, after) ?? {}).sort()).toEqual(changedNames(before, after));
      }),
    );
  });

  test("names a changed message by its place, and the change inside it", () => {
    const before = { messages: [human("1"), human("2"), human("3")] };
    const after = { messages: [human("2", "new"), human("3"), human("4")] };
    expect(diffStates(before, after)).toEqual({
      messages: { _t: "a", _0: [human("1"), 0, 0], 0: { content: ["2", "new"] }, 2: [human("4")] },
    });
    expect(toJsonPatch(diffStates(before, after))).toEqual([
      { op: "remove", path: "/messages/0" },
      { op: "add", path: "/messages/2", value: human("4") },
      { op: "replace", path: "/messages/0/content", value: "new" },
    ]);
  });

  test("names a changed item without an id by its place, unless another came before it", () => {
    const todo = (content: string, status: string) => ({ content, status });
    const before = { todos: [todo("a", "pending"), todo("b", "pending")] };
    expect(diffStates(before, { todos: [todo("a", "completed"), todo("b", "pending")] })).toEqual({
      todos: { _t: "a", 0: { status: ["pending", "completed"] } },
    });
    expect(diffStates(before, { todos: [todo("new", "pending"), ...before.todos] })).toEqual({
      todos: { _t: "a", 0: [todo("new", "pending")] },
    });
  });

  test("gives long texts whole", () => {
    const [long, longer] = ["x".repeat(500), `${"x".repeat(500)}y`];
    expect(diffStates({ title: long }, { title: longer })).toEqual({ title: [long, longer] });
  });

  test("escapes the names of fields in the patch", () => {
    expect(toJsonPatch(diffStates({}, { "a/b~c": 1 }))).toEqual([{ op: "add", path: "/a~1b~0c", value: 1 }]);
  });

  test("of two threads of 20,000 messages, apart at both ends, needs no table of them all", () => {
    const many = Array.from({ length: 20_000 }, (_, n) => human(`m${n}`));
    const after = [...many.slice(10), human("new")];
    const delta = diffStates({ messages: many }, { messages: after });
    expect(Object.keys(delta?.messages ?? {})).toHaveLength(12);
  });
});

test("the names of changed fields are sorted, and tell absent from null", () => {
  expect(changedNames({ b: 1, a: [1], same: { x: 1 } }, { b: 2, goal: null, same: { x: 1 } })).toEqual([
    "a",
    "b",
    "goal",
  ]);
});
