import { compile, type JSONPathQuery, type JSONValue, jsonpath } from "json-p3";
import type { State } from "../reducers/thread-state.ts";
import { InvalidPathError } from "./invalid-path.ts";

/** A path into states. */
export interface StatePath {
  /** As a whole JSONPath, from `$`. */
  readonly text: string;
  /** Fields that the path can reach; undefined: any. */
  readonly fields: readonly string[] | undefined;
  /** What stands at the path, in order; empty when nothing does. */
  values(state: State): readonly unknown[];
}

/** Fields that the first step of a query names; undefined when it can lead anywhere. */
function fieldsOf(query: JSONPathQuery): string[] | undefined {
  const [first] = query.segments;
  if (!first || first.toString().startsWith("..")) return undefined;
  const names: string[] = [];
  for (const selector of first.selectors) {
    if (!(selector instanceof jsonpath.selectors.NameSelector)) return undefined;
    names.push(selector.name);
  }
  return names;
}

/**
 * Reads a JSONPath (RFC 9535). A path that does not begin with `$` begins at the fields: `title` is `$.title`.
 *
 * @throws {InvalidPathError}
 * @example
 * compilePath("todos[0].status").values(state); // ["completed"]
 */
export function compilePath(path: string): StatePath {
  const text = path.startsWith("$") ? path : path.startsWith("[") ? `$${path}` : `$.${path}`;
  try {
    const query = compile(text);
    return { text, fields: fieldsOf(query), values: (state) => query.query(state as JSONValue).values() };
  } catch (cause) {
    throw new InvalidPathError(path, cause);
  }
}
