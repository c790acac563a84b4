import type { FoldEvent } from "../events/envelope.ts";
import type { FoldPages } from "./fold-pages.ts";
import { jsonSize } from "./json-size.ts";
import type { Segment } from "./lineage.ts";
import { segmentsAfter } from "./state-cache.ts";

/** Events of one segment, oldest first. */
interface Run {
  readonly segment: Segment;
  readonly events: readonly FoldEvent[];
}

interface Kept {
  readonly runs: readonly Run[];
  readonly bytes: number;
}

/**
 * The events that bear messages, parsed once and kept for threads that are looked at again. The states of all versions
 * share them, where snapshots would each hold a copy.
 */
export interface MessageEvents {
  /** Events of a lineage, in order. */
  read(segments: readonly Segment[]): Promise<readonly FoldEvent[]>;
  forget(stream: string): void;
}

/** Index of the first event with at least this version. */
function indexOf(events: readonly FoldEvent[], version: number): number {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((events[middle]?.version ?? 0) < version) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What of a lineage is there already, from its beginning on. */
function covered(kept: Kept | undefined, segments: readonly Segment[]): Run[] {
  const [first] = segments;
  const start = kept?.runs.findIndex(({ segment }) => {
    return first && segment.stream === first.stream && segment.from <= first.from && first.from <= segment.to;
  });
  if (!kept || start === undefined || start === -1) return [];
  const runs: Run[] = [];
  for (const [offset, wanted] of segments.entries()) {
    const run = kept.runs[start + offset];
    if (!run || run.segment.stream !== wanted.stream || (offset > 0 && run.segment.from !== wanted.from))
      break;
    const to = Math.min(run.segment.to, wanted.to);
    const events = run.events.slice(indexOf(run.events, wanted.from), indexOf(run.events, to + 1));
    runs.push({ segment: { ...wanted, to }, events });
    if (run.segment.to !== wanted.to) break;
  }
  return runs;
}

/** Runs that follow on each other become one. */
function joined(runs: readonly Run[]): Run[] {
  const result: Run[] = [];
  for (const run of runs) {
    const last = result.at(-1);
    const follows = last?.segment.stream === run.segment.stream && last.segment.to + 1 === run.segment.from;
    if (last && follows) {
      const segment = { ...last.segment, to: run.segment.to };
      result[result.length - 1] = { segment, events: last.events.concat(run.events) };
    } else result.push(run);
  }
  return result;
}

/**
 * @param types event types that bear messages
 * @param maxBytes about the bytes of JSON that are kept, of all threads together; 0: nothing is kept
 */
export function createMessageEvents(
  pages: FoldPages,
  types: readonly string[],
  maxBytes: number,
): MessageEvents {
  const threads = new Map<string, Kept>();

  const keep = (stream: string, kept: Kept) => {
    threads.delete(stream);
    if (kept.bytes > maxBytes) return;
    threads.set(stream, kept);
    let bytes = 0;
    for (const { bytes: size } of threads.values()) bytes += size;
    for (const [oldest, { bytes: size }] of threads) {
      if (bytes <= maxBytes) break;
      threads.delete(oldest);
      bytes -= size;
    }
  };

  return {
    async read(segments) {
      const stream = segments.at(-1)?.stream;
      if (stream === undefined) return [];
      const known = threads.get(stream);
      const have = covered(known, segments);
      const end = have.at(-1)?.segment;
      const rest = end ? segmentsAfter(segments, { stream: end.stream, version: end.to }) : segments;
      const fresh: Run[] = [];
      for (const segment of rest) {
        const events: FoldEvent[] = [];
        for await (const page of pages([segment], types)) for (const event of page.events) events.push(event);
        fresh.push({ segment, events });
      }
      const runs = joined([...have, ...fresh]);
      if (known && fresh.length === 0) keep(stream, known);
      else if (maxBytes > 0) keep(stream, { runs, bytes: bytesOf(have, known) + bytesOf(fresh) });
      return runs.length === 1 ? (runs[0]?.events ?? []) : runs.flatMap(({ events }) => events);
    },
    forget: (stream) => void threads.delete(stream),
  };
}

/** Bytes of runs; those that were `known` are taken by their share of it, not measured again. */
function bytesOf(runs: readonly Run[], known?: Kept): number {
  const count = (of: readonly Run[]) => of.reduce((sum, { events }) => sum + events.length, 0);
  if (known) return (known.bytes * count(runs)) / Math.max(1, count(known.runs));
  return runs.reduce((sum, { events }) => sum + jsonSize(events.map(({ data }) => data)), 0);
}
