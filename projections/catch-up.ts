import type { RecordedEvent } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { TableWriter } from "./table-writer.ts";

export interface CatchUpOptions {
  readonly log: EventLog;
  readonly writer: TableWriter;
  readonly types: readonly string[] | undefined;
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
  const { log, writer, types, batchEvents, to, signal, onCommit } = options;
  let batch: RecordedEvent[] = [];
  const flush = async () => {
    if (batch.length === 0) return;
    const full = batch;
    batch = [];
    await writer.write(full);
    onCommit?.();
  };
  const after = writer.checkpoint;
  const pages = log.readAll({ ...(after !== undefined && { after }), ...(types && { types }) });
  for await (const page of pages) {
    if (signal?.aborted) return;
    for (const event of page) {
      if (to !== undefined && event.position > to) {
        await flush();
        return;
      }
      batch.push(event);
      if (batch.length >= batchEvents) await flush();
    }
  }
  if (!signal?.aborted) await flush();
}
