import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { openSide, type SideName } from "./sides/open-side.ts";
import { timeOf } from "./sides/side.ts";
import { threadIdIn } from "./work.ts";

/*
 * One product in a process of its own: does the work it is told, prints one line of JSON. Memory and CPU time of the
 * process are therefore its own.
 */
export interface ChildWork {
  readonly side: SideName;
  readonly folder: string;
  /** Turns of each thread. */
  readonly turns: number;
  readonly threads: number;
  /** Threads that run at the same time. */
  readonly concurrent: number;
  readonly latencyMs: number;
  /** Measures reads of the first thread when the turns are done. */
  readonly reads: boolean;
  /** Leaves the files where they are. */
  readonly keep: boolean;
}

export interface ChildResult {
  /** Milliseconds of all turns together. */
  readonly wall: number;
  readonly cpu: number;
  /** Median milliseconds of CPU of the first ten turns (after a warm-up) and of the last ten. */
  readonly firstTurns: number;
  readonly lastTurns: number;
  /** On disk, after closing. */
  readonly bytes: number;
  readonly residentBytes: number;
  readonly stateNow: number;
  /** At 25, 50 and 75 % of the history, with nothing remembered. */
  readonly statesAt: readonly number[];
  readonly tenRows: number;
}

const shares = [0.25, 0.5, 0.75];
const warmUpTurns = 20;
const readRounds = 3;

const cpuNow = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function best(read: () => Promise<number>): Promise<number> {
  let time = Number.POSITIVE_INFINITY;
  for (let round = 0; round < readRounds; round++) time = Math.min(time, await read());
  return time;
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

async function work(options: ChildWork): Promise<ChildResult> {
  const { side: name, folder, latencyMs, threads, turns, concurrent, reads } = options;
  // Warm-up in a store of its own: code is compiled, files of the measured store stay clean.
  const warmFolder = `${folder}-warm-up`;
  await mkdir(warmFolder, { recursive: true });
  const warm = await openSide(name, { folder: warmFolder, latencyMs: 0 });
  for (let turn = 0; turn < warmUpTurns; turn++) await warm.turn(`warm-up-${process.pid}`, turn);
  await warm.close();
  await rm(warmFolder, { recursive: true });

  const side = await openSide(name, { folder, latencyMs });
  const perTurn: number[] = [];
  const waiting = Array.from({ length: threads }, (_, index) => threadIdIn(folder, index));
  const first = waiting[0] ?? "";
  const cpuBefore = cpuNow();
  const wall = await timeOf(async () => {
    const worker = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        for (let turn = 0; turn < turns; turn++) {
          const before = cpuNow();
          await side.turn(id, turn);
          perTurn.push(cpuNow() - before);
        }
      }
    };
    await Promise.all(Array.from({ length: concurrent }, worker));
  });
  const cpu = cpuNow() - cpuBefore;
  let measured = { stateNow: 0, statesAt: [0, 0, 0] as readonly number[], tenRows: 0 };
  if (reads) {
    const expected = 4 * turns;
    const found = await side.stateNow(first);
    if (found !== expected) throw new Error(`${name} has ${found} messages instead of ${expected}.`);
    const rounds = [await side.timesOfStates(first, shares), await side.timesOfStates(first, shares)];
    measured = {
      stateNow: await best(() => timeOf(() => side.stateNow(first))),
      statesAt: shares.map((_, index) => Math.min(...rounds.map((round) => round[index] ?? 0))),
      tenRows: await best(() => timeOf(() => side.tenRows(first))),
    };
  }
  const residentBytes = process.memoryUsage.rss();
  await side.close();
  const result: ChildResult = {
    ...measured,
    wall,
    cpu,
    firstTurns: median(perTurn.slice(0, 10)),
    lastTurns: median(perTurn.slice(-10)),
    bytes: await bytesIn(folder),
    residentBytes,
  };
  if (!options.keep) await rm(folder, { recursive: true });
  return result;
}

console.log(JSON.stringify(await work(JSON.parse(process.argv[2] ?? "") as ChildWork)));
