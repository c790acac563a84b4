import type { RecordedEvent } from "../envelope.ts";
import type { ExpectedVersion, StreamHead } from "./event-log.ts";
import type { PostgresReader } from "./postgres-reader.ts";
import { anyRetryWindow, earlierAppend } from "./retry.ts";

/** The recorded events of an append that is being retried; undefined when it was never recorded. */
export async function findEarlier(
  reader: PostgresReader,
  stream: string,
  ids: readonly string[],
  expected: ExpectedVersion,
  head: StreamHead,
): Promise<readonly RecordedEvent[] | undefined> {
  const [first] = ids;
  if (first === undefined || head.version === 0) return undefined;
  let after = expected === "no-stream" ? 0 : expected;
  let found: number | undefined;
  if (after === "any") {
    found = await reader.find(stream, first, Math.max(1, head.version - anyRetryWindow + 1));
    if (found === undefined) return undefined;
    after = found - 1;
  }
  if (after + ids.length > head.version) return undefined;
  const events: RecordedEvent[] = [];
  for await (const page of reader.read(stream, { from: after + 1, to: after + ids.length })) {
    events.push(...page);
    // Another append: its other pages need not be read.
    if (page[0]?.version === after + 1 && page[0].id !== first) return undefined;
  }
  return earlierAppend(ids, expected, head.version, { read: () => events, find: () => found });
}
