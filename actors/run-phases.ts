import type { RunPhase } from "../reducers/run-facts.ts";
import type { JumpTarget } from "./middleware/define-middleware.ts";

export const phases = ["beforeAgent", "beforeModel", "model", "afterModel", "tools", "afterAgent"] as const;

/** What one step of a run tells the machine. Only ids, counts and flags: never content. */
export interface StepReport {
  readonly jumpTo?: JumpTarget | undefined;
  /** Questions were asked: the run stops here. */
  readonly interrupted?: boolean;
  /** Tool calls of the last answer without a result. */
  readonly openCalls?: number;
  /** At least one of them has a result that the model must see. */
  readonly callsNeedModel?: boolean;
}

/** Where a phase leads: to a phase, or out of the loop. */
export type Destination = RunPhase | "settling";

/** Where each phase goes when nothing else is asked. */
export const nextPhase: Readonly<Record<RunPhase, Destination>> = {
  beforeAgent: "beforeModel",
  beforeModel: "model",
  model: "afterModel",
  afterModel: "tools",
  tools: "beforeModel",
  afterAgent: "settling",
};

/** Where a phase that ended leads, budgets and missing hooks aside. */
export function destination(phase: RunPhase, report: StepReport): Destination {
  const openCalls = report.openCalls ?? 0;
  const end = phase === "afterAgent" ? "settling" : "afterAgent";
  if (report.jumpTo === "end") return end;
  if (report.jumpTo === "model") return "beforeModel";
  if (report.jumpTo === "tools") return openCalls > 0 ? "tools" : end;
  if (phase === "afterModel" && openCalls === 0) return end;
  // Without a new message a run goes on where the thread stands: with the calls that wait there.
  if (phase === "beforeAgent" && openCalls > 0) return "tools";
  return nextPhase[phase];
}

/** The same, past phases that have no hooks: they cost nothing. */
export function pastEmptyPhases(
  phase: RunPhase,
  report: StepReport,
  hooks: ReadonlySet<RunPhase>,
): Destination {
  let to = destination(phase, report);
  while (to !== "settling" && isEmpty(to, hooks)) to = destination(to, { ...report, jumpTo: undefined });
  return to;
}

function isEmpty(phase: RunPhase, hooks: ReadonlySet<RunPhase>): boolean {
  return phase !== "model" && phase !== "tools" && !hooks.has(phase);
}

/** Where a run begins that is to begin at `phase`. */
export function entryPhase(phase: RunPhase, report: StepReport, hooks: ReadonlySet<RunPhase>): RunPhase {
  const to = isEmpty(phase, hooks) ? pastEmptyPhases(phase, report, hooks) : phase;
  return to === "settling" ? "afterAgent" : to;
}

/** The next thing is a model call, or a tool call whose result only a model call could use. */
export function needsModel(to: Destination, report: StepReport): boolean {
  return to === "beforeModel" || to === "model" || (to === "tools" && report.callsNeedModel === true);
}
