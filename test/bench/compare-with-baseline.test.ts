import { expect, test } from "vitest";
import { compareWithBaseline } from "../../bench/compare-with-baseline.ts";
import type { Ratio } from "../../bench/tables/table.ts";

const faster = (value: number): Ratio => ({ name: "speed", value, target: { atLeast: 20 }, unit: "x" });
const smaller = (value: number): Ratio => ({ name: "bytes", value, target: { atMost: 3 }, unit: "x" });

test("a ratio that should be high is worse when it fell by more than 20 %", () => {
  expect(compareWithBaseline([faster(79)], [faster(100)])).toEqual([
    { name: "speed", value: 79, before: 100 },
  ]);
  expect(compareWithBaseline([faster(81)], [faster(100)])).toEqual([]);
  expect(compareWithBaseline([faster(300)], [faster(100)])).toEqual([]);
});

test("a ratio that should be low is worse when it grew by more than 20 %", () => {
  expect(compareWithBaseline([smaller(121)], [smaller(100)])).toMatchObject([{ name: "bytes" }]);
  expect(compareWithBaseline([smaller(119)], [smaller(100)])).toEqual([]);
  expect(compareWithBaseline([smaller(1)], [smaller(100)])).toEqual([]);
});

test("a ratio that was not measured before is not compared", () => {
  expect(compareWithBaseline([faster(1)], [smaller(1)])).toEqual([]);
});
