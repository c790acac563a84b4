import type { Place } from "../place/place.ts";
import type { IndexedEvent } from "../thread-view/indexed-events.ts";

/** Which events a timeline shows; what is left out does not choose. */
export interface TimelineFilter {
  readonly types: readonly string[];
  /** Emitters: a whole one like `tool:bash`, or a kind like `tool`. */
  readonly by: readonly string[];
  readonly run: string | undefined;
  readonly text: string | undefined;
}

const list = (text: string | undefined) =>
  text === undefined ? [] : text.split(",").filter((one) => one !== "");

/** The filter that an address names. */
export function filterOf(place: Place): TimelineFilter {
  return { types: list(place.type), by: list(place.by), run: place.run, text: place.text };
}

export function isFiltering({ types, by, run, text }: TimelineFilter): boolean {
  return types.length > 0 || by.length > 0 || run !== undefined || text !== undefined;
}

/**
 * Events that fit.
 *
 * @param found versions that hold the text; undefined while they are searched
 */
export function filterEvents(
  events: readonly IndexedEvent[],
  filter: TimelineFilter,
  found: ReadonlySet<number> | undefined,
): readonly IndexedEvent[] {
  if (!isFiltering(filter)) return events;
  const types = new Set(filter.types);
  const kinds = new Set(filter.by);
  return events.filter((event) => {
    if (types.size > 0 && !types.has(event.type)) return false;
    if (kinds.size > 0 && !kinds.has(event.by) && !kinds.has(event.by.split(":", 1)[0] ?? "")) return false;
    if (filter.run !== undefined && event.run !== filter.run) return false;
    return filter.text === undefined || found?.has(event.version) === true;
  });
}
