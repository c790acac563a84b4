import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { threadMachineDefinition } from "../../actors/lifecycle.ts";
import type { DrivenLifecycle } from "./driven-lifecycle.ts";
import type { LifecycleCoverage } from "./lifecycle-coverage.ts";
import {
  accepts,
  type RunSetting,
  type TwinEvent,
  type TwinReport,
  type TwinState,
  twinStep,
} from "./lifecycle-twin.ts";

/** The model of a model-based test: the twin, and what was covered. */
export interface LifecycleModel {
  twin: TwinState;
  readonly setting: RunSetting;
  readonly coverage: LifecycleCoverage;
}

/** The machine and its twin came to different states. */
export class TwinDiffersError extends Error {
  override readonly name = "TwinDiffersError";
  constructor(event: TwinEvent, expected: unknown, actual: unknown) {
    super(
      `After ${JSON.stringify(event)} the machine is at ${JSON.stringify(actual)}, its twin at ${JSON.stringify(expected)}. One of the two has the rule wrong.`,
    );
  }
}

type LifecycleCommand = fc.AsyncCommand<LifecycleModel, DrivenLifecycle>;

function commandFor(event: TwinEvent): LifecycleCommand {
  return {
    check: ({ twin }) => accepts(twin, event),
    async run(model, real) {
      const { next, taken } = twinStep(model.twin, event, model.setting);
      const done = await real.take(event, model.setting);
      if (!done || real.at !== next.at) throw new TwinDiffersError(event, next.at, real.at);
      if (next.at === "settling") {
        const { ending, stopped } = next;
        const { ending: wasEnding, stopReason } = real.settlement ?? {};
        const [expected, actual] = [
          { ending, stopped },
          { ending: wasEnding, stopped: stopReason },
        ];
        if (!isDeepStrictEqual(expected, actual)) throw new TwinDiffersError(event, expected, actual);
      }
      model.twin = next;
      model.coverage.take(taken, next.at);
    },
    toString: () => JSON.stringify(event),
  };
}

const reports: fc.Arbitrary<TwinReport> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ openCalls: fc.nat(2), callsNeedModel: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      jumpTo: fc.constantFrom("model" as const, "tools" as const, "end" as const),
      openCalls: fc.nat(1),
      callsNeedModel: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      interrupted: fc.constant(true as const),
      openCalls: fc.nat(1),
      callsNeedModel: fc.boolean(),
    }),
  },
);

/**
 * Commands for a model-based test of the lifecycle: runs, reports of steps, failures, cancels, ends that are recorded
 * or not, passivation. Use with `fc.asyncModelRun`.
 *
 * @example
 * fc.assert(fc.asyncProperty(lifecycleCommands(), (commands) =>
 *   fc.asyncModelRun(() => ({ model: { twin: twinStart, setting, coverage }, real: driveLifecycle() }), commands)));
 */
export function lifecycleCommands(
  options: { readonly maxCommands?: number } = {},
): fc.Arbitrary<Iterable<LifecycleCommand>> {
  const { maxCommands = 40 } = options;
  const { phases } = threadMachineDefinition;
  const run = fc
    .oneof(fc.constant("beforeAgent" as const), fc.constantFrom(...phases))
    .map((phase): TwinEvent => ({ type: "RUN", phase }));
  const report = reports.map((one): TwinEvent => ({ type: "REPORT", report: one }));
  const settled = fc
    .oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false))
    .map((recorded): TwinEvent => ({ type: "SETTLED", recorded }));
  const other = (type: "FAIL" | "CANCEL" | "PASSIVATE") => fc.constant<TwinEvent>({ type });
  // The shrinker of commands ignores bias, so the weights are in the list itself.
  const events = [
    run,
    run,
    run,
    report,
    report,
    report,
    report,
    report,
    report,
    settled,
    settled,
    settled,
    other("FAIL"),
    other("CANCEL"),
  ];
  const passivate = other("PASSIVATE");
  return fc.commands(
    [...events, passivate].map((event) => event.map(commandFor)),
    { maxCommands, size: "max" },
  );
}
