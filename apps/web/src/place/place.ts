import { useSyncExternalStore } from "react";

/** What the address of the page may say. Every view keeps its place here, so that a link shows what its sender saw. */
export const placeKeys = [
  /** A screen without a thread: `projections` and the like. */
  "screen",
  "thread",
  /** Version that everything shows; absent: the head, followed as it moves. */
  "at",
  /** What stands in the middle: `timeline`, `chat` … */
  "pane",
  /** Tab of the inspector. */
  "tab",
  /** Filters of the timeline: types and emitters separated by commas, one run, a text. */
  "type",
  "by",
  "run",
  "text",
  /** Search in the list of threads. */
  "search",
  /** Version to compare with, of this thread or as `<thread>@<version>`. */
  "pin",
  /** Another thread, shown beside this one. */
  "with",
] as const;
type PlaceKey = (typeof placeKeys)[number];
export type Place = Readonly<Partial<Record<PlaceKey, string>>>;

/** The place that a query names. Keys that the page does not know are left out. */
export function readPlace(query: string): Place {
  const params = new URLSearchParams(query);
  const place: Partial<Record<PlaceKey, string>> = {};
  for (const key of placeKeys) {
    const value = params.get(key);
    if (value !== null && value !== "") place[key] = value.slice(0, 1_000);
  }
  return place;
}

/** `?thread=…&at=…`, or an empty text for the start. */
export function formatPlace(place: Place): string {
  const params = new URLSearchParams();
  for (const key of placeKeys) {
    const value = place[key];
    if (value !== undefined && value !== "") params.set(key, value);
  }
  const query = params.toString();
  return query === "" ? "" : `?${query}`;
}

/** The version that a place names; undefined: the head. */
export function versionOf(place: Place): number | undefined {
  return place.at !== undefined && /^\d{1,12}$/.test(place.at) ? Number(place.at) : undefined;
}

/** Keys that belong to one thread: they are dropped when another one is opened. */
const ofOneThread: readonly PlaceKey[] = ["at", "run", "pin", "with", "type", "by", "text"];

let current = readPlace(typeof window === "undefined" ? "" : window.location.search);
const listeners = new Set<() => void>();

function show(place: Place): void {
  current = place;
  for (const listener of listeners) listener();
}

/** Where the page is now. */
function placeNow(): Place {
  return current;
}

export type PlaceChange = Readonly<Partial<Record<PlaceKey, string | undefined>>>;

/** The place after a change; `undefined` takes a key away. Another thread begins without the old one's filters. */
export function changedPlace(place: Place, change: PlaceChange): Place {
  const next: Partial<Record<PlaceKey, string>> = { ...place };
  if (change.thread !== undefined && change.thread !== place.thread) {
    for (const key of ofOneThread) delete next[key];
    delete next.screen;
  }
  for (const key of placeKeys) {
    if (!Object.hasOwn(change, key)) continue;
    const value = change[key];
    if (value === undefined || value === "") delete next[key];
    else next[key] = value;
  }
  return next;
}

/** The address of a change, for links. */
export function hrefOf(change: PlaceChange): string {
  const query = formatPlace(changedPlace(current, change));
  return query === "" ? window.location.pathname : query;
}

/**
 * Goes to another place.
 *
 * @param options.replace the back button skips the place that is left: for what moves step by step
 */
export function go(change: PlaceChange, options: { readonly replace?: boolean } = {}): void {
  const next = changedPlace(current, change);
  const query = formatPlace(next);
  if (query === formatPlace(current)) return;
  const url = query === "" ? window.location.pathname : query;
  if (options.replace) replaceSoon(url);
  else {
    replaceSoon.cancel();
    window.history.pushState(null, "", url);
  }
  show(next);
}

/** Browsers refuse addresses that change too often (Chrome: 200 in 10 s), so the last of a burst is written. */
const replaceSoon = (() => {
  let timer: number | undefined;
  const write = (url: string) => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => window.history.replaceState(null, "", url), 80);
  };
  write.cancel = () => window.clearTimeout(timer);
  return write;
})();

if (typeof window !== "undefined") {
  window.addEventListener("popstate", () => show(readPlace(window.location.search)));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Where the page is, kept up to date. */
export function usePlace(): Place {
  return useSyncExternalStore(subscribe, placeNow);
}
