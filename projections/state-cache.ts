import type { Segment } from "./lineage.ts";

/** A version of a stream. */
export interface StreamVersion {
  readonly stream: string;
  readonly version: number;
}

/** The most recently used values of stream versions. */
export interface StateCache<Value> {
  /** The latest version on a lineage for which a value is here. */
  best(segments: readonly Segment[]): (StreamVersion & { readonly value: Value }) | undefined;
  set(at: StreamVersion, value: Value): void;
  forget(stream: string): void;
}

/** Events of a lineage, counted without reading. */
export function lengthOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/** Place of a version on a lineage: greater is later; -1: it is not on it. */
export function placeOnLineage(segments: readonly Segment[], at: StreamVersion): number {
  let before = 0;
  for (const { stream, from, to } of segments) {
    if (stream === at.stream && from <= at.version && at.version <= to) return before + at.version - from + 1;
    before += to - from + 1;
  }
  return -1;
}

/** What of a lineage comes after a version on it. */
export function segmentsAfter(segments: readonly Segment[], at: StreamVersion): Segment[] {
  const index = segments.findIndex(({ stream, from, to }) => {
    return stream === at.stream && from <= at.version && at.version <= to;
  });
  return segments.slice(Math.max(index, 0)).flatMap((segment, offset) => {
    if (index === -1 || offset > 0) return [segment];
    return at.version < segment.to ? [{ ...segment, from: at.version + 1 }] : [];
  });
}

/** What of a lineage comes before a version on it; all of it when the version is not on it. */
export function segmentsBefore(segments: readonly Segment[], at: StreamVersion): Segment[] {
  const index = segments.findIndex(({ stream, from, to }) => {
    return stream === at.stream && from <= at.version && at.version <= to;
  });
  if (index === -1) return [...segments];
  return segments.slice(0, index + 1).flatMap((segment, offset) => {
    if (offset < index) return [segment];
    return segment.from < at.version ? [{ ...segment, to: at.version - 1 }] : [];
  });
}

/** Keeps at most `size` values. */
export function createStateCache<Value>(size: number): StateCache<Value> {
  const entries = new Map<string, StreamVersion & { readonly value: Value }>();
  const keyOf = ({ stream, version }: StreamVersion) => `${stream}@${version}`;
  return {
    best(segments) {
      let found: (StreamVersion & { readonly value: Value }) | undefined;
      let latest = 0;
      for (const entry of entries.values()) {
        const place = placeOnLineage(segments, entry);
        if (place > latest) {
          latest = place;
          found = entry;
        }
      }
      return found;
    },
    set(at, value) {
      const key = keyOf(at);
      entries.delete(key);
      entries.set(key, { ...at, value });
      const [oldest] = entries.keys();
      if (entries.size > size && oldest !== undefined) entries.delete(oldest);
    },
    forget(stream) {
      for (const [key, entry] of entries) if (entry.stream === stream) entries.delete(key);
    },
  };
}
