import reference from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, NotJsonError } from "../../events/canonical-json.ts";

describe("canonical JSON", () => {
  it("is what the reference implementation of RFC 8785 writes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
        expect(canonicalJson(value)).toBe(reference(value));
      }),
      { numRuns: 500 },
    );
  });

  it("does not depend on the order of keys", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.infiniteStream(fc.nat()),
        (value, random) => {
          const shuffled = Object.entries(value)
            .map((entry) => [random.next().value, entry] as const)
            .sort(([a], [b]) => a - b)
            .map(([, entry]) => entry);
          expect(canonicalJson(Object.fromEntries(shuffled))).toBe(canonicalJson(value));
        },
      ),
    );
  });

  it.each([
    [{ b: 1, a: "x" }, '{"a":"x","b":1}'],
    [{ 10: 1, 9: 2, "": 3 }, '{"":3,"10":1,"9":2}'],
    [
      { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 },
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}',
    ],
    [
      [JSON.parse("333333333.33333329"), 1e30, 4.5, 2e-3, 1e-27, -0],
      "[333333333.3333333,1e+30,4.5,0.002,1e-27,0]",
    ],
    [{ gone: undefined, list: [undefined, null] }, '{"list":[null,null]}'],
    [{ at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    [JSON.parse('{"__proto__":1,"a":2}'), '{"__proto__":1,"a":2}'],
  ])("writes %j", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  it.each([
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [undefined],
    [() => 1],
    [{ f: () => 1 }],
    [1n],
    [Symbol("s")],
    ["\ud800"],
    [{ "\udc00": 1 }],
    [cycle],
  ])("refuses what has no JSON form (%#)", (value) => {
    expect(() => canonicalJson(value)).toThrow(NotJsonError);
  });
});
