import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { findBrokenLink } from "../../../events/hash-chain.ts";
import { openSqlite } from "../../../events/log/sqlite.ts";
import { collect } from "./new-events.ts";

const script = fileURLToPath(new URL("append-until-killed.ts", import.meta.url));
const kills = 6;
const threads = 5;
const batch = 3;

/** Runs the writer until it has acknowledged `count` batches, kills it, and gives the last version of each stream. */
async function runAndKill(url: string, synchronous: string, count: number): Promise<Map<string, number>> {
  const child = spawn(process.execPath, ["--import", "tsx", script, url, String(threads), synchronous], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const acknowledged = new Map<string, number>();
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [stream = "", version] = line.split(" ");
    acknowledged.set(stream, Number(version));
    lines += 1;
    if (lines === count) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  expect(child.signalCode).toBe("SIGKILL");
  return acknowledged;
}

it.each(["full", "normal"] as const)(
  "a killed writer loses no acknowledged event and leaves no half batch (%s)",
  { timeout: 120_000 },
  async (synchronous) => {
    const folder = await mkdtemp(join(tmpdir(), "threadfold-crash-"));
    const path = join(folder, "threads.db");
    for (let kill = 0; kill < kills; kill++) {
      const acknowledged = await runAndKill(`sqlite:${path}`, synchronous, 1 + kill * 17);
      const { log } = await openSqlite(path);
      for (const [stream, version] of acknowledged) {
        const events = await collect(log.read(stream));
        expect(events.length).toBeGreaterThanOrEqual(version);
        expect(events.length % batch).toBe(0);
        expect(findBrokenLink(events)).toBeUndefined();
      }
      expect(await log.check?.()).toEqual([]);
      await log.close();
    }
    await rm(folder, { recursive: true });
  },
);
