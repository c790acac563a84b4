import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { type KurrentModule, openKurrentDb } from "../../../events/log/kurrentdb.ts";
import { createKurrentClient, type KurrentClient } from "../../../events/log/kurrentdb-client.ts";
import type { SharedLogUnderTest } from "./event-log-sharing.contract.ts";
import { type EventStoreDouble, startEventStoreDouble } from "./event-store-double/server.ts";
import type { SideUnderTest } from "./side-store.contract.ts";

/**
 * Starts the double for the suites of one client module.
 *
 * @param suites called with what opens an empty store
 */
export function describeOnDouble(
  module: KurrentModule,
  suites: (openEmpty: () => Promise<SharedLogUnderTest & SideUnderTest>) => void,
): void {
  let double: EventStoreDouble;
  let connected: KurrentClient;
  const folder = mkdtempSync(join(tmpdir(), "threadfold-kurrentdb-"));
  beforeAll(async () => {
    double = await startEventStoreDouble();
    connected = createKurrentClient(module, double.url);
  });
  afterAll(async () => {
    await connected.dispose();
    await double.stop();
    rmSync(folder, { recursive: true });
  });

  describe("on the double", () => {
    suites(async () => {
      double.clear();
      // The first read of a client takes half a second, so the first logs of all tests share one.
      const client = { EventStoreDBClient: { connectionString: () => undisposed(connected) } };
      const { log, side } = await openKurrentDb(double.url, { client });
      return {
        log,
        side,
        url: `${double.url}&side=${encodeURIComponent(folder)}`,
        connect: async () => (await openKurrentDb(double.url, { client: module })).log,
        dispose: () => log.close(),
      };
    });
  });
}

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
