import { createMemoryLog } from "../../../events/log/memory.ts";
import { describeEventLog } from "./event-log.contract.ts";

describeEventLog("memory", async () => {
  const log = createMemoryLog();
  return { log, dispose: () => log.close() };
});
