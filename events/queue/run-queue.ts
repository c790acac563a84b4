import type { Json } from "../json.ts";
import { checkText } from "../log/storable-text.ts";

/** A run that somebody asked for and that a worker has yet to start. */
export interface QueuedRun {
  /** Id that the run will have: the same id is queued once, and run once. */
  readonly runId: string;
  readonly threadId: string;
  /** Name of the agent that shall run it. */
  readonly agent: string;
  /** What the worker gives to the agent. */
  readonly request: Json;
  /** Version of the thread when the run was queued: no event of the run can be before it. */
  readonly afterVersion: number;
  /** ISO 8601, UTC. */
  readonly queuedAt: string;
}

export interface ClaimedRun extends QueuedRun {
  /** Counts from 1; more than 1: a worker before this one did not finish it. */
  readonly attempt: number;
}

/** `waiting`: for a worker, or for an earlier run of its thread; `claimed`: a worker has it; `parked`: given up. */
export type QueueState = "waiting" | "claimed" | "parked";

export interface QueueEntry extends QueuedRun {
  readonly state: QueueState;
  /** Workers that had it so far. */
  readonly attempts: number;
  /** The worker that has it. */
  readonly owner: string | undefined;
  /** Why it was parked. */
  readonly reason: string | undefined;
}

interface ClaimOptions {
  /** Opaque id of the worker. */
  readonly owner: string;
  /** Only runs of this agent. */
  readonly agent: string;
  /** Milliseconds after which others may take the runs, unless the claim is renewed. */
  readonly leaseMs: number;
  /** Runs at most. */
  readonly limit: number;
}

/**
 * Runs that wait for workers, beside the log. It says who should look after a run next; that a run is started once is
 * decided by the log alone. One contract suite (`test/events/queue/run-queue.contract.ts`) holds for all.
 */
export interface RunQueue {
  /** Resolves when the run is durable. A run id that is queued already changes nothing. @throws {InvalidTextError} */
  add(run: QueuedRun): Promise<void>;
  /**
   * Takes runs in the order they were queued, one of a thread at a time: the first that is not parked. Runs whose claim
   * ran out are given again.
   */
  claim(options: ClaimOptions): Promise<readonly ClaimedRun[]>;
  /** Prolongs claims and gives the run ids that are still this worker's. */
  renew(owner: string, runIds: readonly string[], leaseMs: number): Promise<readonly string[]>;
  /** Takes a run out that has ended. Does nothing when another worker has it. */
  finish(owner: string, runId: string): Promise<void>;
  /** Gives a run back that this worker did not finish; the attempt does not count. */
  release(owner: string, runId: string): Promise<void>;
  /** Sets a run aside that cannot be done, with the reason, so that later ones of its thread go on. */
  park(owner: string, runId: string, reason: string): Promise<void>;
  /** Entries in the order they were queued, `limit` at most. */
  list(limit: number): Promise<readonly QueueEntry[]>;
  /** Lets a parked run be claimed again. False: there is none of this id. */
  retry(runId: string): Promise<boolean>;
  /** Takes a run out that no worker has. False: there is none of this id, or a worker has it. */
  withdraw(runId: string): Promise<boolean>;
}

/** @throws {InvalidTextError} */
export function checkQueuedRun({ runId, threadId, agent }: QueuedRun): void {
  checkText("The run id", runId);
  checkText("The thread id", threadId);
  checkText("The name of the agent", agent);
}
