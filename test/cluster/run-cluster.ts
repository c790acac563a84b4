import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { queueRun } from "../../actors/queued-request.ts";
import { LogUnavailableError } from "../../events/log/event-log.ts";
import { openStore } from "../../events/open-store.ts";
import type { RunQueue } from "../../events/queue/run-queue.ts";
import { type ClusterCheck, checkCluster } from "./check-cluster.ts";
import type { WorkerSettings } from "./cluster-settings.ts";

export interface ClusterOptions {
  /** URL of a store that is empty. */
  readonly url: string;
  /** The bundled `worker-process.ts`. */
  readonly script: string;
  readonly workers: number;
  readonly threads: number;
  readonly runsPerThread: number;
  readonly toolCalls: number;
  readonly kills: number;
  /** Milliseconds from one kill to the next: at least and at most. */
  readonly killPauseMs: readonly [number, number];
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly toolMs: number;
  readonly modelMs: number;
  /** Milliseconds after which the simulation gives up. */
  readonly deadlineMs: number;
  /** Gives numbers from 0 to 1. */
  readonly random: () => number;
  readonly onProgress?: (progress: { readonly seconds: number; readonly kills: number }) => void;
}

export interface ClusterReport extends ClusterCheck {
  readonly kills: number;
  /** Seconds from the first worker's start until the queue was empty. */
  readonly seconds: number;
  /** The simulation gave up before the queue was empty. */
  readonly isLate: boolean;
  /** What went wrong with the processes themselves. */
  readonly processProblems: readonly string[];
  /** Events that a tail in another process did not see while they were recorded. */
  readonly notTailed: number;
}

const lookMs = 200;
const queuedAtOnce = 50;

/** Processes that are kept at a number: one that was killed is replaced. */
function keepWorkers(script: string, settings: (index: number) => WorkerSettings) {
  const alive = new Map<ChildProcess, { isAtWork: boolean }>();
  const problems: string[] = [];
  let started = 0;
  let isOver = false;

  const start = (): void => {
    started += 1;
    const child = spawn(process.execPath, [script, JSON.stringify(settings(started))], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    const state = { isAtWork: false };
    alive.set(child, state);
    let errors = "";
    child.stdin?.on("error", () => undefined);
    child.stdout?.once("data", () => {
      state.isAtWork = true;
    });
    child.stderr?.on("data", (data: Buffer) => {
      errors += data;
    });
    child.once("exit", (code, signal) => {
      alive.delete(child);
      // A replacement that was told to stop while it still started had nobody to hear the signal yet.
      const isStopped =
        code === 0 || signal === "SIGKILL" || (isOver && !state.isAtWork && signal === "SIGTERM");
      if (!isStopped) problems.push(`a worker ended with ${signal ?? `code ${code}`}: ${errors}`);
      if (!isOver) start();
    });
  };
  const end = async (signal: NodeJS.Signals) => {
    isOver = true;
    const exits = [...alive.keys()].map((child) => once(child, "exit"));
    for (const child of alive.keys()) child.kill(signal);
    await Promise.all(exits);
  };
  return {
    problems,
    start,
    end,
    /** Kills one that is at work. False: none is. */
    killOne(random: () => number): boolean {
      const working = [...alive].filter(([, { isAtWork }]) => isAtWork);
      const [child] = working[Math.floor(random() * working.length)] ?? [];
      return child?.kill("SIGKILL") ?? false;
    },
  };
}

/** Collects the ids of all events as they are recorded, whoever records them; goes on after a time without the server. */
function tail(store: Awaited<ReturnType<typeof openStore>>) {
  const seen = new Set<string>();
  const over = new AbortController();
  let after: string | undefined;
  const follow = async () => {
    const items = store.log.subscribe({ signal: over.signal, ...(after !== undefined && { after }) });
    for await (const item of items) {
      if (item.kind !== "event") continue;
      seen.add(item.event.id);
      after = item.event.position;
    }
  };
  const ended = (async () => {
    while (!over.signal.aborted) await follow().catch(unlessAway);
  })();
  return {
    seen,
    async end() {
      over.abort();
      await ended;
    },
  };
}

/** A server that is too busy to answer is asked again. */
async function unlessAway(error: unknown): Promise<void> {
  if (!(error instanceof LogUnavailableError)) throw error;
  await pause(lookMs);
}

async function isEmpty(queue: RunQueue): Promise<boolean> {
  const first = await queue.list(1).catch(unlessAway);
  return first !== undefined && first.length === 0;
}

/**
 * Queues runs of many threads and lets worker processes have them, while one of the processes after the other is killed
 * at a random moment. Then checks the log against what the workers noted.
 */
export async function runCluster(options: ClusterOptions): Promise<ClusterReport> {
  const { url, script, workers, threads, runsPerThread, random, onProgress } = options;
  const folder = await mkdtemp(join(tmpdir(), "threadfold-cluster-"));
  const store = await openStore(url);
  const deadline = performance.now() + options.deadlineMs;
  const { concurrency, leaseMs, toolCalls, toolMs, modelMs } = options;
  const given = { url, concurrency, leaseMs, toolCalls, toolMs, modelMs };
  const team = keepWorkers(script, (index) => ({
    ...given,
    acknowledgedFile: join(folder, `acknowledged-${index}`),
    toolFile: join(folder, `tools-${index}`),
  }));
  try {
    const runs = Array.from({ length: runsPerThread }, (_, run) =>
      Array.from({ length: threads }, (__, thread) => ({ threadId: `t-${thread}`, input: `run-${run}` })),
    ).flat();
    // Ids of its own, which sort as they are queued.
    for (let from = 0; from < runs.length; from += queuedAtOnce) {
      await Promise.all(runs.slice(from, from + queuedAtOnce).map((run) => queueRun(store, run)));
    }
    const live = tail(store);
    const start = performance.now();
    for (let worker = 0; worker < workers; worker++) team.start();

    let kills = 0;
    const [least, most] = options.killPauseMs;
    const nextKill = () => performance.now() + least + random() * (most - least);
    let killAt = nextKill();
    let isLate = false;
    while (!(await isEmpty(store.queue))) {
      const now = performance.now();
      isLate = now > deadline;
      if (isLate) break;
      if (kills < options.kills && now > killAt) {
        if (team.killOne(random)) kills += 1;
        killAt = nextKill();
      }
      onProgress?.({ seconds: (now - start) / 1000, kills });
      await pause(Math.min(lookMs, Math.max(0, killAt - now)));
    }
    const seconds = (performance.now() - start) / 1000;
    await team.end(isLate ? "SIGKILL" : "SIGTERM");
    const files = (await readdir(folder)).map((name) => join(folder, name));
    const check = await checkCluster(store, {
      runs: threads * runsPerThread,
      acknowledgedFiles: files.filter((file) => file.includes("acknowledged-")),
      toolFiles: files.filter((file) => file.includes("tools-")),
    });
    const late = performance.now() + 10_000;
    const missing = () => check.eventIds.filter((id) => !live.seen.has(id)).length;
    while (missing() > 0 && performance.now() < late) await pause(lookMs);
    const notTailed = missing();
    await live.end();
    return { ...check, kills, seconds, isLate, processProblems: team.problems, notTailed };
  } finally {
    await team.end("SIGKILL");
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}
