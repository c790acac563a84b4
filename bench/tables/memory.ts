import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { builtPackage } from "../build.ts";
import { type BenchOptions, type Measured, number } from "./table.ts";

const known = 100_000;
const live = 1_000;
const messagesPerThread = 4;
const program = fileURLToPath(new URL("../live-threads.js", import.meta.url));

interface Resident {
  readonly emptyBytes: number;
  readonly knownBytes: number;
  readonly liveBytes: number;
}

/** Resident memory of a process with 100,000 threads in its store, 1,000 of them live. */
export async function measureMemory({ log }: BenchOptions): Promise<Measured> {
  await builtPackage();
  log(`memory: ${known} threads known, ${live} live`);
  const folder = await mkdtemp(join(tmpdir(), "threadfold-memory-"));
  const url = `sqlite:${join(folder, "threads.db")}`;
  const args = ["--expose-gc", program, url, String(known), String(live), String(messagesPerThread)];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { emptyBytes, knownBytes, liveBytes } = JSON.parse(stdout) as Resident;
    const megabytes = (bytes: number) => `${number(bytes / 1e6)} MB`;
    return {
      tables: [
        {
          title: `Resident memory of one process, threads of ${messagesPerThread} messages`,
          head: ["package loaded", `${known} threads written and known`, `and ${live} of them live`],
          rows: [[megabytes(emptyBytes), megabytes(knownBytes), megabytes(liveBytes)]],
        },
      ],
      ratios: [
        {
          name: `resident memory, ${known} threads known, ${live} live`,
          value: liveBytes / 1e6,
          target: { atMost: 250 },
          unit: "MB",
        },
      ],
      charts: [],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
