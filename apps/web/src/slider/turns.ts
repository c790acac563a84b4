import type { IndexedEvent } from "../thread-view/indexed-events.ts";

/** Versions at which turns begin, oldest first: each run is one. */
export function turnStarts(events: readonly IndexedEvent[]): readonly number[] {
  return events.filter(({ type }) => type === "RunStarted").map(({ version }) => version);
}

/** The turn after a version, or the one before it; the head, or the beginning, when there is none. */
export function neighbouringTurn(
  turns: readonly number[],
  version: number,
  direction: 1 | -1,
  head: number,
): number {
  if (direction === 1) return turns.find((turn) => turn > version) ?? head;
  return turns.findLast((turn) => turn < version) ?? 0;
}
