import type { RecordedEvent } from "../../../events/envelope.ts";
import type { Json } from "../../../events/json.ts";
import { createNews } from "../../../events/log/news.ts";
import type { ClaimedRun, QueuedRun, QueueEntry, RunQueue } from "../../../events/queue/run-queue.ts";

/** Runs that stand in line behind others of their thread, kept in the store's queue until they have begun. */
export interface RunLine {
  /** Resolves when the run is durable. */
  add(run: Omit<QueuedRun, "agent"> & { readonly graphId: string }): Promise<void>;
  /**
   * Resolves when the run is the first in its line, and for this server to start; with its first event when another
   * server was given it and has started it.
   *
   * @param signal ends the wait; its reason is thrown
   */
  turn(run: Pick<QueuedRun, "runId" | "threadId">, signal: AbortSignal): Promise<RecordedEvent | undefined>;
  /** True while a run is for this server to start. */
  holds(runId: string): boolean;
  /** Takes a run out that has begun, or never will. */
  leave(runId: string): Promise<void>;
  /** Lets another server have a run. */
  giveBack(runId: string): Promise<void>;
  /** Takes a run out that cannot be started, and keeps the reason. */
  setAside(runId: string, reason: string): Promise<void>;
  /** Runs of one thread that stand in line, whichever server took them. */
  ofThread(threadId: string): Promise<readonly QueueEntry[]>;
  /** Takes runs whose server is gone, and those whose turn has come. */
  look(): Promise<void>;
  /** Resolves when this server claims nothing any more. */
  stop(): Promise<void>;
}

/** Runs that are taken from the queue at a time. */
const runsPerClaim = 100;
/** Entries of the queue that are looked through for those of one thread. */
const maxEntries = 10_000;
const renewalsPerLease = 3;

/** The name under which runs of a graph stand in the queue: they are requests of this API, and for servers alone. */
function nameOf(graphId: string): string {
  return `http:${graphId}`;
}

/**
 * @param options.adopt starts to look after a run that no server looks after any more
 * @param options.begun the first event of a run, if it has begun
 */
export function createRunLine(options: {
  readonly queue: RunQueue;
  readonly graphs: readonly string[];
  /** Milliseconds after which other servers take over what stands in line here, when this one falls silent. */
  readonly leaseMs: number;
  readonly adopt: (run: ClaimedRun) => void;
  readonly begun: (run: Pick<QueuedRun, "runId" | "threadId">) => Promise<RecordedEvent | undefined>;
  readonly onError: (error: unknown) => void;
}): RunLine {
  const { queue, graphs, leaseMs, adopt, begun, onError } = options;
  const owner = crypto.randomUUID();
  const held = new Set<string>();
  const expected = new Set<string>();
  const news = createNews();
  let claiming: Promise<void> | undefined;
  let again = false;

  const claimAll = async () => {
    let isNews = false;
    do {
      again = false;
      for (const graph of graphs) {
        if (news.ended) return;
        const claimed = await queue.claim({ owner, agent: nameOf(graph), leaseMs, limit: runsPerClaim });
        for (const run of claimed) {
          isNews = true;
          held.add(run.runId);
          if (!expected.has(run.runId)) adopt(run);
        }
      }
    } while (again);
    if (isNews) news.announce();
  };
  /** Takes what has come to its turn. Calls at once are one; each sees what was there when it was made. */
  const claim = async (): Promise<void> => {
    again = true;
    claiming ??= claimAll().finally(() => {
      claiming = undefined;
    });
    await claiming;
  };
  const renewal = setInterval(() => {
    const runIds = [...held];
    queue
      .renew(owner, runIds, leaseMs)
      .then((kept) => {
        for (const runId of runIds) if (!kept.includes(runId)) held.delete(runId);
      })
      .catch(onError);
  }, leaseMs / renewalsPerLease);
  renewal.unref();

  /** Ends the claim of a run, and looks whose turn it is now. */
  const end = async (runId: string, work: () => Promise<unknown>) => {
    held.delete(runId);
    expected.delete(runId);
    await work();
    if (!news.ended) await claim();
  };

  return {
    async add({ graphId, ...run }) {
      expected.add(run.runId);
      await queue.add({ ...run, agent: nameOf(graphId) });
    },
    async turn(run, signal) {
      expected.add(run.runId);
      await claim();
      for (;;) {
        signal.throwIfAborted();
        const seen = news.count;
        if (held.has(run.runId)) return undefined;
        const first = await begun(run);
        if (first) {
          expected.delete(run.runId);
          return first;
        }
        await news.beyond(seen, signal);
      }
    },
    holds: (runId) => held.has(runId),
    async leave(runId) {
      await end(runId, async () => {
        await queue.finish(owner, runId);
        // One that was not claimed yet is nobody's.
        await queue.withdraw(runId);
      });
    },
    giveBack: (runId) => end(runId, () => queue.release(owner, runId)),
    setAside: (runId, reason) => end(runId, () => queue.park(owner, runId, reason)),
    async ofThread(threadId) {
      return (await queue.list(maxEntries)).filter((entry) => entry.threadId === threadId);
    },
    async look() {
      await claim();
      news.announce();
    },
    async stop() {
      clearInterval(renewal);
      news.end();
      await claiming;
    },
  };
}

/** A value as the queue keeps it. */
export function queueJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
