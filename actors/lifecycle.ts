import type { RunPhase } from "../reducers/run-facts.ts";
import { nextPhase, phases, type StepReport } from "./run-phases.ts";

export type { StepReport } from "./run-phases.ts";

/** Why a run leaves its loop. */
export type RunEnding = "completed" | "interrupted" | "cancelled" | "failed";

/** Why a run completed early. */
export type BudgetStop = "max-model-calls" | "max-steps";

/** What is known of a run when it is to be closed. */
export interface Settlement {
  readonly ending: RunEnding;
  readonly stopReason: BudgetStop | undefined;
  readonly error: unknown;
}

/** The work behind the machine. The runtime owns the abort signal: leaving a state does not stop the work. */
export interface StepWork {
  step(phase: RunPhase, ordinal: number): Promise<StepReport>;
  /** Records the end of the run. */
  settle(settlement: Settlement): Promise<void>;
}

/** How a run begins: where, with which counts (a run that is taken over goes on counting), and with which budgets. */
export interface RunEntry {
  readonly phase: RunPhase;
  readonly modelCalls: number;
  readonly steps: number;
  readonly maxModelCalls: number;
  readonly maxSteps: number;
  /** Phases that have hooks; the others of them are passed over. */
  readonly hooks: ReadonlySet<RunPhase>;
  readonly work: StepWork;
}

/** States in which no run is under way and one can begin. */
export const restStates = ["idle", "interrupted", "cancelled", "failed"] as const;

/** One live lifecycle. */
export interface ThreadLifecycle {
  /** The state it is in: `idle`, `running.model`, `settling` … */
  readonly state: string;
  /** Starts a run. Gives false when one is under way. */
  run(entry: RunEntry): boolean;
  /** Leaves the loop at once; `settle` is called with `cancelled`. */
  cancel(): void;
  /** Ends the actor. Refused (false) while a run is under way. */
  passivate(): boolean;
}

/** One way from a state of the lifecycle to another. `when` says what has to hold; the first that holds is taken. */
export interface LifecycleTransition {
  readonly from: string;
  readonly to: string;
  readonly when: string;
}

function transitionsOf(phase: RunPhase): LifecycleTransition[] {
  const from = phase;
  const end = phase === "afterAgent" ? "settling" : "afterAgent";
  return [
    { from, to: "settling", when: "it asks a human" },
    { from, to: end, when: "a budget is spent and it would go on" },
    { from, to: "beforeModel", when: "it jumps to model" },
    { from, to: "tools", when: "it jumps to tools and calls are open" },
    { from, to: end, when: "it jumps to end, or to tools without open calls" },
    ...(phase === "afterModel" ? [{ from, to: "afterAgent", when: "no calls are open" }] : []),
    ...(phase === "beforeAgent" ? [{ from, to: "tools", when: "calls wait for their results" }] : []),
    { from, to: nextPhase[phase], when: "otherwise" },
    { from, to: "settling", when: "it fails, or the run is cancelled" },
  ];
}

/**
 * The lifecycle as data: its states and the ways between them, for people and pages that show it. A phase whose hooks
 * no middleware has is passed over.
 */
export const threadMachineDefinition: {
  readonly initial: string;
  readonly phases: readonly RunPhase[];
  readonly states: readonly string[];
  readonly transitions: readonly LifecycleTransition[];
} = {
  initial: "idle",
  phases,
  states: [...restStates, ...phases, "settling", "passivated"],
  transitions: [
    ...restStates.flatMap((from) => [
      { from, to: "beforeAgent", when: "a run starts (where it stopped, when it resumes)" },
      { from, to: "passivated", when: "it leaves memory" },
    ]),
    ...phases.flatMap(transitionsOf),
    { from: "settling", to: "idle", when: "RunCompleted is recorded" },
    { from: "settling", to: "interrupted", when: "RunInterrupted is recorded" },
    { from: "settling", to: "cancelled", when: "RunCancelled is recorded" },
    { from: "settling", to: "failed", when: "RunFailed is recorded, or the end could not be recorded" },
  ],
};
