import { isDeepStrictEqual } from "node:util";
import { algebraLaw } from "./algebra-law.ts";
import { shown } from "./law.ts";

/** Follows from `write-once`. */
export const firstValueStays = algebraLaw({
  name: "first-value-stays",
  statement: "a value that was set is never changed",
  claims: ["write-once"],
  broken({ event, before, after }, { definition }) {
    const isSet = !isDeepStrictEqual(before, definition.initial);
    if (!isSet || !after || isDeepStrictEqual(after.value, before)) return undefined;
    return `${event.type} turned ${shown(before)} into ${shown(after.value)}`;
  },
});
