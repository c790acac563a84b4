import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "../../../events/log/sqlite.ts";
import { describeEventLog } from "./event-log.contract.ts";
import { describeSharedLog, type SharedLogUnderTest } from "./event-log-sharing.contract.ts";

async function openEmpty(): Promise<SharedLogUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-sqlite-"));
  const path = join(folder, "threads.db");
  const connect = async () => (await openSqlite(path)).log;
  const log = await connect();
  return {
    log,
    connect,
    url: `sqlite:${path}`,
    async dispose() {
      await log.close();
      await rm(folder, { recursive: true });
    },
  };
}

describeEventLog("sqlite", openEmpty);
describeSharedLog("sqlite", openEmpty);
