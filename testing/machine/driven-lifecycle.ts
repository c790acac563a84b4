import { deferred } from "../../actors/deferred.ts";
import type { Settlement, StepReport } from "../../actors/lifecycle.ts";
import { startLifecycle } from "../../actors/thread-machine.ts";
import type { RunPhase } from "../../reducers/run-facts.ts";
import type { RunSetting, TwinEvent } from "./lifecycle-twin.ts";

type Waiting<Result> = ReturnType<typeof deferred<Result>>;

/** The real machine with its steps in the hands of a test: a step ends when the test says how. */
export interface DrivenLifecycle {
  /** As the machine names it: `idle`, `running.model` … without the prefix. */
  readonly at: string;
  /** Phases that were entered, in order. */
  readonly entered: readonly RunPhase[];
  /** What the last run was to be closed with. */
  readonly settlement: Settlement | undefined;
  /** Does to the machine what the event says, and waits until it rests in a state. */
  take(event: TwinEvent, setting: RunSetting): Promise<boolean>;
}

/** A turn of the event loop: all promises that are settled have told the machine. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Starts the real lifecycle machine.
 *
 * @throws whatever the machine itself throws, out of `take`
 */
export function driveLifecycle(): DrivenLifecycle {
  const entered: RunPhase[] = [];
  let broken: unknown;
  let step: Waiting<StepReport> | undefined;
  let settling: Waiting<void> | undefined;
  let settlement: Settlement | undefined;
  const lifecycle = startLifecycle((error) => {
    broken = error;
  });
  const work = {
    step(phase: RunPhase): Promise<StepReport> {
      entered.push(phase);
      step = deferred<StepReport>();
      return step.promise;
    },
    settle(how: Settlement): Promise<void> {
      settlement = how;
      settling = deferred<void>();
      return settling.promise;
    },
  };
  const send = (event: TwinEvent, setting: RunSetting): boolean => {
    switch (event.type) {
      case "RUN":
        return lifecycle.run({ phase: event.phase, modelCalls: 0, steps: 0, ...setting, work });
      case "PASSIVATE":
        return lifecycle.passivate();
      case "CANCEL":
        lifecycle.cancel();
        return true;
      case "REPORT":
        step?.resolve(event.report);
        return true;
      case "FAIL":
        step?.reject(new Error("a step failed"));
        return true;
      case "SETTLED":
        if (event.recorded) settling?.resolve();
        else settling?.reject(new Error("the end could not be recorded"));
        return true;
      default: {
        const never: never = event;
        throw never;
      }
    }
  };
  return {
    get at() {
      return lifecycle.state.replace(/^running\./, "");
    },
    entered,
    get settlement() {
      return settlement;
    },
    async take(event, setting) {
      const done = send(event, setting);
      await turn();
      if (broken) throw broken;
      return done;
    },
  };
}
