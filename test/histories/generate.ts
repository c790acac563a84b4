import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAgent } from "../../actors/create-agent.ts";
import { createMemoryBlobs } from "../../events/blobs/memory.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import { createSideQueue } from "../../events/queue/side-queue.ts";
import type { Store } from "../../events/store.ts";
import { exportThreads } from "../../projections/thread-export.ts";
import { histories } from "./history-agents.ts";

// Plays every history anew and writes the set of a release: node --import tsx test/histories/generate.ts <release>
// Sets of earlier releases stay as they are: they prove that their logs can still be read.

const [release, ...only] = process.argv.slice(2);
if (release === undefined) throw new Error("Name the release, like 0.1.0.");
const folder = join(fileURLToPath(new URL(".", import.meta.url)), release);
await mkdir(folder, { recursive: true });
for (const history of histories) {
  if (only.length > 0 && !only.includes(history.name)) continue;
  const log = createMemoryLog();
  const side = createMemorySide();
  const store: Store = {
    url: "memory:",
    log,
    blobs: createMemoryBlobs(),
    side,
    queue: createSideQueue(side),
    // Its path stands in the events, so it is the same wherever the histories are made.
    folder: join(tmpdir(), "threadfold-history"),
    close: () => log.close(),
  };
  const agent = createAgent({ ...history.agent(), store });
  const threads = await history.play(agent, store);
  const lines: string[] = [];
  for await (const line of exportThreads(store.log, threads, { blobs: store.blobs })) lines.push(line);
  await writeFile(join(folder, `${history.name}.ndjson`), `${lines.join("\n")}\n`);
  await agent.close();
  await store.close();
  await rm(store.folder, { recursive: true, force: true });
  process.stdout.write(`${history.name}: ${lines.length} lines\n`);
}
