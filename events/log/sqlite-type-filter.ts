import { lineageCondition, lineageWords } from "./sqlite-schema.ts";
import type { Words } from "./sqlite-words.ts";

/** How a query on the events of one stream finds events of certain types. */
export interface TypeFilter {
  /** Index to walk along. */
  readonly index: "events_by_version" | "events_of_lineage";
  /** Starts with AND, or is empty. */
  readonly condition: string;
  readonly parameters: readonly number[];
  /** The index holds events of these types alone, so that no scan needs a bound. */
  readonly isExact: boolean;
}

/** True when the partial index of lineage events holds all events of these types. */
export function areLineageTypes(types: readonly string[] | undefined): boolean {
  return types?.every((type) => Object.hasOwn(lineageWords, type)) ?? false;
}

/** @param table alias of the events table in the query */
export function typeFilter(words: Words, types: readonly string[] | undefined, table: string): TypeFilter {
  if (!types) return { index: "events_by_version", condition: "", parameters: [], isExact: false };
  const known = types.flatMap((type) => words.find(type) ?? []);
  // No word has the number 0; an empty list would be folded away together with the index.
  const parameters = known.length > 0 ? known : [0];
  const condition = `AND ${table}.type IN (${parameters.map(() => "?").join(",")})`;
  if (!areLineageTypes(types)) return { index: "events_by_version", condition, parameters, isExact: false };
  // SQLite takes a partial index only when its condition stands in the query word for word.
  return {
    index: "events_of_lineage",
    condition: `${condition} AND ${table}.${lineageCondition}`,
    parameters,
    isExact: true,
  };
}
