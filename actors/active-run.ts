import { RunCancelRequested } from "../events/run.ts";
import type { RunPhase } from "../reducers/run-facts.ts";
import { deferred } from "./deferred.ts";
import type { ThreadLifecycle } from "./lifecycle.ts";
import { entryPhase } from "./run-phases.ts";
import { RunClosedError, type RunScope, recordInRun } from "./run-scope.ts";
import { callsReport, runStep } from "./run-steps.ts";
import { type RunEnd, settleRun } from "./settle-run.ts";

/** A run that this process executes. */
export interface ActiveRun {
  readonly scope: RunScope;
  /** How it ended, once that is recorded. Rejects when the end could not be recorded. */
  readonly ended: Promise<RunEnd>;
  /**
   * Records the request, stops the run, and resolves when it has ended, in whichever way.
   * @param options.recorded the request is in the log already
   */
  cancel(reason: string, options?: { readonly recorded?: boolean }): Promise<void>;
  /** Stops the work and records nothing: another process has the run, or shall have it. */
  abandon(): void;
}

/** Model calls and phases that a run may take when nothing is said. */
const defaultLimits = { maxModelCalls: 100, maxSteps: 1_000 } as const;

/** Lets a run that is recorded as started go through its phases. */
export function driveRun(options: {
  readonly scope: RunScope;
  readonly controller: AbortController;
  readonly lifecycle: ThreadLifecycle;
  readonly phase: RunPhase;
  readonly modelCalls: number;
  readonly steps: number;
}): ActiveRun {
  const { scope, controller, lifecycle, phase, modelCalls, steps } = options;
  let cancelReason = "cancelled";
  let cancelling = false;
  let settling = false;
  const end = deferred<RunEnd>();
  end.promise.catch(() => undefined);
  const settled = async (): Promise<void> => {
    await end.promise.catch(() => undefined);
  };
  const stop = (reason: string) => {
    controller.abort(new DOMException(reason, "AbortError"));
    lifecycle.cancel();
  };

  const { limits: ofRun } = scope.options;
  const { limits: ofAgent } = scope.environment;
  const { hooks } = scope.environment;
  const started = lifecycle.run({
    phase: entryPhase(phase, callsReport(scope), hooks),
    hooks,
    modelCalls,
    steps,
    maxModelCalls: ofRun?.maxModelCalls ?? ofAgent.maxModelCalls ?? defaultLimits.maxModelCalls,
    maxSteps: ofRun?.maxSteps ?? ofAgent.maxSteps ?? defaultLimits.maxSteps,
    work: {
      step(current, ordinal) {
        scope.ordinal = ordinal;
        const step = runStep(scope, current, ordinal);
        scope.step = step;
        return step;
      },
      async settle(settlement) {
        settling = true;
        try {
          end.resolve(await settleRun(scope, settlement, cancelReason));
        } catch (error) {
          scope.closed = true;
          controller.abort(error);
          end.reject(error);
          throw error;
        }
      },
    },
  });
  if (!started) {
    throw new Error(`The lifecycle of thread ${scope.threadId} takes no run in ${lifecycle.state}.`);
  }

  return {
    scope,
    ended: end.promise,
    async cancel(reason, { recorded = false } = {}) {
      if (cancelling || settling) return settled();
      cancelling = true;
      cancelReason = reason;
      const { runId, ordinal } = scope;
      try {
        const draft = RunCancelRequested({ runId, reason });
        if (!recorded) await recordInRun(scope, [{ draft, by: "client" }], ordinal);
      } catch (error) {
        if (!(error instanceof RunClosedError)) throw error;
      } finally {
        // A request that could not be recorded stops the run all the same.
        stop(reason);
      }
      await settled();
    },
    abandon() {
      scope.closed = true;
      scope.abandoned = true;
      stop("the run is left to another process");
    },
  };
}
