import { setTimeout as pause } from "node:timers/promises";
import { createNews } from "../events/log/news.ts";
import type { ClaimedRun, RunQueue } from "../events/queue/run-queue.ts";
import type { Agent, RunStatus } from "./agent-contract.ts";
import { internalsOf } from "./agent-internals.ts";
import { mintId } from "./mint-id.ts";
import { readQueuedRequest } from "./queued-request.ts";
import { endQueuedRun } from "./queued-run.ts";
import { AgentClosedError } from "./registry.ts";
import { isStoreAway } from "./store-away.ts";

export interface WorkerOptions {
  /** Made by `createAgent`. With `recovery: "continue"` it goes on with the runs of workers that died; otherwise those fail. */
  readonly agent: Agent;
  /** Runs at the same time. Default 10. */
  readonly concurrency?: number;
  /** Milliseconds after which other workers may take over the runs of this one when it falls silent. Default 15,000. */
  readonly leaseMs?: number;
  /** Milliseconds between looks at an empty queue. Default 200. */
  readonly pollMs?: number;
  /** Workers that may try a run before it is cancelled and set aside. Default 5. */
  readonly maxAttempts?: number;
  /** Called when this worker is through with a run; must not throw. */
  readonly onRun?: (run: WorkedRun) => void;
  /** Called when the store cannot be reached; the worker tries again by itself. Must not throw. */
  readonly onError?: (error: unknown) => void;
}

/** A run that a worker is through with. */
export interface WorkedRun {
  readonly runId: string;
  readonly threadId: string;
  /** More than 1: a worker before this one did not finish it. */
  readonly attempt: number;
  /** How the run ended; `parked`: it was set aside; `returned`: it was given back for another worker. */
  readonly outcome: RunStatus | "parked" | "returned";
  /** Why it was set aside. */
  readonly reason: string | undefined;
}

export interface Worker {
  /** Opaque; each worker has its own. */
  readonly id: string;
  /** Runs that it works on now. */
  readonly size: number;
  /**
   * Resolves when it has no run and none of its agent is left in the queue but parked ones: what another worker has is
   * waited for, and taken over when that one falls silent.
   */
  whenIdle(): Promise<void>;
  /**
   * Takes no more runs, lets those at hand go on for `graceMs` (default 10,000), then gives the rest back: another worker
   * goes on with them (`recovery: "continue"`), or they are cancelled. Close the agent afterwards, so that its lease ends.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Given as the reason when a run is left to another worker. */
class LeftToOthers extends Error {}

/** Of the queue, to tell whether it is worked off. */
const entriesLookedAt = 1000;
const renewalsPerLease = 3;
const maxBackOffMs = 10_000;
/** Times that a run is tried again while the store is away, some three minutes; then it is given back. */
const triesWithoutStore = 25;

/** Runs at hand, by run id. */
type Hand = Map<
  string,
  { readonly threadId: string; readonly left: AbortController; readonly work: Promise<void> }
>;

/**
 * Starts to work on the runs that `queueRun` put into the queue of the agent's store. Any number of workers, in as many
 * processes and machines as the store allows, share a queue: each run is started once, runs of one thread follow each
 * other, and the runs of a worker that died are taken over by the others.
 *
 * @throws {ForeignAgentError}
 * @example
 * const worker = createWorker({ agent, concurrency: 20 });
 * process.once("SIGTERM", () => worker.stop().then(() => agent.close()));
 */
export function createWorker(options: WorkerOptions): Worker {
  const {
    agent,
    concurrency = 10,
    leaseMs = 15_000,
    pollMs = 200,
    maxAttempts = 5,
    onRun,
    onError,
  } = options;
  const { threads } = internalsOf(agent);
  const id = mintId();
  const hand: Hand = new Map();
  const stopping = new AbortController();
  const news = createNews();
  let idle = false;

  const backOff = (failures: number) => Math.min(maxBackOffMs, pollMs * 2 ** failures);
  const queueOf = async (): Promise<RunQueue> => (await agent.store()).queue;
  const report = (run: ClaimedRun, outcome: WorkedRun["outcome"], reason?: string) => {
    const { runId, threadId, attempt } = run;
    onRun?.({ runId, threadId, attempt, outcome, reason });
  };

  const setAside = async (run: ClaimedRun, reason: string) => {
    await (await queueOf()).park(id, run.runId, reason);
    report(run, "parked", reason);
  };

  const giveUp = async (run: ClaimedRun) => {
    const reason = `${run.attempt - 1} workers did not finish it`;
    // Set aside first: whatever ended those workers may end this one, too.
    await setAside(run, reason);
    const thread = agent.thread(run.threadId);
    const { runId, status } = await thread.info();
    if (runId === run.runId && status === "running") await thread.cancel(reason);
  };

  /** Tries again here: the run is this process's own, so nobody else would go on with it while this one lives. */
  const whenStoreIsBack = async <Result>(attempt: () => Promise<Result>): Promise<Result> => {
    for (let tries = 0; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        if (!isStoreAway(error) || tries >= triesWithoutStore || stopping.signal.aborted) throw error;
        onError?.(error);
        await pause(backOff(tries), undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };

  const work = async (run: ClaimedRun, left: AbortSignal): Promise<void> => {
    const request = readQueuedRequest(run.request);
    if (!request)
      return setAside(run, "its request cannot be read: it was erased, or queued by a newer version");
    if (run.attempt > maxAttempts) return giveUp(run);
    try {
      const status = await whenStoreIsBack(() => endQueuedRun(agent, run, request, left));
      await whenStoreIsBack(async () => (await queueOf()).finish(id, run.runId));
      report(run, status);
    } catch (error) {
      if (error instanceof LeftToOthers || error instanceof AgentClosedError || isStoreAway(error))
        throw error;
      await setAside(run, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
  };

  const giveBack = async (run: ClaimedRun, error: unknown) => {
    if (error instanceof AgentClosedError) stopping.abort();
    if (!(error instanceof LeftToOthers)) {
      onError?.(error);
      await pause(pollMs);
    }
    // Who cannot say so lets the claim run out.
    await queueOf()
      .then((queue) => queue.release(id, run.runId))
      .catch(() => undefined);
    report(run, "returned");
  };

  const take = (run: ClaimedRun) => {
    const left = new AbortController();
    const done = work(run, left.signal)
      .catch((error: unknown) => giveBack(run, error))
      .finally(() => {
        hand.delete(run.runId);
        news.announce();
      });
    hand.set(run.runId, { threadId: run.threadId, left, work: done });
  };

  const accept = async (run: ClaimedRun) => {
    // It was told to stop while it asked.
    if (stopping.signal.aborted) await (await queueOf()).release(id, run.runId);
    // A claim of its own that ran out while this process was busy comes back to it: it has that run already.
    else if (!hand.has(run.runId)) take(run);
  };

  const renew = async () => {
    const runIds = [...hand.keys()];
    if (runIds.length === 0) return;
    const held = new Set(await (await queueOf()).renew(id, runIds, leaseMs));
    // What another worker has is left to it; a run that is executed here goes on for as long as the log lets it.
    for (const runId of runIds) if (!held.has(runId)) hand.get(runId)?.left.abort(new LeftToOthers());
  };
  const renewal = setInterval(() => {
    renew().catch((error: unknown) => onError?.(error));
  }, leaseMs / renewalsPerLease);

  const rest = async (seen: number, ms: number) => {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, stopping.signal]);
    const timer = setTimeout(() => over.abort(), ms);
    await news.beyond(seen, signal);
    clearTimeout(timer);
  };

  const main = async () => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const seen = news.count;
      const limit = concurrency - hand.size;
      try {
        const claimed =
          limit > 0 ? await (await queueOf()).claim({ owner: id, agent: agent.name, leaseMs, limit }) : [];
        failures = 0;
        for (const run of claimed) await accept(run);
        if (claimed.length === 0 && hand.size === 0) {
          idle = true;
          news.announce();
          await rest(news.count, pollMs);
        } else {
          idle = false;
          if (claimed.length < limit || limit === 0) await rest(seen, pollMs);
        }
      } catch (error) {
        onError?.(error);
        await rest(seen, backOff(failures));
        failures += 1;
      }
    }
  };
  const ended = main();

  const isWorkLeft = async (): Promise<boolean> => {
    try {
      const entries = await (await queueOf()).list(entriesLookedAt);
      return entries.some((entry) => entry.agent === agent.name && entry.state !== "parked");
    } catch (error) {
      onError?.(error);
      return true;
    }
  };

  const leave = async (runId: string, threadId: string) => {
    await threads.use(threadId, async ({ active, environment }) => {
      if (active?.scope.runId === runId && environment.recovery === "close") {
        await active.cancel("the worker was stopped");
        return;
      }
      hand.get(runId)?.left.abort(new LeftToOthers());
      if (active?.scope.runId === runId) active.abandon();
    });
  };

  const stop = async (graceMs: number) => {
    stopping.abort();
    await ended;
    const all = () => Promise.all([...hand.values()].map((one) => one.work));
    await Promise.race([all(), pause(graceMs, undefined, { ref: false })]);
    // An agent that was closed meanwhile has ended its runs.
    await Promise.allSettled([...hand].map(([runId, { threadId }]) => leave(runId, threadId)));
    await all();
    clearInterval(renewal);
    news.end();
  };
  let stopped: Promise<void> | undefined;

  return {
    id,
    get size() {
      return hand.size;
    },
    async whenIdle() {
      do {
        for (idle = false; !idle && !stopping.signal.aborted; ) await news.beyond(news.count);
      } while (!stopping.signal.aborted && (await isWorkLeft()));
    },
    stop({ graceMs = 10_000 } = {}) {
      stopped ??= stop(graceMs);
      return stopped;
    },
  };
}
