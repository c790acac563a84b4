import type { UUID } from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb";
import type {
  ReadReq,
  ReadResp,
} from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb";
import { shared, streams } from "./generated.ts";
import type { StoredRecord } from "./storage.ts";

export function textOf(bytes: Uint8Array | string): string {
  return typeof bytes === "string"
    ? Buffer.from(bytes, "base64").toString("utf8")
    : Buffer.from(bytes).toString("utf8");
}

export function bytesOf(content: Uint8Array | string): Uint8Array {
  return typeof content === "string" ? Buffer.from(content, "base64") : content;
}

const hexForm = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

export function uuidText(uuid: UUID | undefined): string {
  const structured = uuid?.getStructured();
  if (!structured) return (uuid?.getString() ?? "").toLowerCase();
  const half = (bits: string) => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, "0");
  const hex = half(structured.getMostSignificantBits()) + half(structured.getLeastSignificantBits());
  return hex.replace(hexForm, "$1-$2-$3-$4-$5");
}

export function uuidMessage(id: string, structured: boolean): UUID {
  const uuid = new shared.UUID();
  if (!structured) {
    uuid.setString(id);
    return uuid;
  }
  const hex = id.replaceAll("-", "");
  const half = (digits: string) => BigInt.asIntN(64, BigInt(`0x${digits}`)).toString();
  const parts = new shared.UUID.Structured();
  parts.setMostSignificantBits(half(hex.slice(0, 16)));
  parts.setLeastSignificantBits(half(hex.slice(16)));
  uuid.setStructured(parts);
  return uuid;
}

export function streamIdentifier(name: string) {
  const identifier = new shared.StreamIdentifier();
  identifier.setStreamName(Buffer.from(name));
  return identifier;
}

/** .NET ticks of 100 ns since 1970. */
function ticks(ms: number): string {
  return String(BigInt(ms) * 10_000n);
}

export function eventResponse(record: StoredRecord, options: ReadReq.Options): ReadResp {
  const event = new streams.ReadResp.ReadEvent.RecordedEvent();
  event.setId(uuidMessage(record.id, options.getUuidOption()?.hasStructured() === true));
  event.setStreamIdentifier(streamIdentifier(record.stream));
  event.setStreamRevision(String(record.revision));
  event.setPreparePosition(String(record.position));
  event.setCommitPosition(String(record.position));
  event.getMetadataMap().set("type", record.type);
  event.getMetadataMap().set("content-type", record.contentType);
  event.getMetadataMap().set("created", ticks(record.createdMs));
  event.setData(record.data);
  event.setCustomMetadata(record.metadata);
  const read = new streams.ReadResp.ReadEvent();
  read.setEvent(event);
  read.setCommitPosition(String(record.position));
  const response = new streams.ReadResp();
  response.setEvent(read);
  return response;
}

export function notFoundResponse(stream: string): ReadResp {
  const missing = new streams.ReadResp.StreamNotFound();
  missing.setStreamIdentifier(streamIdentifier(stream));
  const response = new streams.ReadResp();
  response.setStreamNotFound(missing);
  return response;
}

export function confirmationResponse(): ReadResp {
  const confirmation = new streams.ReadResp.SubscriptionConfirmation();
  confirmation.setSubscriptionId(crypto.randomUUID());
  const response = new streams.ReadResp();
  response.setConfirmation(confirmation);
  return response;
}

export function caughtUpResponse(): ReadResp {
  const response = new streams.ReadResp();
  response.setCaughtUp(new streams.ReadResp.CaughtUp());
  return response;
}

export function checkpointResponse(position: number): ReadResp {
  const checkpoint = new streams.ReadResp.Checkpoint();
  checkpoint.setCommitPosition(String(position));
  checkpoint.setPreparePosition(String(position));
  const response = new streams.ReadResp();
  response.setCheckpoint(checkpoint);
  return response;
}
