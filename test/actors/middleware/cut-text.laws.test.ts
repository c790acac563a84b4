import fc from "fast-check";
import { expect, test } from "vitest";
import { cutMiddle, headOf, tailOf } from "../../../actors/middleware/cut-text.ts";

const limits = { head: 8_000, tail: 3_000 };

test("a text of exactly the limit stays, one more is cut", () => {
  const text = "x".repeat(30_000);
  expect(cutMiddle(text, limits, 30_000)).toBe(text);
  expect(cutMiddle(`${text}y`, limits, 30_000)).toBe(
    `${"x".repeat(8_000)}\n[19001 characters are left out here]\n${"x".repeat(2_999)}y`,
  );
});

test("OUT-16: many short lines and then one very long line stay within the limit", () => {
  const text = `${"short line\n".repeat(2_000)}${"z".repeat(40_000)}`;
  const cut = cutMiddle(text, limits, 30_000);
  expect(cut.length).toBeLessThanOrEqual(30_000);
  expect(cut.endsWith("z".repeat(3_000))).toBe(true);
});

test("edges lie at lines where there are some", () => {
  expect(headOf("one\ntwo\nthree", 9)).toBe("one\ntwo");
  expect(tailOf("one\ntwo\nthree", 7)).toBe("three");
  expect(headOf("onetwothree", 5)).toBe("onetw");
  expect(tailOf("onetwothree\n", 5)).toBe("hree\n");
});

test("whatever the text and the limits: never longer than the maximum, no half characters", () => {
  const size = fc.integer({ min: 0, max: 300 });
  const text = fc.string({ unit: fc.constantFrom("a", "\n", "😀", "é"), minLength: 0, maxLength: 600 });
  fc.assert(
    fc.property(text, size, size, fc.integer({ min: 1, max: 300 }), (given, head, tail, maxLength) => {
      const cut = cutMiddle(given, { head, tail }, maxLength);
      expect(cut.length).toBeLessThanOrEqual(Math.max(maxLength, 0));
      expect(cut.isWellFormed()).toBe(true);
      if (given.length <= maxLength) expect(cut).toBe(given);
    }),
  );
});
