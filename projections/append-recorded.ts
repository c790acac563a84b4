import type { NewEvent } from "../events/envelope.ts";
import type { SealedEvent } from "../events/hash-chain.ts";
import type { EventLog } from "../events/log/event-log.ts";

/** Bytes of JSON in one append, at most; well below what a store takes. */
const maxBatchBytes = 500_000;
const maxBatchEvents = 500;

/** Appends consecutive events of a stream as they were recorded elsewhere, in batches that every store takes. */
export async function appendRecorded(
  log: EventLog,
  stream: string,
  events: readonly SealedEvent[],
): Promise<void> {
  let batch: NewEvent[] = [];
  let bytes = 0;
  let version = (events[0]?.version ?? 1) - 1;
  const flush = async () => {
    if (batch.length === 0) return;
    await log.append(stream, batch, { expectedVersion: version });
    version += batch.length;
    batch = [];
    bytes = 0;
  };
  for (const { id, type, data, recordedAt, metadata } of events) {
    const { hash: _hash, previousHash: _previousHash, ...rest } = metadata;
    const size = Buffer.byteLength(JSON.stringify(data));
    if (bytes + size > maxBatchBytes || batch.length >= maxBatchEvents) await flush();
    batch.push({ id, type, data, recordedAt, metadata: rest });
    bytes += size;
  }
  await flush();
}
