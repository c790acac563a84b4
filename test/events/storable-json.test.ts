import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NotJsonError } from "../../events/canonical-json.ts";
import { storableJson } from "../../events/storable-json.ts";

describe("storable JSON", () => {
  it("is the value itself when it is plain JSON already", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(storableJson(plain)).toBe(plain);
      }),
    );
  });

  it("is what JSON.parse gives back, and stays so", () => {
    fc.assert(
      fc.property(
        fc.object({
          withNullPrototype: false,
          values: [
            fc.string({ unit: "binary" }),
            fc.double({ noNaN: true, noDefaultInfinity: true }),
            fc.constant(undefined),
          ],
        }),
        (value) => {
          fc.pre(!JSON.stringify(value).includes("null"));
          const stored = storableJson(value);
          expect(JSON.parse(JSON.stringify(stored))).toStrictEqual(stored);
          expect(storableJson(stored)).toBe(stored);
        },
      ),
    );
  });

  it.each([
    [{ gone: undefined, kept: 1 }, { kept: 1 }],
    [{ zero: -0 }, { zero: 0 }],
    ["half \ud83d", "half \ufffd"],
    [{ "\ud83d": ["\udc00"] }, { "\ufffd": ["\ufffd"] }],
  ])("mends what has one meaning: %j", (value, mended) => {
    const before = structuredClone(value);
    expect(storableJson(value)).toStrictEqual(mended);
    expect(value).toStrictEqual(before);
  });

  it("keeps a key named __proto__ a key", () => {
    const value = JSON.parse('{"__proto__":{"text":"\\ud83d"}}');
    const stored = storableJson(value) as object;
    expect(JSON.stringify(stored)).toBe('{"__proto__":{"text":"\ufffd"}}');
    expect(Object.getPrototypeOf(stored)).toBe(Object.prototype);
  });

  const cycle: unknown[] = [];
  cycle.push({ cycle });
  class Money {
    amount = 1;
  }
  it.each([
    ["NaN", { a: { b: [Number.NaN] } }, "a.b.0 is NaN"],
    ["infinity", [Number.NEGATIVE_INFINITY], "0 is -Infinity"],
    ["undefined", undefined, "The value is of type undefined"],
    ["undefined in an array", { list: [1, undefined] }, "list.1 is of type undefined"],
    ["a hole in an array", { list: Object.assign(Array(2), { 0: 1 }) }, "list.1 is of type undefined"],
    ["a function", { run: () => 1 }, "run is of type function"],
    ["a symbol", [Symbol("s")], "0 is of type symbol"],
    ["a bigint", { n: 1n }, "n is of type bigint"],
    ["a date", { at: new Date(0) }, "at is a Date"],
    ["a map", new Map(), "The value is a Map"],
    ["bytes", { bytes: new Uint8Array(1) }, "bytes is a Uint8Array"],
    ["a class instance", { price: new Money() }, "price is a Money"],
    ["a cycle", cycle, "contains itself"],
  ])("refuses %s and says where it is", (_what, value, message) => {
    expect(() => storableJson(value)).toThrow(NotJsonError);
    expect(() => storableJson(value)).toThrow(message);
  });
});
