import type { ThreadFacts } from "../reducers/run-facts.ts";
import type { LiveThread } from "./live-thread.ts";

/** A run is open on the thread. Nothing was recorded. */
export class ThreadBusyError extends Error {
  override readonly name = "ThreadBusyError";
  constructor(
    readonly threadId: string,
    readonly runId: string,
    /** Id of the process that executes the run. */
    readonly owner: string,
  ) {
    super(
      `Thread ${threadId} is busy. Its run ${runId} (owner ${owner}) is open. Wait for its end, cancel it, or start with whenBusy "enqueue" or "interrupt".`,
    );
  }
}

/** @throws {ThreadBusyError} */
export function checkFree(thread: LiveThread, facts: ThreadFacts = thread.appender.view.facts): void {
  if (facts.run) throw new ThreadBusyError(thread.id, facts.run.runId, facts.run.owner);
}
