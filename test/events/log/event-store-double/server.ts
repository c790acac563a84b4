import type { ClusterInfo } from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/gossip_pb";
import type { SupportedMethods } from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/serverfeatures_pb";
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
  DeleteReq,
  DeleteResp,
  ReadReq,
  ReadResp,
  TombstoneReq,
  TombstoneResp,
} from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb";
import type { Faults } from "./faults.ts";
import {
  features,
  GossipService,
  gossip,
  grpc,
  ServerFeaturesService,
  StreamsService,
  streams,
} from "./generated.ts";
import {
  caughtUpResponse,
  checkpointResponse,
  confirmationResponse,
  eventResponse,
  notFoundResponse,
  textOf,
  uuidMessage,
} from "./messages.ts";
import { select, subscriptionFilter, subscriptionStart } from "./reads.ts";
import { createStorage, type Storage } from "./storage.ts";
import {
  batchResponse,
  type CallError,
  callError,
  expectedOf,
  proposedRecord,
  refusal,
  streamDeletedError,
} from "./writes.ts";

interface Call<Request, Response> {
  readonly request: Request;
  readonly metadata: { get(name: string): readonly unknown[] };
  write(response: Response): boolean;
  end(): void;
  on(event: "data", listener: (request: Request) => void): void;
  on(event: "end" | "cancelled" | "close" | "drain" | "error", listener: () => void): void;
  emit(event: "error", error: CallError): void;
}
type Answer<Response> = (error: CallError | null, response?: Response) => void;

export interface EventStoreDouble {
  readonly url: string;
  readonly port: number;
  readonly storage: Storage;
  /** Begins again with an empty log, for the connections that are there. */
  clear(): void;
  readonly faults: Faults;
  /** Breaks all connections and lets the port go; what was written is kept. */
  stop(): Promise<void>;
  /** Listens again, on the same port. */
  start(): Promise<void>;
}

export interface DoubleOptions {
  /** Default 24.10.14. */
  readonly version?: string;
  readonly batchAppend?: boolean;
  /** Largest append that the server takes. Default 1 MiB. */
  readonly maxAppendBytes?: number;
  /** PEM texts: speaks TLS. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** `user:password` of the only one who may read and write. Default: everybody may, whoever they say they are. */
  readonly user?: string;
  /** Without the service that tells the version, as before 20.6. */
  readonly serverFeatures?: boolean;
  /** What the gossip says of the cluster instead of naming this server as its leader. */
  readonly members?: () => readonly ClusterMember[];
}

export interface ClusterMember {
  readonly port: number;
  readonly state: "leader" | "follower" | "catching-up";
  readonly alive?: boolean;
}

const memberStates = { leader: 8, follower: 6, "catching-up": 4 } as const;

const unavailable = 14;
const unauthenticated = 16;
const permissionDenied = 7;

/**
 * Speaks the gRPC services that the clients use, from memory. Test code: see its README for what it does not do.
 */
export async function startEventStoreDouble(options: DoubleOptions = {}): Promise<EventStoreDouble> {
  const { version = "24.10.14", batchAppend = true, serverFeatures = true, tls, user } = options;
  let storage = createStorage(options.maxAppendBytes);
  const faults: Faults = { appends: [], reads: [], tombstones: [] };
  let port = 0;
  let server: InstanceType<typeof grpc.Server> | undefined;

  const notLeader = () =>
    callError(5, "Leader info available", {
      exception: "not-leader",
      "leader-endpoint-host": "127.0.0.1",
      "leader-endpoint-port": String(port),
    });

  /** As the server answers HTTP 401 and as its RpcExceptions.AccessDenied: a wrong password, and none. */
  const denied = (call: Pick<Call<unknown, unknown>, "metadata">): CallError | undefined => {
    const [given] = call.metadata.get("authorization");
    if (user === undefined || given === `Basic ${Buffer.from(user).toString("base64")}`) return undefined;
    if (given !== undefined) return callError(unauthenticated, "Bad HTTP status code: 401");
    return callError(permissionDenied, "Access Denied", { exception: "access-denied" });
  };
  const allowed = <Given extends Pick<Call<unknown, unknown>, "metadata" | "emit">, Rest extends unknown[]>(
    handle: (call: Given, ...rest: Rest) => void,
  ) => {
    return (call: Given, ...rest: Rest) => {
      const refused = denied(call);
      const [answer] = rest;
      if (!refused) handle(call, ...rest);
      else if (typeof answer === "function") answer(refused);
      else call.emit("error", refused);
    };
  };

  /** The process is gone: no answer to anybody, and nobody listens. */
  const crash = () => {
    server?.forceShutdown();
    server = undefined;
  };

  const subscribe = (call: Call<ReadReq, ReadResp>, readOptions: ReadReq.Options) => {
    const isWanted = subscriptionFilter(readOptions);
    const log = storage;
    let next = subscriptionStart(log, readOptions);
    const push = () => {
      for (; next < log.all.length; next++) {
        const record = log.all[next];
        if (record && isWanted(record)) call.write(eventResponse(record, readOptions));
      }
    };
    call.write(confirmationResponse());
    push();
    const last = log.all.at(-1);
    if (readOptions.hasFilter() && last) call.write(checkpointResponse(last.position));
    call.write(caughtUpResponse());
    const stop = log.onWrite(push);
    for (const event of ["cancelled", "close", "error"] as const) call.on(event, stop);
  };

  const read = (call: Call<ReadReq, ReadResp>) => {
    const fault = faults.reads.shift();
    if (fault === "hang") return;
    if (fault === "unavailable") {
      call.emit("error", callError(unavailable, "The server is not ready"));
      return;
    }
    const readOptions = call.request.getOptions() ?? new streams.ReadReq.Options();
    if (readOptions.hasSubscription()) {
      subscribe(call, readOptions);
      return;
    }
    const selection = select(storage, readOptions);
    if (selection.kind === "deleted") {
      call.emit("error", streamDeletedError(selection.stream));
      return;
    }
    if (selection.kind === "not-found") call.write(notFoundResponse(selection.stream));
    else for (const record of selection.records) call.write(eventResponse(record, readOptions));
    call.end();
  };

  const appendInBatch = (call: Call<BatchAppendReq, BatchAppendResp>) => {
    const begun = new Map<string, BatchAppendReq[]>();
    call.on("data", (request) => {
      const key = JSON.stringify(request.getCorrelationId()?.toObject());
      const parts = [...(begun.get(key) ?? []), request];
      begun.set(key, parts);
      if (!request.getIsFinal()) return;
      begun.delete(key);
      const appendOptions = parts[0]?.getOptions();
      if (!appendOptions) return;
      const fault = faults.appends.shift();
      if (fault === "hang") return;
      if (fault === "disk-full") return crash();
      if (fault === "close-in-batch") {
        call.end();
        return;
      }
      if (fault === "not-leader") {
        call.emit("error", notLeader());
        return;
      }
      const stream = textOf(appendOptions.getStreamIdentifier()?.getStreamName() ?? "");
      const proposed = parts.flatMap((part) => part.getProposedMessagesList().map(proposedRecord));
      const expected = expectedOf(appendOptions, appendOptions.getStreamPosition());
      const outcome = storage.append(stream, expected, proposed);
      if (fault === "lose-acknowledgement") call.emit("error", callError(unavailable, "connection lost"));
      else call.write(batchResponse(request, stream, outcome));
    });
    call.on("end", () => call.end());
    call.on("error", () => undefined);
  };

  const append = (call: Call<AppendReq, AppendResp>, answer: Answer<AppendResp>) => {
    const parts: AppendReq[] = [];
    call.on("data", (part) => parts.push(part));
    call.on("end", () => {
      const fault = faults.appends.shift();
      if (fault === "hang") return;
      if (fault === "disk-full") return crash();
      if (fault === "not-leader") return answer(notLeader());
      const appendOptions = parts[0]?.getOptions();
      const stream = textOf(appendOptions?.getStreamIdentifier()?.getStreamName() ?? "");
      const expected = appendOptions ? expectedOf(appendOptions, appendOptions.getRevision()) : "any";
      const proposed = parts.flatMap((part) => {
        const message = part.getProposedMessage();
        return message ? [proposedRecord(message)] : [];
      });
      const outcome = storage.append(stream, expected, proposed);
      if (fault !== undefined) return answer(callError(unavailable, "connection lost"));
      const error = refusal(stream, expected, outcome);
      if (error || outcome.kind !== "written") return answer(error ?? null);
      const success = new streams.AppendResp.Success();
      success.setCurrentRevision(String(outcome.revision));
      const position = new streams.AppendResp.Position();
      position.setCommitPosition(String(outcome.position));
      position.setPreparePosition(String(outcome.position));
      success.setPosition(position);
      const response = new streams.AppendResp();
      response.setSuccess(success);
      answer(null, response);
    });
  };

  const remove = (call: Call<DeleteReq, never>, answer: Answer<DeleteResp>) => {
    const given = call.request.getOptions();
    const stream = textOf(given?.getStreamIdentifier()?.getStreamName() ?? "");
    const expected = given ? expectedOf(given, given.getRevision()) : "any";
    const error = refusal(stream, expected, storage.softDelete(stream, expected));
    answer(error ?? null, error ? undefined : new streams.DeleteResp());
  };

  const tombstone = (call: Call<TombstoneReq, never>, answer: Answer<TombstoneResp>) => {
    if (faults.tombstones.shift()) return answer(callError(unavailable, "The server is not ready"));
    const given = call.request.getOptions();
    const stream = textOf(given?.getStreamIdentifier()?.getStreamName() ?? "");
    const expected = given ? expectedOf(given, given.getRevision()) : "any";
    const error = refusal(stream, expected, storage.tombstone(stream, expected));
    answer(error ?? null, error ? undefined : new streams.TombstoneResp());
  };

  const getSupportedMethods = (_call: unknown, answer: Answer<SupportedMethods>) => {
    const supported = new features.SupportedMethods();
    supported.setEventStoreServerVersion(version);
    const names = ["read", "append", "delete", "tombstone", ...(batchAppend ? ["batchappend"] : [])];
    supported.setMethodsList(
      names.map((name) => {
        const method = new features.SupportedMethod();
        method.setServiceName("event_store.client.streams.streams");
        method.setMethodName(name);
        method.setFeaturesList(name === "read" ? ["position", "events"] : []);
        return method;
      }),
    );
    answer(null, supported);
  };

  const readGossip = (_call: unknown, answer: Answer<ClusterInfo>) => {
    const members = options.members?.() ?? [{ port, state: "leader" as const }];
    const info = new gossip.ClusterInfo();
    info.setMembersList(
      members.map((member) => {
        const message = new gossip.MemberInfo();
        message.setInstanceId(uuidMessage(crypto.randomUUID(), false));
        message.setState(memberStates[member.state]);
        message.setIsAlive(member.alive ?? true);
        const place = new gossip.EndPoint();
        place.setAddress("127.0.0.1");
        place.setPort(member.port);
        message.setHttpEndPoint(place);
        return message;
      }),
    );
    answer(null, info);
  };

  const start = async () => {
    const started = new grpc.Server({ "grpc.max_receive_message_length": 17 * 1024 * 1024 });
    started.addService(StreamsService, {
      read: allowed(read),
      append: allowed(append),
      delete: allowed(remove),
      tombstone: allowed(tombstone),
      batchAppend: allowed(appendInBatch),
    });
    if (serverFeatures) started.addService(ServerFeaturesService, { getSupportedMethods });
    started.addService(GossipService, { read: readGossip });
    const credentials = tls
      ? grpc.ServerCredentials.createSsl(null, [
          { cert_chain: Buffer.from(tls.certificate), private_key: Buffer.from(tls.key) },
        ])
      : grpc.ServerCredentials.createInsecure();
    port = await new Promise<number>((resolve, reject) => {
      started.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) => {
        if (error) reject(error);
        else resolve(bound);
      });
    });
    server = started;
  };

  await start();
  return {
    get url() {
      return `kurrentdb://127.0.0.1:${port}?tls=${tls ? "true" : "false"}`;
    },
    get port() {
      return port;
    },
    get storage() {
      return storage;
    },
    clear() {
      storage = createStorage(options.maxAppendBytes);
    },
    faults,
    start,
    async stop() {
      crash();
    },
  };
}
