import type {
  AppendReq,
  BatchAppendReq,
  BatchAppendResp,
} from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb";
import { grpc, protobufAny, shared, statuses, streams } from "./generated.ts";
import { bytesOf, streamIdentifier, uuidText } from "./messages.ts";
import type { Expected, ProposedRecord, WriteOutcome } from "./storage.ts";

/** What a gRPC server callback takes for an error. */
export interface CallError {
  readonly code: number;
  readonly details: string;
  readonly metadata: InstanceType<typeof grpc.Metadata>;
}

const failedPrecondition = 9;
const invalidArgument = 3;

/** `exception` and its trailers as RpcExceptions.cs of the server writes them. */
export function callError(code: number, details: string, trailers: Record<string, string> = {}): CallError {
  const metadata = new grpc.Metadata();
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, value);
  return { code, details, metadata };
}

export function streamDeletedError(stream: string): CallError {
  return callError(failedPrecondition, `Event stream '${stream}' is deleted.`, {
    exception: "stream-deleted",
    "stream-name": stream,
  });
}

export function refusal(stream: string, expected: Expected, outcome: WriteOutcome): CallError | undefined {
  switch (outcome.kind) {
    case "written":
      return undefined;
    case "stream-deleted":
      return streamDeletedError(stream);
    case "too-large":
      return callError(invalidArgument, "Maximum append size exceeded", {
        exception: "maximum-append-size-exceeded",
        "maximum-append-size": String(outcome.limit),
      });
    case "wrong-expected-version":
      return callError(failedPrecondition, "Append failed due to WrongExpectedVersion", {
        exception: "wrong-expected-version",
        "stream-name": stream,
        "expected-version": String(typeof expected === "number" ? expected : -1),
        "actual-version": String(outcome.current),
      });
  }
}

interface GivenExpectation {
  hasNoStream(): boolean;
  hasAny(): boolean;
  hasStreamExists(): boolean;
}

export function expectedOf(options: GivenExpectation, revision: string): Expected {
  if (options.hasNoStream()) return "no-stream";
  if (options.hasAny()) return "any";
  return options.hasStreamExists() ? "stream-exists" : Number(revision);
}

export function proposedRecord(
  message: BatchAppendReq.ProposedMessage | AppendReq.ProposedMessage,
): ProposedRecord {
  const metadata = message.getMetadataMap();
  return {
    id: uuidText(message.getId()),
    type: metadata.get("type") ?? "",
    contentType: metadata.get("content-type") ?? "",
    data: bytesOf(message.getData()),
    metadata: bytesOf(message.getCustomMetadata()),
  };
}

function errorStatus(stream: string, outcome: Exclude<WriteOutcome, { kind: "written" }>) {
  const status = new statuses.Status();
  const details = new protobufAny.Any();
  if (outcome.kind === "wrong-expected-version") {
    const wrong = new shared.WrongExpectedVersion();
    if (outcome.current >= 0) wrong.setCurrentStreamRevision(String(outcome.current));
    else wrong.setCurrentNoStream(new emptyMessage());
    details.pack(wrong.serializeBinary(), "event_store.client.WrongExpectedVersion");
  } else if (outcome.kind === "stream-deleted") {
    const deleted = new shared.StreamDeleted();
    deleted.setStreamIdentifier(streamIdentifier(stream));
    details.pack(deleted.serializeBinary(), "event_store.client.StreamDeleted");
  } else {
    const exceeded = new shared.MaximumAppendSizeExceeded();
    exceeded.setMaxappendsize(outcome.limit);
    details.pack(exceeded.serializeBinary(), "event_store.client.MaximumAppendSizeExceeded");
  }
  status.setCode(failedPrecondition);
  status.setMessage(outcome.kind);
  status.setDetails(details);
  return status;
}

/** As BatchAppend.cs: the outcome of one append of the stream, an error inside of the message and not of the call. */
export function batchResponse(
  request: BatchAppendReq,
  stream: string,
  outcome: WriteOutcome,
): BatchAppendResp {
  const response = new streams.BatchAppendResp();
  response.setCorrelationId(request.getCorrelationId());
  response.setStreamIdentifier(streamIdentifier(stream));
  if (outcome.kind === "written") {
    const success = new streams.BatchAppendResp.Success();
    success.setCurrentRevision(String(outcome.revision));
    const position = new shared.AllStreamPosition();
    position.setCommitPosition(String(outcome.position));
    position.setPreparePosition(String(outcome.position));
    success.setPosition(position);
    response.setSuccess(success);
  } else {
    response.setError(errorStatus(stream, outcome));
  }
  return response;
}

type EmptyMessage = NonNullable<
  ReturnType<InstanceType<typeof shared.WrongExpectedVersion>["getCurrentNoStream"]>
>;
const emptyMessage = shared.Empty as unknown as new () => EmptyMessage;
