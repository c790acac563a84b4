import { threadMachineDefinition } from "../../actors/lifecycle.ts";
import type { RunPhase } from "../../reducers/run-facts.ts";

/** What can happen to a thread's lifecycle, with everything that a step may report. */
export type TwinEvent =
  | { readonly type: "RUN"; readonly phase: RunPhase }
  | { readonly type: "REPORT"; readonly report: TwinReport }
  | { readonly type: "FAIL" }
  | { readonly type: "CANCEL" }
  | { readonly type: "SETTLED"; readonly recorded: boolean }
  | { readonly type: "PASSIVATE" };

export interface TwinReport {
  readonly jumpTo?: "model" | "tools" | "end";
  readonly interrupted?: true;
  readonly openCalls: number;
  readonly callsNeedModel: boolean;
}

type Ending = "completed" | "interrupted" | "cancelled" | "failed";

/** The lifecycle as plain data: what the machine has to be in after the same events. */
export interface TwinState {
  /** `idle`, a phase, `settling` … */
  readonly at: string;
  readonly modelCalls: number;
  readonly steps: number;
  readonly ending: Ending;
  readonly stopped: "max-model-calls" | "max-steps" | undefined;
}

/** What a run is given: its budgets, and the phases that have hooks. */
export interface RunSetting {
  readonly maxModelCalls: number;
  readonly maxSteps: number;
  readonly hooks: ReadonlySet<RunPhase>;
}

/** One way that was taken, as the machine's definition names it. */
export interface TakenTransition {
  readonly from: string;
  readonly to: string;
  readonly when: string;
}

const { phases } = threadMachineDefinition;
const rest = ["idle", "interrupted", "cancelled", "failed"];

export const twinStart: TwinState = {
  at: "idle",
  modelCalls: 0,
  steps: 0,
  ending: "completed",
  stopped: undefined,
};

function isPhase(at: string): at is RunPhase {
  return phases.some((phase) => phase === at);
}

/** True when the lifecycle has an answer to the event. */
export function accepts({ at }: TwinState, event: TwinEvent): boolean {
  switch (event.type) {
    case "RUN":
    case "PASSIVATE":
      return rest.includes(at);
    case "SETTLED":
      return at === "settling";
    default:
      return isPhase(at);
  }
}

function enter(state: TwinState, phase: string): TwinState {
  return {
    ...state,
    at: phase,
    steps: state.steps + 1,
    modelCalls: state.modelCalls + (phase === "model" ? 1 : 0),
  };
}

const following: Readonly<Record<RunPhase, string>> = {
  beforeAgent: "beforeModel",
  beforeModel: "model",
  model: "afterModel",
  afterModel: "tools",
  tools: "beforeModel",
  afterAgent: "settling",
};

/** The rules of one report in the order in which they count. */
function afterReport(
  state: TwinState,
  report: TwinReport,
  setting: RunSetting,
): { next: TwinState; when: string } {
  const phase = state.at as RunPhase;
  const go = (to: string) => (to === "settling" ? { ...state, at: to } : enter(state, to));
  if (report.interrupted)
    return { next: { ...state, at: "settling", ending: "interrupted" }, when: "it asks a human" };
  if (phase === "afterAgent" && state.stopped) return { next: go("settling"), when: "otherwise" };

  const { to: wanted, when } = wantedBy(phase, report);
  const to = pastEmpty(wanted, report, setting);
  const stopped = spent(state, to, report, setting);
  if (!stopped) return { next: go(to), when };
  const out = phase === "afterAgent" ? "settling" : pastEmpty("afterAgent", report, setting);
  return { next: { ...go(out), stopped }, when: "a budget is spent and it would go on" };
}

function wantedBy(phase: RunPhase, { jumpTo, openCalls }: TwinReport): { to: string; when: string } {
  const end = phase === "afterAgent" ? "settling" : "afterAgent";
  if (jumpTo === "model") return { to: "beforeModel", when: "it jumps to model" };
  if (jumpTo === "tools" && openCalls > 0)
    return { to: "tools", when: "it jumps to tools and calls are open" };
  if (jumpTo !== undefined) return { to: end, when: "it jumps to end, or to tools without open calls" };
  if (phase === "afterModel" && openCalls === 0) return { to: "afterAgent", when: "no calls are open" };
  if (phase === "beforeAgent" && openCalls > 0) return { to: "tools", when: "calls wait for their results" };
  return { to: following[phase], when: "otherwise" };
}

/** Phases without hooks are passed over; the model and the tools always work. */
function pastEmpty(to: string, report: TwinReport, setting: RunSetting): string {
  if (!isPhase(to) || to === "model" || to === "tools" || setting.hooks.has(to)) return to;
  const { openCalls, callsNeedModel } = report;
  return pastEmpty(wantedBy(to, { openCalls, callsNeedModel }).to, report, setting);
}

function spent(
  state: TwinState,
  to: string,
  { callsNeedModel }: TwinReport,
  setting: RunSetting,
): TwinState["stopped"] {
  if (to === "afterAgent" || to === "settling") return undefined;
  if (state.steps >= setting.maxSteps) return "max-steps";
  const needsModel = to === "beforeModel" || to === "model" || (to === "tools" && callsNeedModel);
  return needsModel && state.modelCalls >= setting.maxModelCalls ? "max-model-calls" : undefined;
}

function restAfter(state: TwinState, recorded: boolean): string {
  if (!recorded) return "failed";
  return state.ending === "completed" ? "idle" : state.ending;
}

const recordedAs: Readonly<Record<string, string>> = {
  idle: "RunCompleted is recorded",
  interrupted: "RunInterrupted is recorded",
  cancelled: "RunCancelled is recorded",
  failed: "RunFailed is recorded, or the end could not be recorded",
};

/**
 * The lifecycle after one event, and the transition that this was by the machine's own definition. A pure twin of the
 * machine: it waits for nothing and starts nothing. Events that are not accepted change nothing.
 *
 * @example
 * twinStep(twinStart, { type: "RUN", phase: "beforeAgent" }, setting).next.at; // "beforeAgent"
 */
export function twinStep(
  state: TwinState,
  event: TwinEvent,
  setting: RunSetting,
): { readonly next: TwinState; readonly taken: TakenTransition | undefined } {
  if (!accepts(state, event)) return { next: state, taken: undefined };
  const taken = (next: TwinState, when: string) => ({ next, taken: { from: state.at, to: next.at, when } });
  const fails = "it fails, or the run is cancelled";
  switch (event.type) {
    case "RUN":
      return {
        next: enter(twinStart, event.phase),
        taken: {
          from: state.at,
          to: "beforeAgent",
          when: "a run starts (where it stopped, when it resumes)",
        },
      };
    case "PASSIVATE":
      return taken({ ...state, at: "passivated" }, "it leaves memory");
    case "FAIL":
      return taken({ ...state, at: "settling", ending: "failed" }, fails);
    case "CANCEL":
      return taken({ ...state, at: "settling", ending: "cancelled" }, fails);
    case "SETTLED": {
      const at = restAfter(state, event.recorded);
      return taken({ ...state, at }, recordedAs[at] ?? "");
    }
    case "REPORT": {
      const { next, when } = afterReport(state, event.report, setting);
      return taken(next, when);
    }
    default: {
      const never: never = event;
      throw never;
    }
  }
}
