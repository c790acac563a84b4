import { canonicalJson } from "../canonical-json.ts";
import type { NewEvent } from "../envelope.ts";
import { storableJson } from "../storable-json.ts";
import {
  checkStreamName,
  EventTooLargeError,
  eventOverheadBytes,
  maxAppendBytes,
  maxEventBytes,
} from "./event-log.ts";
import { checkText } from "./storable-text.ts";

/** An event that every store can hold, with the JSON text of its data. */
export interface PreparedEvent {
  readonly event: NewEvent;
  readonly dataText: string;
}

/** UTF-8 takes three bytes at most for each UTF-16 unit. */
const bytesPerUnit = 3;
/** Keys, quotes, ids, time and numbers of the event around its data, for the estimate. */
const envelopeBytes = 1024;

/** At least the bytes that `exactBytes` gives, without encoding anything. */
function estimateBytes({ event, dataText }: PreparedEvent): number {
  const { id, type, metadata } = event;
  const { by, causationId, correlationId, runId = "", traceparent = "" } = metadata;
  const units =
    id.length + type.length + by.length + causationId.length + correlationId.length + runId.length;
  return envelopeBytes + bytesPerUnit * (units + traceparent.length + dataText.length);
}

function checkEnvelope({ id, type, metadata }: NewEvent): void {
  const { by, causationId, correlationId, runId, traceparent } = metadata;
  checkText("The event id", id);
  checkText("The event type", type);
  checkText("The emitter", by);
  checkText("The causation id", causationId);
  checkText("The correlation id", correlationId);
  if (runId !== undefined) checkText("The run id", runId);
  if (traceparent !== undefined) checkText("The trace context", traceparent);
}

/** Bytes of the event as canonical JSON, as it is handed to the store. */
function exactBytes(event: NewEvent): number {
  const { id, type, data, recordedAt, metadata } = event;
  return Buffer.byteLength(canonicalJson({ id, type, data, recordedAt, metadata }));
}

/**
 * Checks a batch before it is appended and brings its data into the form that all stores keep, so that each store
 * refuses and accepts the same.
 *
 * @throws {InvalidNameError} @throws {InvalidTextError} @throws {EventTooLargeError} @throws {NotJsonError}
 */
export function prepareAppend(stream: string, events: readonly NewEvent[]): readonly PreparedEvent[] {
  checkStreamName(stream);
  let estimated = 0;
  let largest = 0;
  const prepared = events.map((event) => {
    checkEnvelope(event);
    const data = storableJson(event.data);
    const one = { event: data === event.data ? event : { ...event, data }, dataText: JSON.stringify(data) };
    const bytes = estimateBytes(one);
    estimated += bytes;
    largest = Math.max(largest, bytes);
    return one;
  });
  if (largest > maxEventBytes || estimated > maxAppendBytes) checkSizes(stream, prepared);
  return prepared;
}

function checkSizes(stream: string, prepared: readonly PreparedEvent[]): void {
  let total = 0;
  for (const { event } of prepared) {
    const bytes = exactBytes(event);
    if (bytes > maxEventBytes) throw new EventTooLargeError(stream, event.type, bytes, maxEventBytes);
    total += bytes + eventOverheadBytes;
  }
  if (total > maxAppendBytes) {
    throw new EventTooLargeError(stream, `A batch of ${prepared.length} events`, total, maxAppendBytes);
  }
}
