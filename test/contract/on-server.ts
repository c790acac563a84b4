import { afterAll, describe } from "vitest";
import { describeBlobStore } from "../events/blobs/blob-store.contract.ts";
import { describeKeyStore } from "../events/keys/key-store.contract.ts";
import { describeEventLog } from "../events/log/event-log.contract.ts";
import { describeSharedLog } from "../events/log/event-log-sharing.contract.ts";
import { describeSideStore } from "../events/log/side-store.contract.ts";
import {
  type ContractTarget,
  closeTarget,
  isPostgres,
  openSchemaOf,
  openTarget,
  type SchemaStore,
} from "./target.ts";

const target: ContractTarget = JSON.parse(process.env.CONTRACT_TARGET ?? "{}");

describe(`on ${target.shown}`, () => {
  const open = () => openTarget(target);
  const kept: SchemaStore[] = [];
  afterAll(async () => {
    for (const store of kept) await store.dispose();
    await closeTarget();
  });
  describeEventLog("server", open, { many: target.events });
  describeSharedLog("server", open);
  describeSideStore("server", open);

  describe.runIf(isPostgres(target))("what the server keeps beside the log", () => {
    const openKept = async () => {
      const store = await openSchemaOf(target);
      kept.push(store);
      return store;
    };
    describeBlobStore("server", async () => ({ ...(await openKept()), dispose: async () => {} }));
    describeKeyStore("server", async () => (await openKept()).keys);
  });
});
