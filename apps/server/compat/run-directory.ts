import type { Run, RunResult } from "../../../actors/agent-contract.ts";
import type { RecordedEvent } from "../../../events/envelope.ts";
import type { State } from "../../../reducers/thread-state.ts";
import type { WireRunStatus } from "./run-records.ts";

/** A run was cancelled while it stood in line: nothing of it was recorded. */
export class RunDroppedError extends Error {
  override readonly name = "RunDroppedError";
  constructor(readonly runId: string) {
    super(`Run ${runId} was cancelled before it began. Nothing was recorded; start another one.`);
  }
}

/** The server stopped before a run had begun. It stands in line still, for the next server of the store. */
export class RunPostponedError extends Error {
  override readonly name = "RunPostponedError";
  constructor(readonly runId: string) {
    super(
      `The server stopped before run ${runId} began. It is kept, and begins when a server is started again.`,
    );
  }
}

/** A run that has begun, with what its followers need and would else read from the log. */
export interface BegunRun {
  /** Undefined when another server executes it. */
  readonly run: Run | undefined;
  /** `RunStarted`. */
  readonly first: RecordedEvent;
  /** The state before `first`; undefined when something else was recorded in between. */
  readonly stateBefore: State | undefined;
}

/** A run that was asked for here. */
export interface TrackedRun {
  readonly runId: string;
  readonly threadId: string;
  readonly graphId: string;
  readonly assistantId: string;
  readonly createdAt: string;
  readonly multitaskStrategy: string;
  /** Its request is in the store until it has begun. */
  readonly isKept: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** The run once its first event is recorded. Rejects when it never began. */
  readonly started: Promise<BegunRun>;
  /** How it ended, when all that belongs to its end is done. Never rejects; undefined: it never began. */
  readonly finished: Promise<RunResult | undefined>;
  readonly status: () => WireRunStatus;
  /** Takes a run out of the line. True when it had not begun. @param reason default: `RunDroppedError` */
  drop(reason?: Error): boolean;
}

/** The runs that were asked for in this process, as long as they are not over, and the lines that they stand in. */
export interface RunDirectory {
  /** Runs that have not ended. */
  readonly size: number;
  get(runId: string): TrackedRun | undefined;
  open(): readonly TrackedRun[];
  ofThread(threadId: string): readonly TrackedRun[];
  graphOf(threadId: string): string | undefined;
  /**
   * Tracks a run.
   * @param start begins it; its signal aborts when the run is not wanted any more
   * @param settle what belongs to its end besides the end itself
   */
  add(
    facts: Omit<TrackedRun, "started" | "finished" | "status" | "drop">,
    start: (dropped: AbortSignal) => Promise<BegunRun>,
    settle: (result: RunResult) => Promise<void>,
  ): TrackedRun;
  /** Does one thing after the other for each thread. */
  inLine<Result>(threadId: string, work: () => Promise<Result>): Promise<Result>;
  /** Resolves when no run is open. */
  idle(): Promise<void>;
}

/** Threads whose graph is remembered. */
const maxRememberedGraphs = 10_000;

export function createRunDirectory(): RunDirectory {
  const runs = new Map<string, TrackedRun>();
  const lines = new Map<string, Promise<unknown>>();
  const graphs = new Map<string, string>();

  return {
    get size() {
      return runs.size;
    },
    get: (runId) => runs.get(runId),
    open: () => [...runs.values()],
    ofThread: (threadId) => [...runs.values()].filter((run) => run.threadId === threadId),
    graphOf: (threadId) => graphs.get(threadId),
    add(facts, start, settle) {
      const { runId, threadId, graphId } = facts;
      graphs.delete(threadId);
      graphs.set(threadId, graphId);
      const [oldest] = graphs.keys();
      if (graphs.size > maxRememberedGraphs && oldest !== undefined) graphs.delete(oldest);
      let status: WireRunStatus = "pending";
      const dropping = new AbortController();
      const started = start(dropping.signal);
      const finish = async (): Promise<RunResult | undefined> => {
        try {
          const { run } = await started;
          // The log tells the rest.
          if (!run) return undefined;
          status = "running";
          const result = await run.result;
          await settle(result);
          return result;
        } catch {
          status = "error";
          return undefined;
        } finally {
          runs.delete(runId);
        }
      };
      started.catch(() => undefined);
      const finished = finish();
      const tracked: TrackedRun = {
        ...facts,
        started,
        finished,
        status: () => status,
        drop(reason = new RunDroppedError(runId)) {
          if (status !== "pending") return false;
          dropping.abort(reason);
          return true;
        },
      };
      runs.set(runId, tracked);
      return tracked;
    },
    async inLine(threadId, work) {
      const before = lines.get(threadId) ?? Promise.resolve();
      const mine = before.catch(() => undefined).then(work);
      const tail = mine.catch(() => undefined);
      lines.set(threadId, tail);
      try {
        return await mine;
      } finally {
        if (lines.get(threadId) === tail) lines.delete(threadId);
      }
    },
    async idle() {
      while (runs.size > 0) await Promise.all([...runs.values()].map((run) => run.finished));
    },
  };
}
