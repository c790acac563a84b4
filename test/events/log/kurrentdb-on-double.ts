import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { type KurrentModule, openKurrentDb } from "../../../events/log/kurrentdb.ts";
import type { SharedLogUnderTest } from "./event-log-sharing.contract.ts";
import { type EventStoreDouble, startEventStoreDouble } from "./event-store-double/server.ts";
import { shareClient } from "./shared-client.ts";
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
  let shared: ReturnType<typeof shareClient>;
  const folder = mkdtempSync(join(tmpdir(), "threadfold-kurrentdb-"));
  beforeAll(async () => {
    double = await startEventStoreDouble();
    shared = shareClient(module, double.url);
  });
  afterAll(async () => {
    await shared.close();
    await double.stop();
    rmSync(folder, { recursive: true });
  });

  describe("on the double", () => {
    suites(async () => {
      double.clear();
      const { log, side } = await openKurrentDb(double.url, { client: shared.client });
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
