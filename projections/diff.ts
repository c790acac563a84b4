import type { Delta } from "jsondiffpatch";
import { sameJson } from "../reducers/same-json.ts";
import type { State } from "../reducers/thread-state.ts";
import { diffValues } from "./value-delta.ts";

/** The difference of two states by field, in jsondiffpatch's form; undefined: none. */
export type StateDelta = { readonly [field: string]: Delta } | undefined;

/**
 * What changed from one state to another, by field. Messages and other items with an id or a path are compared by that,
 * wherever they stand; texts are given whole. jsondiffpatch's formatters show the result.
 *
 * @example
 * diffStates(await reader.stateAt("t", 3), await reader.stateAt("t", 9)); // { title: ["Draft", "Final"], … }
 */
export function diffStates(before: State, after: State): StateDelta {
  return diffValues(before, after) as StateDelta;
}

/**
 * Names of the fields that differ, sorted.
 *
 * @example
 * changedNames({ title: "a" }, { title: "b", goal: null }); // ["goal", "title"]
 */
export function changedNames(before: State, after: State): string[] {
  const own = (state: State, field: string) => (Object.hasOwn(state, field) ? state[field] : undefined);
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].filter((field) => !sameJson(own(before, field), own(after, field))).sort();
}
