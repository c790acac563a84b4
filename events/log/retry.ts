import type { RecordedEvent } from "../envelope.ts";
import type { ExpectedVersion } from "./event-log.ts";

/** An append at `"any"` is known again when it is among so many last events of its stream. */
export const anyRetryWindow = 256;

/** What a retry must be able to ask of the stream. */
export interface RecordedStream {
  /** Events of versions `from` to `to`, both included. */
  read(from: number, to: number): readonly RecordedEvent[];
  /** Version of the event with this id, looked for from version `from` on. */
  find(id: string, from: number): number | undefined;
}

/**
 * The recorded events of an append that is being retried: the same ids at the versions after the expected one.
 * Undefined when this append was never recorded.
 */
export function earlierAppend(
  ids: readonly string[],
  expected: ExpectedVersion,
  actual: number,
  stream: RecordedStream,
): readonly RecordedEvent[] | undefined {
  const [first] = ids;
  if (first === undefined || actual === 0) return undefined;
  let after = expected === "no-stream" ? 0 : expected;
  if (after === "any") {
    const found = stream.find(first, Math.max(1, actual - anyRetryWindow + 1));
    if (found === undefined) return undefined;
    after = found - 1;
  }
  if (after + ids.length > actual) return undefined;
  const recorded = stream.read(after + 1, after + ids.length);
  return ids.every((id, index) => recorded[index]?.id === id) ? recorded : undefined;
}
