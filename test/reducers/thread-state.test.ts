import { describe, expect, test } from "vitest";
import { builtInReducers, createThreadReducer } from "../../reducers/built-in.ts";
import { defineReducer } from "../../reducers/define-reducer.ts";
import { composeReducers, FieldConflictError, FoldError } from "../../reducers/thread-state.ts";

const updated = (field: string, value: unknown, replace?: true) => {
  return { type: "StateUpdated", data: replace ? { field, value, replace } : { field, value }, version: 1 };
};
const counter = defineReducer<number>({
  field: "count",
  initial: 0,
  on: {
    Counted: (count, data: { by: number }) => {
      if (data.by < 0) throw new Error("it only counts up");
      return count + data.by;
    },
  },
  merge: (count, update) => count + (update as number),
});

describe("composed reducers", () => {
  test("refuse two declarations of one field, and name both who made them", () => {
    const other = defineReducer<number>({ field: "count", initial: 1, on: {} });
    const compose = () =>
      composeReducers([
        { source: "middleware one", reducers: [counter] },
        { source: "middleware two", reducers: [other] },
      ]);
    expect(compose).toThrow(FieldConflictError);
    expect(compose).toThrow(/"count".*middleware one.*middleware two/);
  });

  test("take one declaration that several bring", () => {
    const parts = ["one", "two"].map((source) => ({ source, reducers: [counter] }));
    expect(composeReducers(parts).fields).toEqual(["count"]);
  });

  test("name the field and the event that was refused", () => {
    const reducer = composeReducers([{ source: "test", reducers: [counter] }]);
    const event = { type: "Counted", data: { by: -1 }, version: 7 };
    for (const fold of [() => reducer.apply(reducer.initial, event), () => reducer.fold([event])]) {
      expect(fold).toThrow(FoldError);
      expect(fold).toThrow('Counted at version 7 does not fold onto "count": it only counts up');
    }
  });

  test("merge a StateUpdated as the field says, or set the field whole", () => {
    const reducer = composeReducers([{ source: "test", reducers: [counter] }]);
    expect(reducer.fold([updated("count", 2), updated("count", 3)]).count).toBe(5);
    expect(reducer.fold([updated("count", 2), updated("count", 3, true)]).count).toBe(3);
  });

  test("fold undeclared fields only when they are open", () => {
    expect(createThreadReducer().fold([updated("mood", "good")])).not.toHaveProperty("mood");
    expect(createThreadReducer({ openFields: true }).fold([updated("mood", "good")])).toHaveProperty(
      "mood",
      "good",
    );
  });

  test("describe themselves differently when anything that folds differs", () => {
    const descriptions = [
      composeReducers([{ source: "test", reducers: [counter] }]),
      composeReducers([{ source: "test", reducers: [counter] }], { openFields: true }),
      composeReducers([{ source: "test", reducers: [{ ...counter, version: 2 }] }]),
      composeReducers([{ source: "test", reducers: [{ ...counter, on: {} }] }]),
      composeReducers([{ source: "test", reducers: [counter, ...builtInReducers] }]),
    ].map(({ description }) => description);
    expect(new Set(descriptions).size).toBe(descriptions.length);
  });
});
