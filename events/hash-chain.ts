import { hash as digest } from "node:crypto";
import { canonicalJson } from "./canonical-json.ts";
import type { NewEvent, RecordedEvent } from "./envelope.ts";

/** Hash before the first event of a stream. */
export const chainStart = "0".repeat(64);

/** A recorded event before its store gave it a position. */
export type SealedEvent = Omit<RecordedEvent, "position">;

/** Where a stream ends: its last version (0: no stream) and the hash of that event. */
export interface ChainHead {
  readonly version: number;
  readonly hash: string;
}

/** Lower-case hex SHA-256 of a text (as UTF-8) or of bytes. */
export function sha256(content: string | Uint8Array): string {
  return digest("sha256", content, "hex");
}

function hashAt(
  event: NewEvent,
  place: { readonly stream: string; readonly version: number },
  previousHash: string,
): string {
  const { id, type, data, recordedAt } = event;
  const { schema, by, causationId, correlationId, runId, step, traceparent } = event.metadata;
  const metadata = { by, causationId, correlationId, runId, schema, step, traceparent };
  const { stream, version } = place;
  return sha256(previousHash + canonicalJson({ data, id, metadata, recordedAt, stream, type, version }));
}

/**
 * Hash of one event: SHA-256 of the previous hash followed by the canonical JSON of the event without its hashes and
 * its position. Positions differ from store to store, so a copied log keeps its hashes.
 */
export function hashEvent(
  event: NewEvent & { readonly stream: string; readonly version: number },
  previousHash: string,
): string {
  return hashAt(event, event, previousHash);
}

/** Gives new events their place in the chain that ends at `head`. */
export function sealEvents(stream: string, head: ChainHead, events: readonly NewEvent[]): SealedEvent[] {
  let { version, hash } = head;
  return events.map((event) => {
    const previousHash = hash;
    version += 1;
    hash = hashAt(event, { stream, version }, previousHash);
    const { id, type, data, recordedAt, metadata } = event;
    return { id, type, data, stream, version, recordedAt, metadata: { ...metadata, hash, previousHash } };
  });
}

/** The first place where a chain of recorded events does not hold. */
export interface BrokenLink {
  readonly stream: string;
  readonly version: number;
  readonly reason: "hash" | "previous-hash" | "version-gap";
  readonly expected: string;
  readonly actual: string;
}

/** Checks events of one stream in order, from `head` on; undefined: the chain holds. */
export function findBrokenLink(
  events: Iterable<RecordedEvent>,
  head: ChainHead = { version: 0, hash: chainStart },
): BrokenLink | undefined {
  let { version, hash } = head;
  for (const event of events) {
    const at = { stream: event.stream, version: event.version };
    if (event.version !== version + 1) {
      return { ...at, reason: "version-gap", expected: String(version + 1), actual: String(event.version) };
    }
    if (event.metadata.previousHash !== hash) {
      return { ...at, reason: "previous-hash", expected: hash, actual: event.metadata.previousHash };
    }
    const expected = hashEvent(event, hash);
    if (event.metadata.hash !== expected)
      return { ...at, reason: "hash", expected, actual: event.metadata.hash };
    version = event.version;
    hash = expected;
  }
  return undefined;
}
