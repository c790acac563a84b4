import { isDeepStrictEqual } from "node:util";
import { algebraLaw } from "./algebra-law.ts";
import { shown } from "./law.ts";

/** Why `after` is not `before` with new elements behind it; undefined: it is. */
export function growthProblem(before: readonly unknown[], after: readonly unknown[]): string | undefined {
  if (!isDeepStrictEqual(after.slice(0, before.length), [...before])) {
    return `${shown(before)} became ${shown(after)}: elements were lost or moved`;
  }
  const texts = after.map((element) => JSON.stringify(element));
  if (new Set(texts).size < texts.length) return `${shown(after)} holds an element twice`;
  return undefined;
}

/** Follows from `grow-only-set`. */
export const growsOnly = algebraLaw({
  name: "grows-only",
  statement: "elements come behind those that are there, never twice, and never go",
  claims: ["grow-only-set"],
  broken({ event, before, after }) {
    if (!after) return undefined;
    const list = before ?? [];
    if (!Array.isArray(list) || !Array.isArray(after.value)) {
      return `${event.type} gave ${shown(after.value)}, and a grow-only set is a list`;
    }
    const problem = growthProblem(list, after.value);
    return problem && `${event.type}: ${problem}`;
  },
});
