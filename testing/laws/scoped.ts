import { isDeepStrictEqual } from "node:util";
import { algebraLaw } from "./algebra-law.ts";
import { growthProblem } from "./grows-only.ts";
import { shown } from "./law.ts";

/** What stands beside the lists of a scoped set names its scope. */
function scopeOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => !Array.isArray(member)));
}

function elementsOf(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).filter(Array.isArray).flat();
}

/** Follows from `scoped-set`. */
export const scoped = algebraLaw({
  name: "scoped",
  statement: "elements are added inside one scope; another scope starts anew with what it brings",
  claims: ["scoped-set"],
  broken({ event, before, after, fresh }, { definition }) {
    if (!after || !fresh) return undefined;
    const sameScope = isDeepStrictEqual(scopeOf(before), scopeOf(fresh.value));
    if (sameScope && !isDeepStrictEqual(before, definition.initial)) {
      const problem = growthProblem(elementsOf(before), elementsOf(after.value));
      return problem && `${event.type}: ${problem}`;
    }
    if (isDeepStrictEqual(after.value, fresh.value)) return undefined;
    return `${event.type} with another scope turned ${shown(before)} into ${shown(after.value)} in place of ${shown(fresh.value)}`;
  },
});
