import type { AnyProjection } from "../../projections/define-projection.ts";
import { threadList } from "../../projections/thread-list.ts";
import { usage } from "../../projections/usage.ts";

/** What a worker's process is told. */
export interface WorkerSettings {
  readonly url: string;
  readonly acknowledgedFile: string;
  readonly toolFile: string;
  /** Runs at the same time in one process. */
  readonly concurrency: number;
  readonly leaseMs: number;
  /** Tool calls of one run. */
  readonly toolCalls: number;
  /** Milliseconds that a tool, or an answer of the model, takes at most. */
  readonly toolMs: number;
  readonly modelMs: number;
}

/** Read models that the workers keep up to date, one of them each. */
export const clusterProjections: readonly AnyProjection[] = [threadList, usage];
