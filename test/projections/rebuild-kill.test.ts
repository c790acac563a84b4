import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEventRegistry } from "../../events/event-registry.ts";
import { openSqlite } from "../../events/log/sqlite.ts";
import { TitleSet } from "../../events/title.ts";
import { createMemoryProjectionStore } from "../../projections/memory-projection-store.ts";
import { rebuildProjection } from "../../projections/rebuild.ts";
import { openSqliteProjectionStore } from "../../projections/sqlite-projection-store.ts";
import { appendDrafts } from "./append-drafts.ts";
import { countedTitles } from "./counted-titles.ts";

const kills = 50;
const threads = 40;
const eventsPerThread = 250;
const registry = createEventRegistry();
let folder: string;

beforeAll(async () => {
  // Beside the sources, so that the bundle finds the packages that it leaves outside.
  folder = await mkdtemp(join(tmpdir(), "threadfold-rebuild-"));
  await build({
    configFile: false,
    logLevel: "silent",
    root: fileURLToPath(new URL("../..", import.meta.url)),
    ssr: { noExternal: true, external: ["@photostructure/sqlite"] },
    build: {
      ssr: fileURLToPath(new URL("rebuild-child.ts", import.meta.url)),
      outDir: fileURLToPath(new URL("../../node_modules/.cache/threadfold-rebuild-child", import.meta.url)),
      emptyOutDir: true,
      target: "node20",
    },
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const childScript = fileURLToPath(
  new URL("../../node_modules/.cache/threadfold-rebuild-child/rebuild-child.js", import.meta.url),
);

/** Starts a rebuild and kills it some milliseconds after a number of commits; true when it ended by itself before. */
async function rebuildAndKill(paths: readonly string[], version: number, ticks: number, ms: number) {
  const child: ChildProcess = spawn(process.execPath, [childScript, ...paths, String(version)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const strike = async () => {
    await pause(ms);
    child.kill("SIGKILL");
  };
  let seen = 0;
  let striking = ticks === 0 ? strike() : undefined;
  if (child.stdout) {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith("tick")) seen += 1;
      if (seen === ticks) striking ??= strike();
    }
  }
  const code = await exited;
  await striking;
  return code === 0;
}

test(`a rebuild killed at ${kills} random moments serves the old rows and ends like a clean one`, async () => {
  const logPath = join(folder, "threads.db");
  const storePath = join(folder, "threads.projections.db");
  const { log } = await openSqlite(logPath);
  for (let thread = 0; thread < threads; thread++) {
    const drafts = Array.from({ length: eventsPerThread }, (_, index) =>
      TitleSet({ title: `title ${thread}.${index}`, origin: "user" }),
    );
    await appendDrafts(log, `t${thread}`, drafts);
  }
  const store = await openSqliteProjectionStore(storePath);
  const clean = createMemoryProjectionStore();
  await rebuildProjection({ projection: countedTitles(1), log, store, registry });
  for (const version of [1, 2]) {
    await rebuildProjection({ projection: countedTitles(version), log, store: clean, registry, fresh: true });
    if (version === 1) expect(await store.list("counted-titles")).toEqual(await clean.list("counted-titles"));
  }
  const oldRows = await store.list("counted-titles");
  const newRows = await clean.list("counted-titles");

  let finished = 0;
  for (let kill = 0; kill < kills; kill++) {
    const ended = await rebuildAndKill(
      [logPath, storePath],
      2,
      Math.floor(Math.random() * 6),
      Math.random() * 10,
    );
    if (ended) finished += 1;
    const live = await store.live("counted-titles");
    const rows = await store.list("counted-titles");
    // Killed after the switch it is done, too; before it, readers still have what they had.
    expect(rows).toEqual(live?.version === 2 ? newRows : oldRows);
  }
  const { table } = await rebuildProjection({ projection: countedTitles(2), log, store, registry });
  expect(table).toMatchObject({ version: 2, events: threads * eventsPerThread });
  expect(await store.list("counted-titles")).toEqual(newRows);
  expect((await store.tables()).map(({ state }) => state)).toEqual(["live"]);
  // Most of them were really killed in the middle.
  expect(finished).toBeLessThan(kills / 2);
  await store.close();
  await log.close();
}, 240_000);
