import { openSqlite } from "../../../events/log/sqlite.ts";
import { newEvents } from "./new-events.ts";

/* Appends a number of events and is killed with the file open. */
const [path = "", count] = process.argv.slice(2);
const { log } = await openSqlite(path);
await log.append("thread-1", newEvents(Number(count)), { expectedVersion: 0 });
process.kill(process.pid, "SIGKILL");
