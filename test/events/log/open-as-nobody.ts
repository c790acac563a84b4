import { openSqlite } from "../../../events/log/sqlite.ts";
import { loadSqliteDriver } from "../../../events/log/sqlite-driver.ts";
import { collect, newEvents } from "./new-events.ts";

/* Opens a store without the rights of root, under which the tests may run, and prints what came of it. */
const [path = "", mode] = process.argv.slice(2);
await loadSqliteDriver();
const nobody = 65534;
if (process.getuid?.() === 0) process.setuid?.(nobody);
try {
  const { log } = await openSqlite(path, { readOnly: mode === "read" });
  if (mode === "write") await log.append("thread-1", newEvents(1), { expectedVersion: "any" });
  process.stdout.write(`${(await collect(log.readAll())).length} events\n`);
  await log.close();
} catch (error) {
  process.stdout.write(`${error}\n`);
}
