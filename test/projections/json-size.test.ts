import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonSize } from "../../projections/json-size.ts";

test("the size of a value is near the length of its JSON text, and rarely above", () => {
  const plain = fc.jsonValue({ stringUnit: fc.constantFrom("a", "长", " "), maxDepth: 4 });
  fc.assert(
    fc.property(plain, (value) => {
      const length = JSON.stringify(value).length;
      expect(jsonSize(value)).toBeGreaterThan(length / 6);
      expect(jsonSize(value)).toBeLessThan(length * 5 + 5);
    }),
  );
});
