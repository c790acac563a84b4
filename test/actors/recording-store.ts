import type { NewEvent } from "../../events/envelope.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";

/** A store that remembers each batch that was appended to it, and may fail appends. */
export interface RecordingStore extends Store {
  /** Types of the events of each batch, in order of the appends. */
  readonly batches: string[][];
  /** Called before each append; what it throws, the append rejects with. */
  beforeAppend: ((events: readonly NewEvent[], stream: string) => Promise<void> | void) | undefined;
}

/** Wraps a store, by default a new one in memory. */
export async function recordingStore(inner?: Store): Promise<RecordingStore> {
  const store = inner ?? (await openStore("memory:"));
  const batches: string[][] = [];
  const log: EventLog = {
    ...store.log,
    async append(stream, events, options) {
      await recording.beforeAppend?.(events, stream);
      const result = await store.log.append(stream, events, options);
      batches.push(events.map(({ type }) => type));
      return result;
    },
  };
  const recording: RecordingStore = { ...store, log, batches, beforeAppend: undefined };
  return recording;
}

/** The batches as lines, for comparing. */
export function batchLines(store: RecordingStore): string[] {
  return store.batches.map((batch) => batch.join(" "));
}
