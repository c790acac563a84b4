import { createRequire } from "node:module";
import type * as Gossip from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/gossip_pb";
import type * as Features from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/serverfeatures_pb";
import type * as Shared from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb";
import type * as Status from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/status_pb";
import type * as Streams from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb";

interface GrpcServer {
  addService(definition: unknown, implementation: unknown): void;
  bindAsync(address: string, credentials: unknown, done: (error: Error | null, port: number) => void): void;
  forceShutdown(): void;
}

interface GrpcMetadata {
  set(key: string, value: string): void;
}

interface Grpc {
  readonly Server: new (options?: Record<string, unknown>) => GrpcServer;
  readonly ServerCredentials: {
    createInsecure(): unknown;
    createSsl(root: null, pairs: readonly { cert_chain: Buffer; private_key: Buffer }[]): unknown;
  };
  readonly Metadata: new () => GrpcMetadata;
}

// The client's own copies: messages of another copy of the same classes would not be accepted.
const ownRequire = createRequire(import.meta.url);
/** The two clients register the same classes globally: a process can hold one of them only. */
const client = process.env.EVENT_STORE_CLIENT ?? "@kurrent/kurrentdb-client";
const clientRequire = createRequire(ownRequire.resolve(client));
const folder = client === "@eventstore/db-client" ? "generated" : "generated/kurrentdb/protocols/v1";
const protocols = `${client}/${folder}`;

export const grpc: Grpc = clientRequire("@grpc/grpc-js");
export const streams: typeof Streams = ownRequire(`${protocols}/streams_pb`);
export const shared: typeof Shared = ownRequire(`${protocols}/shared_pb`);
export const statuses: typeof Status = ownRequire(`${protocols}/status_pb`);
export const gossip: typeof Gossip = ownRequire(`${protocols}/gossip_pb`);
export const features: typeof Features = ownRequire(`${protocols}/serverfeatures_pb`);
export const protobufAny: { Any: new () => AnyMessage } = clientRequire(
  "google-protobuf/google/protobuf/any_pb",
);
export const { StreamsService } = ownRequire(`${protocols}/streams_grpc_pb`) as { StreamsService: unknown };
export const { GossipService } = ownRequire(`${protocols}/gossip_grpc_pb`) as { GossipService: unknown };
export const { ServerFeaturesService } = ownRequire(`${protocols}/serverfeatures_grpc_pb`) as {
  ServerFeaturesService: unknown;
};

type AnyMessage = NonNullable<ReturnType<Status.Status["getDetails"]>>;
