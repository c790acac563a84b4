import { isDeepStrictEqual } from "node:util";
import { algebraLaw } from "./algebra-law.ts";
import { shown } from "./law.ts";

/** Follows from `replace` and `last-write`: what was there before leaves no trace. */
export const lastValueWins = algebraLaw({
  name: "last-value-wins",
  statement: "the last write replaces the value whole, whatever was there",
  claims: ["replace", "last-write"],
  broken({ event, before, after, fresh }) {
    if (!after || !fresh || isDeepStrictEqual(after.value, fresh.value)) return undefined;
    return `${event.type} onto ${shown(before)} gives ${shown(after.value)}, alone it gives ${shown(fresh.value)}`;
  },
});
