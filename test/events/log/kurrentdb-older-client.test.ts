import * as eventStore from "@eventstore/db-client";
import { afterAll, beforeAll, describe, vi } from "vitest";
import { openKurrentDb } from "../../../events/log/kurrentdb.ts";
import { createKurrentClient, type KurrentClient } from "../../../events/log/kurrentdb-client.ts";
import { describeEventLog } from "./event-log.contract.ts";
import { type EventStoreDouble, startEventStoreDouble } from "./event-store-double/server.ts";

vi.hoisted(() => {
  process.env.EVENT_STORE_CLIENT = "@eventstore/db-client";
});

describe("through @eventstore/db-client", () => {
  let double: EventStoreDouble;
  let connected: KurrentClient;
  beforeAll(async () => {
    double = await startEventStoreDouble();
    connected = createKurrentClient(eventStore, double.url);
  });
  afterAll(async () => {
    await connected.dispose();
    await double.stop();
  });

  // The first read of a client takes half a second, so all logs of the suite have one.
  const openEmpty = async () => {
    double.clear();
    const client = { EventStoreDBClient: { connectionString: () => undisposed(connected) } };
    const log = await openKurrentDb(double.url, { client });
    return { log, dispose: () => log.close() };
  };

  describeEventLog("kurrentdb on the double", openEmpty, { many: 4000 });
});

function undisposed(client: KurrentClient): KurrentClient {
  return {
    appendToStream: (...given) => client.appendToStream(...given),
    readStream: (...given) => client.readStream(...given),
    readAll: (...given) => client.readAll(...given),
    subscribeToAll: (...given) => client.subscribeToAll(...given),
    tombstoneStream: (...given) => client.tombstoneStream(...given),
    dispose: async () => {},
  };
}
