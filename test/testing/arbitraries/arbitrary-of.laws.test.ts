import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { catalogue } from "../../../events/catalogue.ts";
import { arbitraryOf, UnsupportedSchemaError } from "../../../testing/arbitraries/arbitrary-of.ts";
import { draftsOf } from "../../../testing/arbitraries/event-drafts.ts";
import { hostileStrings } from "../../../testing/arbitraries/hostile-strings.ts";

const runs = { numRuns: 40 };

const schemas: Readonly<Record<string, z.ZodType>> = {
  string: z.string(),
  "string with bounds": z.string().min(3).max(6),
  "string with a pattern": z.string().regex(/^[a-f0-9]{8}$/),
  uuid: z.uuid(),
  datetime: z.iso.datetime({ precision: 3 }),
  date: z.iso.date(),
  email: z.email(),
  url: z.url(),
  base64: z.base64(),
  template: z.templateLiteral(["v", z.number().int().nonnegative()]),
  number: z.number(),
  "number with bounds": z.number().positive().max(3),
  int: z.int().nonnegative(),
  "multiple of 5": z.number().multipleOf(5).min(0).max(100),
  boolean: z.boolean(),
  null: z.null(),
  literal: z.literal(["a", 1, true]),
  enum: z.enum(["one", "two"]),
  array: z.array(z.string()).min(1).max(2),
  tuple: z.tuple([z.string(), z.number()]),
  object: z.object({ a: z.string(), b: z.number().optional() }),
  "loose object": z.looseObject({ a: z.string() }),
  "strict object": z.strictObject({ a: z.string() }),
  record: z.record(z.string(), z.number()),
  "record of an enum": z.record(z.enum(["x", "y"]), z.boolean()),
  union: z.union([z.string(), z.number()]),
  "discriminated union": z.discriminatedUnion("op", [
    z.object({ op: z.literal("add"), n: z.number() }),
    z.object({ op: z.literal("drop") }),
  ]),
  intersection: z.intersection(z.object({ a: z.string() }), z.object({ b: z.number() })),
  nullable: z.string().nullable(),
  optional: z.string().optional(),
  default: z.string().default("x"),
  readonly: z.array(z.string()).readonly(),
  lazy: z.lazy(() => z.array(z.string())),
  json: z.json(),
  unknown: z.unknown(),
  refined: z.number().refine((value) => value !== 0),
  pipe: z.string().pipe(z.string()),
};

describe("arbitraryOf", () => {
  test.each(Object.entries(schemas))("%s: gives only values that the schema accepts", (_name, schema) => {
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => schema.safeParse(value).success),
      runs,
    );
  });

  test("every event of the catalogue gets drafts that fit its schema, as plain JSON", () => {
    for (const definition of Object.values(catalogue)) {
      fc.assert(
        fc.property(draftsOf(definition), ({ type, data }) => {
          expect(type).toBe(definition.type);
          expect(definition.schema.safeParse(data).success).toBe(true);
          expect(JSON.parse(JSON.stringify(data))).toEqual(data);
        }),
        { numRuns: 20 },
      );
    }
  });

  test("a schema that contains itself ends", () => {
    interface Tree {
      readonly name: string;
      readonly children: readonly Tree[];
    }
    const tree: z.ZodType<Tree> = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }));
    expect(() => fc.sample(arbitraryOf(z.array(z.json())), 50)).not.toThrow();
    expect(() => fc.sample(arbitraryOf(tree), 50)).not.toThrow();
  });

  test("optional members are there and absent; loose objects get keys that nobody named", () => {
    const values = fc.sample(arbitraryOf(z.looseObject({ a: z.string().optional() })), 300) as object[];
    expect(values.some((value) => "a" in value)).toBe(true);
    expect(values.some((value) => !("a" in value))).toBe(true);
    expect(values.some((value) => Object.keys(value).some((key) => key !== "a"))).toBe(true);
  });

  test("`strings` are used where the schema says no more than a string", () => {
    const values = fc.sample(arbitraryOf(z.array(z.string()), { strings: fc.constant("only this") }), 50);
    expect(new Set(values.flat())).toEqual(new Set(["only this"]));
  });

  test("`overrides` go before what the schema says", () => {
    const id = z.string();
    const overrides = new Map([[id as unknown, fc.constant("mine") as fc.Arbitrary<unknown>]]);
    const values = fc.sample(arbitraryOf(z.object({ id, other: z.string() }), { overrides }), 20);
    expect(new Set(values.map((value) => value.id))).toEqual(new Set(["mine"]));
  });

  test.each([z.date(), z.map(z.string(), z.string()), z.set(z.string()), z.bigint(), z.custom()])(
    "kinds without a JSON form are refused (%#)",
    (schema) => {
      expect(() => arbitraryOf(schema)).toThrow(UnsupportedSchemaError);
    },
  );

  test("a check that refuses nearly everything is named, and does not hang", () => {
    const narrow = arbitraryOf(z.string().refine((text) => text === "one in a million"));
    expect(() => fc.sample(narrow, 1)).toThrow(UnsupportedSchemaError);
  });
});

test("hostile strings hold what breaks careless code", () => {
  const texts = new Set(fc.sample(hostileStrings(), { numRuns: 2_000, seed: 1 }));
  for (const text of [
    "",
    "__proto__",
    "constructor",
    "\u0000",
    "\ud83d",
    "\u202egnp.exe",
    "x".repeat(5_000),
  ]) {
    expect(texts.has(text), JSON.stringify(text).slice(0, 20)).toBe(true);
  }
});
