import type { ArrayDelta, Delta, ObjectDelta } from "jsondiffpatch";
import { canonicalJson } from "../events/canonical-json.ts";
import { sameJson } from "../reducers/same-json.ts";
import { longestAscending } from "./longest-ascending.ts";

type Plain = { readonly [key: string]: unknown };

function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An id or a path makes two items the same item, whatever else they hold. */
function nameOf(item: unknown): string | undefined {
  if (!isPlain(item)) return undefined;
  if (typeof item.id === "string") return `id ${item.id}`;
  return typeof item.path === "string" ? `path ${item.path}` : undefined;
}

/** Names, or else contents; the second item of one identity gets a number, so that all are unlike. */
function identitiesOf(items: readonly unknown[]): string[] {
  const seen = new Map<string, number>();
  return items.map((item) => {
    const identity = nameOf(item) ?? canonicalJson(item);
    const count = seen.get(identity) ?? 0;
    seen.set(identity, count + 1);
    return count === 0 ? identity : `${identity} ${count}`;
  });
}

/** For each item after, the place of the same item before; -1: it is new. Items that changed their order count as new. */
function sourcesOf(before: readonly unknown[], after: readonly unknown[]): number[] {
  const places = new Map(identitiesOf(before).map((identity, place) => [identity, place]));
  const sources = identitiesOf(after).map((identity) => places.get(identity) ?? -1);
  const kept = longestAscending(sources);
  return withPairs(
    sources.map((source, place) => (kept.has(place) ? source : -1)),
    before,
    after,
  );
}

/** Between two kept items, nameless objects that went and came are taken as one that changed, in their order. */
function withPairs(
  sources: readonly number[],
  before: readonly unknown[],
  after: readonly unknown[],
): number[] {
  const stays = new Set(sources);
  const paired = [...sources];
  let next = 0;
  for (const [place, source] of sources.entries()) {
    if (source !== -1) {
      next = source + 1;
      continue;
    }
    const old = before[next];
    if (next >= before.length || stays.has(next) || !isPlain(old) || !isPlain(after[place])) continue;
    if (nameOf(old) !== undefined || nameOf(after[place]) !== undefined) continue;
    paired[place] = next;
    next += 1;
  }
  return paired;
}

/**
 * Compares two lists by the identity of their items. Takes time in proportion to the lists (times a logarithm), where a
 * general difference of lists of 10,000 messages would fill a table of 100 million cells.
 */
function diffArrays(before: readonly unknown[], after: readonly unknown[]): ArrayDelta {
  const delta: ArrayDelta = { _t: "a" };
  const sources = sourcesOf(before, after);
  const stays = new Set(sources);
  for (const [place, item] of before.entries()) if (!stays.has(place)) delta[`_${place}`] = [item, 0, 0];
  for (const [place, item] of after.entries()) {
    const source = sources[place] ?? -1;
    const change: Delta = source === -1 ? [item] : diffValues(before[source], item);
    if (change !== undefined) delta[place] = change;
  }
  return delta;
}

function has(object: Plain, key: string): boolean {
  return Object.hasOwn(object, key) && object[key] !== undefined;
}

function diffObjects(before: Plain, after: Plain): ObjectDelta {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changes = [...keys].flatMap((key): [string, Delta][] => {
    if (!has(after, key)) return has(before, key) ? [[key, [before[key], 0, 0]]] : [];
    if (!has(before, key)) return [[key, [after[key]]]];
    const delta = diffValues(before[key], after[key]);
    return delta === undefined ? [] : [[key, delta]];
  });
  // Entries, because a key may be called `__proto__`.
  return Object.fromEntries(changes);
}

/** The difference of two JSON values in jsondiffpatch's form; undefined: none. Only own keys count. */
export function diffValues(before: unknown, after: unknown): Delta {
  if (sameJson(before, after)) return undefined;
  if (Array.isArray(before) && Array.isArray(after)) return diffArrays(before, after);
  return isPlain(before) && isPlain(after) ? diffObjects(before, after) : [before, after];
}
