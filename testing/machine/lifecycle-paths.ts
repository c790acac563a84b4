import { fromTransition } from "xstate";
import { getShortestPaths } from "xstate/graph";
import { threadMachineDefinition } from "../../actors/lifecycle.ts";
import {
  type RunSetting,
  type TwinEvent,
  type TwinReport,
  type TwinState,
  twinStart,
  twinStep,
} from "./lifecycle-twin.ts";

/** One way through the lifecycle: events from `idle` on, and where they lead. */
export interface LifecyclePath {
  readonly events: readonly TwinEvent[];
  readonly end: TwinState;
}

const reports: readonly TwinReport[] = [
  { interrupted: true, openCalls: 0, callsNeedModel: false },
  ...(["model", "tools", "end"] as const).map((jumpTo) => ({ jumpTo, openCalls: 1, callsNeedModel: true })),
  { jumpTo: "tools", openCalls: 0, callsNeedModel: false },
  { openCalls: 0, callsNeedModel: false },
  { openCalls: 1, callsNeedModel: true },
  { openCalls: 1, callsNeedModel: false },
];

const events: readonly TwinEvent[] = [
  ...threadMachineDefinition.phases.map((phase): TwinEvent => ({ type: "RUN", phase })),
  ...reports.map((report): TwinEvent => ({ type: "REPORT", report })),
  { type: "FAIL" },
  { type: "CANCEL" },
  { type: "SETTLED", recorded: true },
  { type: "SETTLED", recorded: false },
  { type: "PASSIVATE" },
];

/**
 * The shortest way to every state of the lifecycle that there is under this setting, each with every event that is
 * possible there as its last: every transition is the end of one of the ways.
 */
export function lifecyclePaths(setting: RunSetting): readonly LifecyclePath[] {
  const logic = fromTransition(
    (state: TwinState, event: TwinEvent) => twinStep(state, event, setting).next,
    twinStart,
  );
  const paths = getShortestPaths(logic, {
    events,
    serializeState: ({ context }) => JSON.stringify(context),
    limit: 100_000,
  });
  return paths.flatMap(({ state, steps }) => {
    const known = steps
      .map(({ event }) => event)
      .filter((event): event is TwinEvent => events.includes(event));
    return events.flatMap((event) => {
      const { next, taken } = twinStep(state.context, event, setting);
      return taken ? [{ events: [...known, event], end: next }] : [];
    });
  });
}
