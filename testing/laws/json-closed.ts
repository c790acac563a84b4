import { isDeepStrictEqual } from "node:util";
import { type Law, LawBreach, shown } from "./law.ts";
import { foldDrafts } from "./law-subject.ts";

/**
 * Path and reason of the first thing in a value that JSON does not keep; undefined: all is JSON.
 *
 * @param absent members that are undefined count as not there
 */
export function notJson(value: unknown, path = "state", absent = false): string | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") {
    return Number.isFinite(value) && !Object.is(value, -0)
      ? undefined
      : `${path} is ${Object.is(value, -0) ? "-0" : value}`;
  }
  if (typeof value !== "object")
    return `${path} is ${value === undefined ? "undefined" : `a ${typeof value}`}`;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const inside = notJson(value[at], `${path}[${at}]`, absent);
      if (inside) return inside;
    }
    return undefined;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return `${path} is a ${value.constructor?.name}`;
  for (const [key, member] of Object.entries(value)) {
    if (absent && member === undefined) continue;
    const inside = notJson(member, `${path}.${key}`, absent);
    if (inside) return inside;
  }
  return undefined;
}

/** A state is JSON: it survives being written down and read again. */
export const jsonClosed: Law = {
  name: "json-closed",
  statement: "every state is plain JSON and comes back from a round trip as it was",
  appliesTo: () => true,
  check(subject, drafts) {
    const { events, states } = foldDrafts(subject, drafts);
    for (const [version, state] of states.entries()) {
      const reason = notJson(state);
      if (reason) {
        throw new LawBreach(
          `${reason} after version ${version}. Keep lists and plain objects.`,
          events.slice(0, version),
        );
      }
      const copy: unknown = JSON.parse(JSON.stringify(state));
      if (isDeepStrictEqual(copy, { ...state })) continue;
      throw new LawBreach(`the state ${shown(state)} comes back as ${shown(copy)}`, events.slice(0, version));
    }
  },
};
