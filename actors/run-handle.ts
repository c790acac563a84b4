import { runFactsField } from "../reducers/run-facts.ts";
import type { State } from "../reducers/thread-state.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Run, RunResult } from "./agent-contract.ts";
import { toErrorData } from "./error-data.ts";
import type { LiveThread } from "./live-thread.ts";
import type { RunEnd } from "./settle-run.ts";

const causes = new WeakMap<RunResult, unknown>();

/** What was thrown when a run failed in this process. */
export function causeOf(result: RunResult): unknown {
  return causes.get(result);
}

/** The result of a run, whether its end was recorded or not. */
export async function resultOf(thread: LiveThread, active: ActiveRun): Promise<RunResult> {
  const end = await active.ended.catch((error: unknown): RunEnd => {
    // The end is not in the log: the run is lost to another process, or the store is out of reach.
    const { view } = thread.appender;
    return {
      status: "failed",
      error: toErrorData(error),
      cause: error,
      stopReason: undefined,
      interrupts: [],
      view,
    };
  });
  const { scope } = active;
  const { status, interrupts, error, stopReason, view } = end;
  const result: RunResult = {
    runId: scope.runId,
    threadId: thread.id,
    status,
    state: view.state,
    fromVersion: scope.fromVersion,
    version: view.version,
    interrupts,
    error,
    stopReason,
    usage: { ...scope.usage },
  };
  causes.set(result, end.cause);
  return result;
}

/** A run that is under way, for somebody who did not start it. */
export function followRun(thread: LiveThread, active: ActiveRun): Run {
  const { scope } = active;
  return {
    runId: scope.runId,
    threadId: thread.id,
    result: resultOf(thread, active),
    cancel: (reason = "cancelled") => active.cancel(reason),
    [Symbol.asyncIterator]: () => scope.items[Symbol.asyncIterator](),
  };
}

/** A state as a reader folded it, without what is not part of it. */
export function withoutFacts(loaded: State): State {
  const { [runFactsField]: _, ...state } = loaded;
  return state;
}
