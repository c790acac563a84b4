import { isDeepStrictEqual } from "node:util";
import { algebraLaw } from "./algebra-law.ts";
import { shown } from "./law.ts";
import { bringsNothing } from "./no-ops.ts";

/** A map's entries by key; undefined for what is no map. */
export function entriesOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (value === undefined || value === null) return new Map();
  if (typeof value !== "object" || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value));
}

/** Follows from `keyed-merge`: an event says what its own keys hold now, and leaves the others alone. */
export const keyed = algebraLaw({
  name: "keyed",
  statement: "an event writes its own keys whole and leaves the other keys as they are",
  claims: ["keyed-merge"],
  broken({ event, before, after, fresh }) {
    if (!after || !fresh) return undefined;
    const [old, now, own] = [entriesOf(before), entriesOf(after.value), entriesOf(fresh.value)];
    if (!old || !now || !own) return `${event.type} gave ${shown(after.value)}, and a keyed merge is a map`;
    // Without keys of its own it may clear all, but nothing between all and none.
    if (own.size === 0 && now.size === 0 && !bringsNothing(event)) return undefined;
    const expected = new Map([...old, ...own]);
    if (isDeepStrictEqual(now, expected)) return undefined;
    return `${event.type} turned ${shown(before)} into ${shown(after.value)} in place of ${shown(Object.fromEntries(expected))}`;
  },
});
