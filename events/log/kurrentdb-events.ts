import type { EventMetadata, RecordedEvent } from "../envelope.ts";
import { type SealedEvent, sha256 } from "../hash-chain.ts";
import type { Json } from "../json.ts";
import { DamagedEventError } from "./event-log.ts";
import type { KurrentEventData, KurrentRecord, KurrentResolved } from "./kurrentdb-client.ts";
import { toPosition } from "./position.ts";

type EnvelopeRest = Omit<EventMetadata, "causationId" | "correlationId">;

/** Our envelope in the metadata of an event, with the two ids under the names that this ecosystem knows. */
interface WireMetadata extends EnvelopeRest {
  readonly $causationId: string;
  readonly $correlationId: string;
  readonly recordedAt: string;
  readonly hash: string;
  readonly previousHash: string;
  /** The event's own id, when it is no UUID. */
  readonly id?: string;
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const sliceIntoUuid = /^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/;

/** The server takes UUIDs only; another id gets one that is always the same. */
function wireId(id: string): string {
  return uuidForm.test(id) ? id : sha256(id).replace(sliceIntoUuid, "$1-$2-$3-$4-$5");
}

/** @param data as it will be read, so that the caller may change its own */
export function encodeEvent(event: SealedEvent, data: Json): KurrentEventData {
  const { causationId, correlationId, ...rest } = event.metadata;
  const id = wireId(event.id);
  const metadata: WireMetadata = {
    ...rest,
    $causationId: causationId,
    $correlationId: correlationId,
    recordedAt: event.recordedAt,
    ...(id === event.id ? {} : { id: event.id }),
  };
  return { id, type: event.type, contentType: "application/json", data, metadata };
}

/** Number of the place of an event in the log of the server. */
export function placeOf({ event, commitPosition }: KurrentResolved): number {
  return Number(event?.position?.commit ?? commitPosition ?? 0n);
}

function ownMetadata({ metadata }: KurrentRecord): WireMetadata | undefined {
  const given = metadata as Partial<WireMetadata> | undefined;
  return given?.hash && given.$causationId && given.recordedAt ? (given as WireMetadata) : undefined;
}

/** False: somebody else who uses the server wrote it. */
export function isOwnEvent(record: KurrentRecord): boolean {
  return ownMetadata(record) !== undefined;
}

/** @throws {DamagedEventError} somebody else wrote into the stream */
export function decodeEvent(record: KurrentRecord, place: number): RecordedEvent {
  const version = Number(record.revision) + 1;
  const metadata = ownMetadata(record);
  if (!metadata) throw new DamagedEventError(record.streamId, version, "its metadata is not Threadfold's");
  const { $causationId, $correlationId, recordedAt, id, hash, previousHash, ...rest } = metadata;
  return {
    id: id ?? record.id,
    type: record.type,
    data: record.data as Json,
    stream: record.streamId,
    version,
    position: toPosition(place),
    recordedAt,
    metadata: { ...rest, causationId: $causationId, correlationId: $correlationId, hash, previousHash },
  };
}
