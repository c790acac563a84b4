import { createEventRegistry } from "../../events/event-registry.ts";
import { openSqlite } from "../../events/log/sqlite.ts";
import { rebuildProjection } from "../../projections/rebuild.ts";
import { openSqliteProjectionStore } from "../../projections/sqlite-projection-store.ts";
import { countedTitles } from "./counted-titles.ts";

const [logPath = "", storePath = "", version = "1"] = process.argv.slice(2);
const { log } = await openSqlite(logPath);
const store = await openSqliteProjectionStore(storePath);
const { resumedAt } = await rebuildProjection({
  projection: countedTitles(Number(version)),
  log,
  store,
  registry: createEventRegistry(),
  batchEvents: 100,
  onProgress: ({ events }) => void process.stdout.write(`tick ${events}\n`),
});
process.stdout.write(`done ${resumedAt}\n`);
await store.close();
await log.close();
