import type { ActiveRun } from "./active-run.ts";
import { recoverOnce } from "./admit-run.ts";
import { type LiveThread, loadThread } from "./live-thread.ts";
import { type Environment, RunLostError } from "./run-scope.ts";
import { ThreadBusyError } from "./thread-busy.ts";

/** The agent was closed; its threads take no more calls. */
export class AgentClosedError extends Error {
  override readonly name = "AgentClosedError";
  constructor(agent: string) {
    super(`Agent ${agent} is closed. Create another one to go on with its threads.`);
  }
}

/** Threads that are folded from the log at the same time; more wait. */
const maxConcurrentLoads = 50;
/** How often within the idle time the threads are looked over. */
const looksPerIdleTime = 4;

/** The threads of one agent that are in memory. */
export interface ThreadRegistry {
  /** Threads in memory. */
  readonly size: number;
  /** Opens the thread if need be, recovers a run that was left open, and keeps it in memory while `work` is under way. */
  use<Result>(threadId: string, work: (thread: LiveThread) => Promise<Result> | Result): Promise<Result>;
  /** Reads what others recorded of the runs that are open here: a request to cancel, or that they were taken over. */
  lookAtRuns(): void;
  /** Drops a thread from memory. @throws {ThreadBusyError} while a run is open here */
  passivate(threadId: string): Promise<void>;
  /** Ends all open runs (or leaves them for another process to continue) and drops all threads. */
  close(): Promise<void>;
}

/**
 * @param options.idleMs milliseconds after which a thread that nobody uses leaves memory
 */
export function createRegistry(options: {
  readonly environment: () => Promise<Environment>;
  readonly agentName: string;
  readonly idleMs: number;
}): ThreadRegistry {
  const { idleMs } = options;
  const threads = new Map<string, Promise<LiveThread>>();
  const opened = new Set<LiveThread>();
  const acquire = createSlots(maxConcurrentLoads);
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const load = async (threadId: string): Promise<LiveThread> => {
    const release = await acquire();
    try {
      const thread = await loadThread(threadId, await options.environment());
      await recoverOnce(thread);
      opened.add(thread);
      return thread;
    } finally {
      release();
    }
  };
  const open = (threadId: string): Promise<LiveThread> => {
    if (closed) return Promise.reject(new AgentClosedError(options.agentName));
    const known = threads.get(threadId);
    if (known) return known;
    const loading = load(threadId);
    threads.set(threadId, loading);
    // What could not be loaded is tried again by the next call.
    loading.catch(() => threads.delete(threadId));
    timer ??= setInterval(passivateIdle, idleMs / looksPerIdleTime).unref();
    return loading;
  };
  const drop = (thread: LiveThread): void => {
    thread.lifecycle.passivate();
    threads.delete(thread.id);
    opened.delete(thread);
    if (threads.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const passivateIdle = (): void => {
    const before = Date.now() - idleMs;
    for (const thread of opened) {
      if (!thread.active && thread.users === 0 && thread.lastUsedAt <= before) drop(thread);
    }
  };

  return {
    get size() {
      return threads.size;
    },
    async use(threadId, work) {
      const thread = await open(threadId);
      thread.users += 1;
      try {
        return await work(thread);
      } finally {
        thread.users -= 1;
        thread.lastUsedAt = Date.now();
      }
    },
    lookAtRuns() {
      for (const thread of opened) if (thread.active) thread.appender.catchUp().catch(() => undefined);
    },
    async passivate(threadId) {
      const thread = await threads.get(threadId);
      if (!thread) return;
      const { active, environment } = thread;
      if (active) throw new ThreadBusyError(threadId, active.scope.runId, environment.lease.owner);
      await thread.appender.settled();
      drop(thread);
    },
    async close() {
      closed = true;
      await Promise.allSettled(threads.values());
      await Promise.all([...opened].map((thread) => endRun(thread, thread.active)));
      for (const thread of [...opened]) drop(thread);
    },
  };
}

async function endRun(thread: LiveThread, active: ActiveRun | undefined): Promise<void> {
  if (!active) return;
  if (thread.environment.recovery === "continue") active.abandon();
  else {
    await active.cancel("the agent was closed").catch((error: unknown) => {
      // Another process has it: there is nothing left to end here.
      if (!(error instanceof RunLostError)) throw error;
    });
  }
  await active.ended.catch(() => undefined);
}

/** At most `count` holders at a time; the others wait in line. */
function createSlots(count: number): () => Promise<() => void> {
  let free = count;
  const waiting: (() => void)[] = [];
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return release;
  };
}
