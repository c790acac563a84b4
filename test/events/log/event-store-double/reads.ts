import type { ReadReq } from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb";
import { textOf } from "./messages.ts";
import type { Storage, StoredRecord } from "./storage.ts";

export type Selection =
  | { readonly kind: "records"; readonly records: readonly StoredRecord[] }
  | { readonly kind: "not-found"; readonly stream: string }
  | { readonly kind: "deleted"; readonly stream: string };

/** Which records a server-side filter lets through. */
function filterOf(options: ReadReq.Options): (record: StoredRecord) => boolean {
  const filter = options.getFilter();
  if (!filter) return () => true;
  const byType = filter.getEventType();
  const expression = byType ?? filter.getStreamIdentifier();
  const regex = expression?.getRegex() ? new RegExp(expression.getRegex()) : undefined;
  const prefixes = expression?.getPrefixList() ?? [];
  return (record) => {
    const text = byType ? record.type : record.stream;
    return regex ? regex.test(text) : prefixes.some((prefix) => text.startsWith(prefix));
  };
}

/** First index whose position is not below `position`. */
function indexOf(all: readonly StoredRecord[], position: number): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((all[middle]?.position ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

function take(
  records: readonly StoredRecord[],
  start: number,
  isBackwards: boolean,
  count: number,
  isWanted: (record: StoredRecord) => boolean,
): StoredRecord[] {
  const taken: StoredRecord[] = [];
  const step = isBackwards ? -1 : 1;
  for (let at = start; at >= 0 && at < records.length && taken.length < count; at += step) {
    const record = records[at];
    if (record && isWanted(record)) taken.push(record);
  }
  return taken;
}

/** What a read of a counted number of events gives. Backwards from a position excludes it, forwards includes it. */
export function select(storage: Storage, options: ReadReq.Options): Selection {
  const isBackwards = options.getReadDirection() === 1;
  const count = Number(options.getCount());
  const streamOptions = options.getStream();
  if (!streamOptions) {
    const from = options.getAll();
    const position = Number(from?.getPosition()?.getCommitPosition() ?? 0);
    const all = storage.all;
    let start = from?.hasEnd() ? all.length : from?.hasPosition() ? indexOf(all, position) : 0;
    if (isBackwards) start -= 1;
    return { kind: "records", records: take(all, start, isBackwards, count, filterOf(options)) };
  }
  const stream = textOf(streamOptions.getStreamIdentifier()?.getStreamName() ?? "");
  if (storage.isTombstoned(stream)) return { kind: "deleted", stream };
  const records = storage.stream(stream);
  const first = records?.[0];
  if (!records || !first) return { kind: "not-found", stream };
  const revision = Number(streamOptions.getRevision());
  let start = streamOptions.hasRevision() ? revision - first.revision : 0;
  if (streamOptions.hasEnd()) start = records.length - 1;
  start = isBackwards ? Math.min(start, records.length - 1) : Math.max(start, 0);
  return { kind: "records", records: take(records, start, isBackwards, count, () => true) };
}

/** Index in $all of the first record that a subscription gives: the one after its start, which is exclusive. */
export function subscriptionStart(storage: Storage, options: ReadReq.Options): number {
  const all = storage.all;
  const from = options.getAll() ?? options.getStream();
  if (from?.hasEnd()) return all.length;
  const position = options.getAll()?.getPosition();
  return position ? indexOf(all, Number(position.getCommitPosition()) + 1) : 0;
}

export function subscriptionFilter(options: ReadReq.Options): (record: StoredRecord) => boolean {
  const streamOptions = options.getStream();
  if (!streamOptions) return filterOf(options);
  const stream = textOf(streamOptions.getStreamIdentifier()?.getStreamName() ?? "");
  const after = streamOptions.hasRevision() ? Number(streamOptions.getRevision()) : -1;
  return (record) => record.stream === stream && record.revision > after;
}
