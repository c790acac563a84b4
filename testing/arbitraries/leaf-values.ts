import fc from "fast-check";
import { z } from "zod";

const maxTextLength = 40;

type LeafSchema = z.core.$ZodTypes;

/** What a leaf accepts, in JSON Schema's words. */
function rules(schema: LeafSchema) {
  return z.toJSONSchema(schema, { unrepresentable: "any" });
}

/** Four-digit years: what every format of dates knows. */
function dates(): fc.Arbitrary<Date> {
  return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) });
}

const formats: Readonly<Record<string, () => fc.Arbitrary<string>>> = {
  uuid: () => fc.uuid(),
  email: () => fc.emailAddress(),
  uri: () => fc.webUrl(),
  "date-time": () => dates().map((date) => date.toISOString()),
  date: () => dates().map((date) => date.toISOString().slice(0, 10)),
  base64: () => fc.base64String({ maxLength: maxTextLength }),
  ipv4: () => fc.ipV4(),
  ipv6: () => fc.ipV6(),
};

/** Texts that a string schema accepts, as far as its rules can be read; `strings` where it has none. */
export function stringOf(schema: LeafSchema, strings: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const { format, pattern, minLength = 0, maxLength } = rules(schema);
  const formatted = format === undefined || !Object.hasOwn(formats, format) ? undefined : formats[format];
  if (formatted) return formatted();
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  if (minLength <= 1 && maxLength === undefined)
    return minLength === 0 ? strings : strings.filter((text) => text !== "");
  const longest = maxLength ?? minLength + maxTextLength;
  return fc.oneof(
    strings.filter((text) => text.length >= minLength && text.length <= longest),
    fc.string({ minLength, maxLength: longest }),
  );
}

/** Numbers that a number schema accepts: often 0, 1 and the bounds. */
export function numberOf(schema: LeafSchema): fc.Arbitrary<number> {
  const { type, minimum, maximum, multipleOf, ...bounds } = rules(schema);
  // Older drafts of JSON Schema had flags here; zod writes numbers.
  const exclusiveMinimum = bounds.exclusiveMinimum as number | undefined;
  const exclusiveMaximum = bounds.exclusiveMaximum as number | undefined;
  const step = multipleOf ?? 1;
  if (type === "integer" || multipleOf !== undefined) {
    const low =
      minimum ?? (exclusiveMinimum === undefined ? Number.MIN_SAFE_INTEGER : exclusiveMinimum + step);
    const high =
      maximum ?? (exclusiveMaximum === undefined ? Number.MAX_SAFE_INTEGER : exclusiveMaximum - step);
    const near = fc.integer({
      min: Math.ceil(low / step),
      max: Math.floor(Math.min(high, Math.max(low, 0) + 9 * step) / step),
    });
    return fc
      .oneof(near, fc.integer({ min: Math.ceil(low / step), max: Math.floor(high / step) }))
      .map((count) => count * step);
  }
  return fc
    .double({
      noNaN: true,
      noDefaultInfinity: true,
      min: minimum ?? exclusiveMinimum ?? -Number.MAX_VALUE,
      max: maximum ?? exclusiveMaximum ?? Number.MAX_VALUE,
      minExcluded: minimum === undefined && exclusiveMinimum !== undefined,
      maxExcluded: maximum === undefined && exclusiveMaximum !== undefined,
    })
    .map((value) => (value === 0 ? 0 : value));
}
