import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ChildResult, ChildWork } from "./child.ts";
import { compiled } from "./compiled.ts";
import type { LogTurns, LogTurnsWork } from "./log-turns.ts";

const execute = promisify(execFile);
const child = new URL("child.ts", import.meta.url);
/** Their heap holds the whole history of the thread more than once. */
const heapMegabytes = 8_192;

/** Does the work in a process of its own and gives what it measured; throws with what the process wrote when it failed. */
export async function runChild(
  work: Pick<ChildWork, "side" | "turns"> & Partial<ChildWork>,
): Promise<ChildResult> {
  const folder = work.folder ?? (await mkdtemp(join(tmpdir(), "threadfold-bench-")));
  const whole: ChildWork = {
    threads: 1,
    concurrent: 1,
    latencyMs: 0,
    reads: false,
    keep: work.folder !== undefined,
    ...work,
    folder,
  };
  const options = [`--max-old-space-size=${heapMegabytes}`, await compiled(child)];
  try {
    const { stdout } = await execute(process.execPath, [...options, JSON.stringify(whole)]);
    return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as ChildResult;
  } finally {
    if (!whole.keep) await rm(folder, { recursive: true, force: true });
  }
}

/** A log against its bare client or driver, in a process of its own. */
export async function measureLog(work: LogTurnsWork): Promise<LogTurns> {
  const script = await compiled(new URL("log-turns.ts", import.meta.url));
  const { stdout } = await execute(process.execPath, [script, JSON.stringify(work)]);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as LogTurns;
}

export interface ScriptRun {
  readonly stdout: string;
  /** Milliseconds of the whole process, by the wall and of CPU. */
  readonly wall: number;
  readonly cpu: number;
}

const reportCpu = `
  process.once("exit", () => {
    const { user, system } = process.cpuUsage();
    process.stderr.write("\\ncpu=" + (user + system));
  });`;

/** Runs a piece of JavaScript (an ES module) in a new process. */
export async function runScript(script: string): Promise<ScriptRun> {
  const start = performance.now();
  const options = ["--input-type=module", "--eval", `${script}\n${reportCpu}`];
  const { stdout, stderr } = await execute(process.execPath, options, {
    cwd: new URL("..", import.meta.url).pathname,
  });
  const cpu = Number(/cpu=(\d+)$/.exec(stderr)?.[1]) / 1_000;
  return { stdout, wall: performance.now() - start, cpu };
}

/** As `runScript`, several times; the run that took the least CPU. */
export async function cheapest(script: string, rounds: number): Promise<ScriptRun> {
  let best = await runScript(script);
  for (let round = 1; round < rounds; round++) {
    const next = await runScript(script);
    if (next.cpu < best.cpu) best = next;
  }
  return best;
}
