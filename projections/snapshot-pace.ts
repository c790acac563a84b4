import type { FoldEvent } from "../events/envelope.ts";
import type { State } from "../reducers/thread-state.ts";
import { jsonSize } from "./json-size.ts";
import type { Segment } from "./lineage.ts";
import { type FieldsAt, type Snapshots, snapshotBytes } from "./snapshots.ts";
import type { StreamVersion } from "./state-cache.ts";

/**
 * Bytes of log for each byte of snapshots. Large fields are snapshotted seldom, small ones often. Readers of two reducers
 * that begin in different places still stay under a fifth of the log. Denser snapshots hardly make a read faster: what
 * they save in folding is less than what opening one costs.
 */
const snapshotPace = 32;

/** Every recorded event has at least this many bytes beside its data, in the most compact store: ids, hashes, times. */
const envelopeBytes = 120;
/** Events that were not read have at least this many bytes of data: better a snapshot too few than one too many. */
const unreadDataBytes = 60;

/** Where a fold is on its way from one snapshot to the next. */
export interface SnapshotPace {
  /** Notes events of a segment, and begins to store a snapshot of `current()` when enough log lies behind the last one. */
  advance(segment: Segment, events: readonly FoldEvent[], current: () => FieldsAt): void;
  /**
   * Notes that nothing more is to fold up to the end of a segment, and leaves a snapshot on the way there when that is
   * far. It stands at a round version, so that reads that end near each other leave the same.
   */
  finish(segment: Segment, current: () => FieldsAt): void;
}

/**
 * Decides when a fold leaves a snapshot behind.
 *
 * @param start.at where the fold begins; undefined: with the first event
 * @param start.size bytes of the snapshot before; it is taken as the size of the next until that is known
 */
export function createSnapshotPace(
  snapshots: Snapshots,
  start: { readonly at: StreamVersion | undefined; readonly size: number },
): SnapshotPace {
  let last = start.at;
  let logBytes = 0;
  let expectedSize = start.size;
  return {
    advance(segment, events, current) {
      const version = events.at(-1)?.version;
      if (version === undefined) return;
      const { stream, from } = segment;
      const before = last?.stream === stream && last.version >= from ? last.version : from - 1;
      last = { stream, version };
      const passed = version - before;
      logBytes += passed * envelopeBytes + (passed - events.length) * unreadDataBytes;
      for (const { data } of events) logBytes += jsonSize(data);
      if (logBytes < expectedSize * snapshotPace) return;
      const value = current();
      expectedSize = snapshotBytes(JSON.stringify(value.fields));
      if (logBytes < expectedSize * snapshotPace) return;
      snapshots.write(last, value);
      logBytes = 0;
    },
    finish({ stream, from, to }, current) {
      const first = last?.stream === stream && last.version >= from ? last.version + 1 : from;
      const roundVersion = () => {
        const missing = (expectedSize * snapshotPace - logBytes) / (envelopeBytes + unreadDataBytes);
        if (to - first + 1 < missing) return undefined;
        const distance =
          2 ** Math.ceil(Math.log2((expectedSize * snapshotPace) / (envelopeBytes + unreadDataBytes)));
        const version = to - (to % distance);
        return version >= first ? version : undefined;
      };
      if (roundVersion() === undefined) return;
      const value = current();
      expectedSize = snapshotBytes(JSON.stringify(value.fields));
      const version = roundVersion();
      if (version !== undefined) snapshots.write({ stream, version }, value);
    },
  };
}

/** Size that is expected of a thread's first snapshot. */
export const firstSnapshotBytes = snapshotBytes("");

/** A state without its messages. */
export function withoutMessages(state: State): State {
  const { messages: _, ...fields } = state;
  return fields;
}
