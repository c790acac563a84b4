import type { Delta } from "jsondiffpatch";
import { type Outline, outlineOf } from "./json-outline.ts";
import { diffValues } from "./value-delta.ts";

/** One side of a change: where the value stands (JSON Pointer), and what it is. */
export interface ChangedValue {
  readonly pointer: string;
  readonly outline: Outline;
}

/** Two texts without the long parts that they have in common. */
export interface ChangedText {
  readonly before: string;
  readonly after: string;
  /** Characters that both have in common before and after these, and that are left out. */
  readonly skippedBefore: number;
  readonly skippedAfter: number;
}

/** What changed at one place of a value. Long values are named, not copied. */
export interface ListedChange {
  readonly kind: "added" | "removed" | "replaced" | "inside";
  /** Field, key or place in a list (after the change; of what was removed, before it). */
  readonly key: string;
  /** What tells items of a list apart. */
  readonly item?: { readonly id?: string; readonly type?: string; readonly name?: string };
  readonly before?: ChangedValue;
  readonly after?: ChangedValue;
  /** For texts that are not too different to be shown: both, where they differ. */
  readonly text?: ChangedText;
  /** What changed inside. */
  readonly changes?: readonly ListedChange[];
  /** Changes inside that are not listed. */
  readonly leftOut?: number;
}

/** Characters of a text that are compared word by word. */
const maxTextLength = 30_000;
/** Common characters that are kept around a difference. */
const textContext = 160;

type Plain = { readonly [key: string]: unknown };
type Budget = { left: number };

const escaped = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");
const valueAt = (pointer: string, value: unknown): ChangedValue => ({ pointer, outline: outlineOf(value) });

function itemOf(value: unknown): ListedChange["item"] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { id, path, type, name } = value as Plain;
  const own = typeof id === "string" ? id : path;
  return {
    ...(typeof own === "string" && { id: own }),
    ...(typeof type === "string" && { type }),
    ...(typeof name === "string" && { name }),
  };
}

/** The differing middle of two texts with some of what surrounds it; undefined: that is too long. */
export function changedText(before: string, after: string): ChangedText | undefined {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let end = 0;
  while (
    end < shorter - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  )
    end++;
  const skippedBefore = Math.max(0, start - textContext);
  const skippedAfter = Math.max(0, end - textContext);
  const middle = (text: string) => text.slice(skippedBefore, text.length - skippedAfter);
  const changed = { before: middle(before), after: middle(after), skippedBefore, skippedAfter };
  return Math.max(changed.before.length, changed.after.length) > maxTextLength ? undefined : changed;
}

interface Place {
  readonly key: string;
  readonly delta: Delta;
  readonly before: { readonly pointer: string; readonly value: unknown } | undefined;
  readonly after: { readonly pointer: string; readonly value: unknown } | undefined;
}

function placesInObject(delta: Plain, before: Plain, after: Plain, from: string, to: string): Place[] {
  return Object.entries(delta).map(([key, change]) => ({
    key,
    delta: change as Delta,
    before: Object.hasOwn(before, key)
      ? { pointer: `${from}/${escaped(key)}`, value: before[key] }
      : undefined,
    after: Object.hasOwn(after, key) ? { pointer: `${to}/${escaped(key)}`, value: after[key] } : undefined,
  }));
}

/** Changes of a list in the order in which one reads it: what went stands where it was. */
function placesInList(
  delta: Plain,
  before: readonly unknown[],
  after: readonly unknown[],
  from: string,
  to: string,
): Place[] {
  const places: Place[] = [];
  let old = 0;
  for (let place = 0; place <= after.length; place++) {
    for (; Object.hasOwn(delta, `_${old}`); old++) {
      const gone = { pointer: `${from}/${old}`, value: before[old] };
      places.push({ key: String(old), delta: delta[`_${old}`] as Delta, before: gone, after: undefined });
    }
    if (place === after.length) break;
    const change = Object.hasOwn(delta, String(place)) ? (delta[String(place)] as Delta) : undefined;
    const isNew = Array.isArray(change) && change.length === 1;
    if (change !== undefined) {
      places.push({
        key: String(place),
        delta: change,
        before: isNew ? undefined : { pointer: `${from}/${old}`, value: before[old] },
        after: { pointer: `${to}/${place}`, value: after[place] },
      });
    }
    if (!isNew) old++;
  }
  return places;
}

function placesOf(delta: Delta, before: unknown, after: unknown, from: string, to: string): Place[] {
  if (typeof delta !== "object" || delta === null) return [];
  return Array.isArray(before)
    ? placesInList(delta as Plain, before, after as readonly unknown[], from, to)
    : placesInObject(delta as Plain, before as Plain, after as Plain, from, to);
}

function listed({ key, delta, before, after }: Place, budget: Budget): ListedChange {
  budget.left -= 1;
  const item = itemOf((after ?? before)?.value);
  const about = { key, ...(item && Object.keys(item).length > 0 && { item }) };
  if (!before)
    return { kind: "added", ...about, ...(after && { after: valueAt(after.pointer, after.value) }) };
  if (!after) return { kind: "removed", ...about, before: valueAt(before.pointer, before.value) };
  if (Array.isArray(delta)) {
    const isText = typeof before.value === "string" && typeof after.value === "string";
    const text = isText ? changedText(before.value as string, after.value as string) : undefined;
    return {
      kind: "replaced",
      ...about,
      before: valueAt(before.pointer, before.value),
      after: valueAt(after.pointer, after.value),
      ...(text && { text }),
    };
  }
  const inside = placesOf(delta, before.value, after.value, before.pointer, after.pointer);
  return { kind: "inside", ...about, ...listedAll(inside, budget) };
}

function listedAll(places: readonly Place[], budget: Budget) {
  const changes: ListedChange[] = [];
  for (const place of places) {
    if (budget.left <= 0) break;
    changes.push(listed(place, budget));
  }
  const leftOut = places.length - changes.length;
  return { changes, ...(leftOut > 0 && { leftOut }) };
}

/**
 * What changed from one value to another, to be shown: items are compared by id, texts are given where they differ, long
 * values are named by their JSON Pointer.
 *
 * @param options.limit most changes that are listed
 * @example
 * outlineChanges({ title: "Tea" }, { title: "Tea shop" }, { limit: 200 }).changes[0]?.text?.after; // "Tea shop"
 */
export function outlineChanges(
  before: { readonly [field: string]: unknown },
  after: { readonly [field: string]: unknown },
  options: { readonly limit: number },
): { readonly changes: readonly ListedChange[]; readonly leftOut?: number } {
  const places = placesOf(diffValues(before, after), before, after, "", "");
  return listedAll(places, { left: options.limit });
}
