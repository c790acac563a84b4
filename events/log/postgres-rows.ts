import type { EventMetadata, RecordedEvent } from "../envelope.ts";
import type { SealedEvent } from "../hash-chain.ts";
import { DamagedEventError, type StoredFoldEvent } from "./event-log.ts";
import { toPosition } from "./position.ts";
import type { PostgresRow } from "./postgres-session.ts";

/** Columns of an event `e` of a stream `s`, in the order that `decodeEvent` expects. */
export const eventColumns =
  "e.position, s.name, e.version, e.id, e.type, e.data, e.recorded_at, e.metadata, e.schema, e.hash, e.previous_hash";

/** Columns of a fold, in the order that `decodeFoldEvent` expects. */
export const foldColumns = "e.version, e.type, e.schema, e.data";

/** The server writes bytes as `\x` and hex digits. */
export function hexOf(bytes: string | null | undefined): string {
  return bytes?.slice(2) ?? "";
}

export function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, "hex");
}

/** What goes into the metadata column: everything that has no column of its own. */
export function metadataText({ metadata }: SealedEvent): string {
  const { hash: _hash, previousHash: _previous, schema: _schema, ...rest } = metadata;
  return JSON.stringify(rest);
}

function parse(text: string | null | undefined, stream: string, version: number) {
  try {
    return JSON.parse(text ?? "");
  } catch (cause) {
    throw new DamagedEventError(stream, version, (cause as Error).message);
  }
}

/** @throws {DamagedEventError} */
export function decodeEvent(row: PostgresRow): RecordedEvent {
  const [position, name, versionText, id, type, data, recordedAt, metadata, schema, hash, previousHash] = row;
  const stream = String(name);
  const version = Number(versionText);
  const known: Omit<EventMetadata, "schema"> = parse(metadata, stream, version);
  return {
    id: String(id),
    type: String(type),
    data: parse(data, stream, version),
    stream,
    version,
    position: toPosition(Number(position)),
    recordedAt: String(recordedAt),
    metadata: { schema: Number(schema), ...known, hash: hexOf(hash), previousHash: hexOf(previousHash) },
  };
}

/** @throws {DamagedEventError} */
export function decodeFoldEvent(row: PostgresRow, stream: string): StoredFoldEvent {
  const [versionText, type, schema, data] = row;
  const version = Number(versionText);
  return { version, type: String(type), schema: Number(schema), data: parse(data, stream, version) };
}
