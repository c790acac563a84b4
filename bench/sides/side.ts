/** One product at work, in a process of its own. */
export interface Side {
  /** Runs one one-tool turn on a thread to its end. */
  turn(threadId: string, turn: number): Promise<void>;
  /** The state now, as a client reads it; gives the count of its messages. */
  stateNow(threadId: string): Promise<number>;
  /** States at shares of the thread's history (0 to 1); gives the time of each, in milliseconds. */
  timesOfStates(threadId: string, shares: readonly number[]): Promise<readonly number[]>;
  /** The ten newest history rows with their states; gives the count of rows. */
  tenRows(threadId: string): Promise<number>;
  close(): Promise<void>;
}

export interface SideOptions {
  readonly folder: string;
  /** Milliseconds each model answer takes. */
  readonly latencyMs: number;
}

/** Milliseconds by the wall. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
