import { isDeepStrictEqual } from "node:util";
import { algebraLaw } from "./algebra-law.ts";
import { shown } from "./law.ts";

/** Follows from `fail-closed`: of two values none is picked. */
export const conflictRefused = algebraLaw({
  name: "conflict-refused",
  statement: "the same value again changes nothing, another value is refused",
  claims: ["fail-closed"],
  broken({ event, before, after, fresh }, { definition }) {
    const isSet = !isDeepStrictEqual(before, definition.initial);
    // What only makes sense after a first value, such as a rebinding, names that value itself.
    if (!isSet || !fresh || !after) return undefined;
    if (isDeepStrictEqual(after.value, before) && sameEntries(before, fresh.value)) return undefined;
    return `${event.type} offered ${shown(fresh.value)} against ${shown(before)} and was not refused: ${shown(after.value)}`;
  },
});

/** Equal but for members that are null or absent: an id of null is no id. */
function sameEntries(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(withoutNulls(left), withoutNulls(right));
}

function withoutNulls(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value ?? undefined;
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== null && member !== undefined),
  );
}
