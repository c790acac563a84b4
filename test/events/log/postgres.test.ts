import { afterAll, beforeAll, describe } from "vitest";
import { openPostgres } from "../../../events/log/postgres.ts";
import { describeBlobStore } from "../blobs/blob-store.contract.ts";
import { describeKeyStore } from "../keys/key-store.contract.ts";
import { describeEventLog } from "./event-log.contract.ts";
import { describeSharedLog } from "./event-log-sharing.contract.ts";
import { hasPostgres, type PostgresServer, serverStartMs, startPostgres } from "./postgres-server.ts";
import { describeSideStore } from "./side-store.contract.ts";

describe.skipIf(!hasPostgres)("on a real server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(async () => {
    await server?.stop();
  });

  const openEmpty = async () => {
    const url = server.newUrl();
    const store = await openPostgres(url);
    const connect = async () => (await openPostgres(url)).log;
    return { ...store, url, connect, dispose: () => store.log.close() };
  };

  describeEventLog("postgres", openEmpty);
  describeSharedLog("postgres", openEmpty);
  describeSideStore("postgres", openEmpty);
  describeBlobStore("postgres", openEmpty);
  describeKeyStore("postgres", async () => (await openEmpty()).keys);
});
