/// <reference lib="es2024.string" />
import { foldCase, type RowMatch, type RowQuery } from "./projection-store.ts";

/** SQL and its parameters, numbered after those before it. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/**
 * A row as `jsonb`, which knows neither U+0000 nor halves of surrogate pairs: both are U+FFFD there. JSON texts write
 * them, and them alone, as such escapes.
 */
const comparable = `(CASE WHEN r.value ~ '\\\\u(0000|d[89a-f])'
  THEN regexp_replace(r.value, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(?:0000|d[89a-f][0-9a-f]{2})', '\\1\\\\ufffd', 'g')
  ELSE r.value END)::jsonb`;

function comparableText(text: string): string {
  return text.replaceAll("\u0000", "\ufffd").toWellFormed();
}

/** A text as a column can keep it, which holds no U+0000. Orders and beginnings of texts stay what they were. */
export function toColumn(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
  return text.replace(/[\u0000\u0001]/g, (character) => (character === "\u0000" ? "\u00010" : "\u00011"));
}

export function fromColumn(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
  return text.replace(/\u0001([01])/g, (_, digit) => (digit === "0" ? "\u0000" : "\u0001"));
}

function matchCondition({ path, equals }: RowMatch, parameter: (value: unknown) => string): string {
  const member = `${comparable} #> ${parameter(path.map(comparableText))}::text[]`;
  // A member that is missing is null.
  if (equals === null) return `coalesce(${member}, 'null') = 'null'`;
  const wanted = typeof equals === "string" ? comparableText(equals) : equals;
  return `${member} = ${parameter(JSON.stringify(wanted))}::jsonb`;
}

/**
 * The WHERE clause of a query over rows `r`.
 *
 * @param before parameters that the statement has already
 */
export function conditionsOf(query: RowQuery, before = 0): Condition {
  const { prefix, search, match = [], after } = query;
  const values: unknown[] = [];
  const parameter = (value: unknown): string => {
    values.push(value);
    return `$${before + values.length}`;
  };
  const conditions = match.map((one) => matchCondition(one, parameter));
  if (prefix) {
    const wanted = parameter(toColumn(prefix));
    conditions.push(`r.key >= ${wanted} AND starts_with(r.key, ${wanted})`);
  }
  if (search) conditions.push(`position(${parameter(toColumn(foldCase(search)))} IN r.search) > 0`);
  if (after)
    conditions.push(
      `(r.ord, r.key) < (${parameter(toColumn(after.order))}, ${parameter(toColumn(after.key))})`,
    );
  return { sql: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`, values };
}
