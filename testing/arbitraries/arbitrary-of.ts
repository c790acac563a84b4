import fc from "fast-check";
import { z } from "zod";
import { hostileStrings, names } from "./hostile-strings.ts";
import { numberOf, stringOf } from "./leaf-values.ts";

/** Values of this kind of schema cannot be made from the schema alone. */
export class UnsupportedSchemaError extends Error {
  override readonly name = "UnsupportedSchemaError";
  constructor(
    readonly kind: string,
    reason: string,
  ) {
    super(
      `No values can be generated for a schema of kind "${kind}": ${reason}. Pass \`overrides: new Map([[schema, arbitrary]])\`.`,
    );
  }
}

export interface ArbitraryOptions {
  /** Texts where the schema says no more than "a string". Default: few plain names, and hostile ones now and then. */
  readonly strings?: fc.Arbitrary<string>;
  /** Values for single schemas, by the schema object. They go before what would be generated. */
  readonly overrides?: ReadonlyMap<unknown, fc.Arbitrary<unknown>>;
}

/** Depth at which schemas that contain themselves stop. */
const maxDepth = 4;
/** Values of a check that are thrown away in a row before its schema counts as too narrow. */
const maxRejections = 2_000;

interface Walk {
  readonly strings: fc.Arbitrary<string>;
  readonly overrides: ReadonlyMap<unknown, fc.Arbitrary<unknown>>;
  readonly depth: number;
}

type Schema = z.core.$ZodTypes;

/** JSON of any form, hostile keys included. */
function anyJson(walk: Walk): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(
    walk.strings,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(plainZero),
    fc.boolean(),
    fc.constant(null),
  );
  if (walk.depth <= 0) return leaf;
  const inner = fc.oneof(
    { weight: 3, arbitrary: leaf },
    { weight: 1, arbitrary: fc.array(leaf, { maxLength: 2 }) },
    { weight: 1, arbitrary: entries(walk.strings, leaf, 0, 2) },
  );
  return fc.oneof(leaf, fc.array(inner, { maxLength: 3 }), entries(walk.strings, inner, 0, 3));
}

/** JSON knows one zero only. */
function plainZero(value: number): number {
  return value === 0 ? 0 : value;
}

/** `Object.fromEntries` makes own members of all keys, `__proto__` too; a plain assignment would lose it. */
function entries(
  keys: fc.Arbitrary<string>,
  values: fc.Arbitrary<unknown>,
  minKeys: number,
  maxKeys: number,
): fc.Arbitrary<object> {
  return fc
    .uniqueArray(fc.tuple(keys, values), { selector: ([key]) => key, minLength: minKeys, maxLength: maxKeys })
    .map((pairs) => Object.fromEntries(pairs));
}

function hasOwnChecks(schema: Schema): boolean {
  const { checks, format } = schema._zod.def as { checks?: readonly unknown[]; format?: unknown };
  return format !== undefined || (checks?.length ?? 0) > 0;
}

function passing(schema: Schema, values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  let rejected = 0;
  return values.filter((value) => {
    if (z.safeParse(schema, value).success) {
      rejected = 0;
      return true;
    }
    rejected += 1;
    if (rejected <= maxRejections) return false;
    throw new UnsupportedSchemaError(
      schema._zod.def.type,
      `its checks refused ${maxRejections} values in a row`,
    );
  });
}

function objectOf(schema: z.core.$ZodObject, walk: Walk): fc.Arbitrary<unknown> {
  const { shape, catchall } = schema._zod.def;
  const members = Object.entries(shape).map(([key, member]) => {
    const optional = member._zod.optin === "optional" || member._zod.optout === "optional";
    const value = generate(unwrapped(member as Schema), walk).map((made) => ({ there: true, made }));
    const absent = fc.constant({ there: false, made: undefined as unknown });
    return fc.tuple(fc.constant(key), optional ? fc.oneof({ weight: 2, arbitrary: value }, absent) : value);
  });
  const known = fc
    .tuple(...members)
    .map((list) =>
      list.flatMap(([key, { there, made }]) => (there && made !== undefined ? [[key, made] as const] : [])),
    );
  if (!catchall || catchall._zod.def.type === "never") return known.map((list) => Object.fromEntries(list));
  const extra = generate(catchall as Schema, { ...walk, depth: Math.min(walk.depth, 1) });
  return fc
    .tuple(
      fc.oneof(
        { weight: 4, arbitrary: fc.constant({}) },
        { weight: 1, arbitrary: entries(hostileStrings(), extra, 0, 2) },
      ),
      known,
    )
    .map(([more, list]) =>
      Object.fromEntries([...Object.entries(more).filter(([key]) => !Object.hasOwn(shape, key)), ...list]),
    );
}

/** The schema behind `optional()`: whether a member is there is decided by the object. */
function unwrapped(schema: Schema): Schema {
  const { def } = schema._zod;
  return def.type === "optional" ? unwrapped(def.innerType as Schema) : schema;
}

function recordOf(schema: z.core.$ZodRecord, walk: Walk): fc.Arbitrary<unknown> {
  const { keyType, valueType } = schema._zod.def;
  const values = generate(valueType as Schema, deeper(walk));
  const { values: known } = keyType._zod;
  if (!known) return entries(generate(keyType as Schema, walk) as fc.Arbitrary<string>, values, 0, 3);
  const all = fc.tuple(...[...known].map((key) => fc.tuple(fc.constant(String(key)), values)));
  return all.map((pairs) => Object.fromEntries(pairs));
}

function deeper(walk: Walk): Walk {
  return { ...walk, depth: walk.depth - 1 };
}

function ofKind(schema: Schema, walk: Walk): fc.Arbitrary<unknown> {
  const { def } = schema._zod;
  switch (def.type) {
    case "string":
    case "template_literal":
      return stringOf(schema, walk.strings);
    case "number":
      return numberOf(schema);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "undefined":
    case "void":
      return fc.constant(undefined);
    case "literal":
      return fc.constantFrom(...def.values);
    case "enum":
      return fc.constantFrom(...Object.values(def.entries));
    case "any":
    case "unknown":
      return anyJson(walk);
    case "array": {
      const { minItems = 0, maxItems } = z.toJSONSchema(schema, { unrepresentable: "any" });
      const maxLength = Math.min(maxItems ?? Number.POSITIVE_INFINITY, minItems + 3);
      return fc.array(generate(def.element as Schema, deeper(walk)), { minLength: minItems, maxLength });
    }
    case "tuple":
      return fc.tuple(...def.items.map((item) => generate(item as Schema, deeper(walk))));
    case "object":
      return objectOf(schema as z.core.$ZodObject, deeper(walk));
    case "record":
      return recordOf(schema as z.core.$ZodRecord, walk);
    case "union":
      return fc.oneof(
        ...leafFirst(def.options as readonly Schema[], walk).map((option) => generate(option, walk)),
      );
    case "intersection":
      return passing(
        schema,
        fc
          .tuple(generate(def.left as Schema, walk), generate(def.right as Schema, walk))
          .map(([left, right]) => ({ ...(left as object), ...(right as object) })),
      );
    case "optional":
      return fc.option(generate(def.innerType as Schema, walk), { nil: undefined });
    case "nullable":
      return fc.option(generate(def.innerType as Schema, walk), { freq: 3 });
    case "default":
    case "prefault":
    case "readonly":
    case "nonoptional":
    case "catch":
      return generate(def.innerType as Schema, walk);
    case "lazy":
      return walk.depth <= 0 ? anyJson(walk) : generate(def.getter() as Schema, deeper(walk));
    case "pipe":
      return generate(def.in as Schema, walk);
    default:
      throw new UnsupportedSchemaError(def.type, "its values have no JSON form, or their rule is only code");
  }
}

/** Where a schema that contains itself has to stop, only its leaves are left. */
function leafFirst(options: readonly Schema[], walk: Walk): readonly Schema[] {
  if (walk.depth > 0) return options;
  const nested = new Set(["array", "object", "record", "tuple", "lazy"]);
  const leaves = options.filter((option) => !nested.has(option._zod.def.type));
  return leaves.length > 0 ? leaves : options;
}

function generate(schema: Schema, walk: Walk): fc.Arbitrary<unknown> {
  const override = walk.overrides.get(schema);
  if (override) return override;
  const values = ofKind(schema, walk);
  return hasOwnChecks(schema) ? passing(schema, values) : values;
}

/**
 * Values that a zod schema accepts, as JSON. Strings are few plain names mixed with hostile ones, so that ids meet and
 * careless code breaks. Keys that are not named in a loose object come along now and then.
 *
 * @throws {UnsupportedSchemaError} dates, maps, sets, functions and other kinds without a JSON form; checks that refuse
 * nearly everything (while values are made)
 * @example
 * fc.assert(fc.property(arbitraryOf(z.object({ plan: z.string() })), ({ plan }) => render(plan).length > 0));
 */
export function arbitraryOf<Value>(
  schema: z.ZodType<Value>,
  options: ArbitraryOptions = {},
): fc.Arbitrary<Value> {
  const { strings = names(), overrides = new Map() } = options;
  const walk: Walk = { strings, overrides, depth: maxDepth };
  return generate(schema as unknown as Schema, walk) as fc.Arbitrary<Value>;
}
