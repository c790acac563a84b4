import type { EventLog } from "../events/log/event-log.ts";
import type { AnyProjection } from "./define-projection.ts";
import { projectedPages } from "./projected-events.ts";
import type { TableWriter } from "./table-writer.ts";

export interface CatchUpOptions {
  readonly log: EventLog;
  readonly writer: TableWriter;
  readonly projection: AnyProjection;
  /** Events of one transaction at most. */
  readonly batchEvents: number;
  /** Position of the last event to apply; the end of the log when left out. */
  readonly to?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after each commit. */
  readonly onCommit?: (() => void) | undefined;
}

/** Applies what the log holds after the writer's checkpoint, in bounded batches. */
export async function catchUp(options: CatchUpOptions): Promise<void> {
  const { log, writer, projection, batchEvents, to, signal, onCommit } = options;
  const commit = async () => {
    if (writer.pending === 0) return;
    await writer.commit();
    onCommit?.();
  };
  for await (const page of projectedPages(log, projection, writer.checkpoint)) {
    if (signal?.aborted) break;
    const last = page.at(-1);
    const ends = to !== undefined && last !== undefined && last.position > to;
    const wanted = ends ? page.filter(({ position }) => position <= to) : page;
    // Page by page, so that events are not held until the batch is full.
    for (let start = 0; start < wanted.length; ) {
      const room = batchEvents - writer.pending;
      await writer.apply(wanted.slice(start, start + room));
      start += room;
      if (writer.pending >= batchEvents) await commit();
    }
    if (ends) break;
  }
  if (!signal?.aborted) await commit();
}
