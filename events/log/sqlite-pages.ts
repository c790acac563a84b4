import { setImmediate as nextTurn } from "node:timers/promises";
import { areLineageTypes } from "./sqlite-type-filter.ts";

/** What is asked of one stream; both versions lie in the stream. */
export interface PagedRange {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  readonly backwards: boolean;
  readonly limit: number;
  readonly types: readonly string[] | undefined;
}

export const eventsPerPage = 256;
/** Versions that one query looks through at most when it searches for types without an index. */
const versionsPerScan = 5000;

/** Reads a range page by page, and lets other work of the process happen between two pages. */
export async function* readPages<Event extends { readonly version: number }>(
  range: PagedRange,
  readPage: (range: PagedRange) => readonly Event[],
): AsyncGenerator<readonly Event[], void> {
  const { from, to, backwards, types } = range;
  const scan = areLineageTypes(types) ? Number.POSITIVE_INFINITY : versionsPerScan;
  let left = range.limit;
  let [low, high] = [from, to];
  while (left > 0 && low <= high) {
    const limit = Math.min(left, eventsPerPage);
    // Without a filter a page is a whole range: nothing has to be skipped to find its end.
    const span = types ? scan : limit;
    const window = backwards
      ? { from: Math.max(low, high - span + 1), to: high }
      : { from: low, to: Math.min(high, low + span - 1) };
    const page = readPage({ ...range, ...window, limit });
    const last = page.length === limit ? page.at(-1)?.version : undefined;
    if (backwards) high = (last ?? window.from) - 1;
    else low = (last ?? window.to) + 1;
    left -= page.length;
    if (page.length > 0) yield page;
    if (left > 0 && low <= high) await nextTurn();
  }
}
