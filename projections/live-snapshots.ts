import type { FoldEvent } from "../events/envelope.ts";
import type { State } from "../reducers/thread-state.ts";
import { beginsMessages } from "./fields-at.ts";
import {
  createSnapshotPace,
  firstSnapshotBytes,
  type SnapshotPace,
  withoutMessages,
} from "./snapshot-pace.ts";
import type { Snapshots } from "./snapshots.ts";
import type { StreamVersion } from "./state-cache.ts";

/** Leaves snapshots behind while threads grow. */
export interface LiveSnapshots {
  appended(stream: string, events: readonly FoldEvent[], state: State): void;
  forget(stream: string): void;
}

interface Growth {
  readonly pace: SnapshotPace;
  version: number;
  messagesFrom: StreamVersion | undefined;
}

const maxStreams = 10_000;

export function createLiveSnapshots(snapshots: Snapshots): LiveSnapshots {
  const growing = new Map<string, Growth>();

  const growthOf = (stream: string, before: number): Growth => {
    const known = growing.get(stream);
    growing.delete(stream);
    if (known?.version === before) return known;
    // Where the messages begin is not known here: from the beginning is always right.
    const start = { at: { stream, version: before }, size: firstSnapshotBytes };
    return {
      pace: createSnapshotPace(snapshots, start),
      version: before,
      messagesFrom: undefined,
    };
  };

  return {
    appended(stream, events, state) {
      const first = events[0];
      const last = events.at(-1);
      if (!first || !last) return;
      const growth = growthOf(stream, first.version - 1);
      growth.version = last.version;
      for (const event of events) {
        if (beginsMessages(event)) growth.messagesFrom = { stream, version: event.version };
        if (event.type === "ThreadRewound") growth.messagesFrom = undefined;
      }
      const segment = { stream, from: first.version, to: last.version };
      growth.pace.advance(segment, events, () => {
        return { fields: withoutMessages(state), messagesFrom: growth.messagesFrom };
      });
      growing.set(stream, growth);
      const [oldest] = growing.keys();
      if (growing.size > maxStreams && oldest !== undefined) growing.delete(oldest);
    },
    forget: (stream) => void growing.delete(stream),
  };
}
