import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../../events/open-store.ts";
import { importThreadState } from "../../../projections/thread-import.ts";
import { recordFamily } from "../../projections/sample-thread.ts";

export const reportFile = fileURLToPath(
  new URL("../../fixtures/threads/market-report.json", import.meta.url),
);
export const reportId = "7c1e1f5a-58f5-4f0e-9a86-2f1b40c6a001";

/** A folder with a store of three threads: `parent` (15 events, rewound), its fork `child`, and an imported report. */
export async function sampleStore(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "cli-store-"));
  const store = await openStore(`sqlite:${join(folder, ".threadfold", "threads.db")}`);
  await recordFamily(store.log);
  await importThreadState(store, JSON.parse(await readFile(reportFile, "utf8")));
  await store.close();
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
