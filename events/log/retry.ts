import type { RecordedEvent } from "../envelope.ts";
import type { ExpectedVersion } from "./event-log.ts";

/** An append at `"any"` is known again when it is among so many last events of its stream. */
export const anyRetryWindow = 256;

function sameIds(ids: readonly string[], events: readonly RecordedEvent[], offset: number): boolean {
  return ids.every((id, index) => events[offset + index]?.id === id);
}

/**
 * The recorded events of an append that is being retried: the same ids at the versions after the expected one.
 * Undefined when this append was never recorded.
 *
 * @param read the stream's events of versions `from` to `to`, both included
 */
export function earlierAppend(
  ids: readonly string[],
  expected: ExpectedVersion,
  actual: number,
  read: (from: number, to: number) => readonly RecordedEvent[],
): readonly RecordedEvent[] | undefined {
  if (ids.length === 0 || actual === 0) return undefined;
  if (expected === "any") {
    const recent = read(Math.max(1, actual - anyRetryWindow + 1), actual);
    const offset = recent.findIndex((event) => event.id === ids[0]);
    return offset >= 0 && sameIds(ids, recent, offset)
      ? recent.slice(offset, offset + ids.length)
      : undefined;
  }
  const after = expected === "no-stream" ? 0 : expected;
  if (after + ids.length > actual) return undefined;
  const recorded = read(after + 1, after + ids.length);
  return sameIds(ids, recorded, 0) ? recorded : undefined;
}
