import type { JsonSchema } from "./json-schema.ts";

type Arguments = { readonly [name: string]: unknown };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function typesOf(schema: JsonSchema): readonly string[] {
  if (typeof schema.type === "string") return [schema.type];
  return schema.type ?? [];
}

/** What a form's text means for a type; undefined: it means nothing of that type. */
function parseAs(type: string, text: string): unknown {
  const trimmed = text.trim();
  if (type === "number" || type === "integer") {
    const value = trimmed === "" ? Number.NaN : Number(trimmed);
    return Number.isFinite(value) && (type === "number" || Number.isInteger(value)) ? value : undefined;
  }
  if (type === "boolean") return trimmed === "true" ? true : trimmed === "false" ? false : undefined;
  if (type === "null") return trimmed === "null" || trimmed === "" ? null : undefined;
  if (type === "array" || type === "object") {
    try {
      const value: unknown = JSON.parse(trimmed);
      return (type === "array" ? Array.isArray(value) : isRecord(value)) ? value : undefined;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

function coerceText(schema: JsonSchema, text: string): unknown {
  const choices = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const types = choices.flatMap(typesOf);
  if (types.includes("string") || choices.some((choice) => choice.enum?.includes(text))) return text;
  for (const type of types) {
    const value = parseAs(type, text);
    if (value !== undefined) return value;
  }
  return text;
}

function coerceValue(schema: JsonSchema | undefined, value: unknown): unknown {
  if (!schema) return value;
  if (typeof value === "string") return coerceText(schema, value);
  if (Array.isArray(value)) return value.map((item) => coerceValue(schema.items, item));
  return isRecord(value) ? coerceArguments(schema, value) : value;
}

/**
 * Arguments that came back from a form, where every value is text, in the types of the schema: `"40"` becomes 40
 * where a number is wanted. What does not fit stays as it is, for the schema to refuse.
 *
 * @example
 * coerceArguments({ properties: { count: { type: "integer" } } }, { count: "40" }); // { count: 40 }
 */
export function coerceArguments(schema: JsonSchema, args: Arguments): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, coerceValue(schema.properties?.[name], value)]),
  );
}
