import { type Actor, assign, createActor, fromPromise, setup } from "xstate";
import type { RunPhase } from "../reducers/run-facts.ts";
import {
  type BudgetStop,
  type RunEnding,
  type RunEntry,
  restStates,
  type Settlement,
  type StepWork,
  type ThreadLifecycle,
} from "./lifecycle.ts";
import { type Destination, needsModel, pastEmptyPhases, phases, type StepReport } from "./run-phases.ts";

/**
 * The way from the machine to the work of the run. XState's own tables hold on to what actors were given until the
 * next full garbage collection: through this place they hold no run.
 */
interface WorkPlace {
  current: StepWork | undefined;
}

type MachineEntry = Omit<RunEntry, "work">;

type MachineEvent =
  | { readonly type: "RUN"; readonly entry: MachineEntry }
  | { readonly type: "CANCEL" }
  | { readonly type: "PASSIVATE" };

interface MachineContext {
  readonly place: WorkPlace;
  readonly entry: MachineEntry | undefined;
  readonly modelCalls: number;
  readonly steps: number;
  readonly settlement: Settlement;
}

const undecided: Settlement = { ending: "completed", stopReason: undefined, error: undefined };
/** Transitions in a row without waiting for anything; more mean a loop in the machine itself. */
const maxIterations = 1_000;

interface ReportOf {
  readonly phase: RunPhase;
  readonly report: StepReport;
}

const noHooks: ReadonlySet<RunPhase> = new Set();

function leadingTo({ entry }: MachineContext, { phase, report }: ReportOf): Destination {
  return pastEmptyPhases(phase, report, entry?.hooks ?? noHooks);
}

/** The way out of the loop: through the last hooks, where there are any. */
function wayOut({ entry }: MachineContext, phase: RunPhase): Destination {
  return phase !== "afterAgent" && entry?.hooks.has("afterAgent") ? "afterAgent" : "settling";
}

const threadSetup = setup({
  types: {
    context: {} as MachineContext,
    events: {} as MachineEvent,
    input: {} as { readonly place: WorkPlace },
  },
  actors: {
    step: fromPromise<StepReport, { place: WorkPlace; phase: RunPhase; ordinal: number }>(
      async ({ input }) => (await input.place.current?.step(input.phase, input.ordinal)) ?? {},
    ),
    settle: fromPromise<void, { place: WorkPlace; settlement: Settlement }>(async ({ input }) => {
      const work = input.place.current;
      input.place.current = undefined;
      await work?.settle(input.settlement);
    }),
  },
  guards: {
    entersAt: (_, params: { phase: RunPhase; entry: MachineEntry }) => params.entry.phase === params.phase,
    endsAs: ({ context }, params: { ending: RunEnding }) => context.settlement.ending === params.ending,
    asks: (_, params: { report: StepReport }) => params.report.interrupted === true,
    leadsTo: ({ context }, params: ReportOf & { to: Destination }) =>
      leadingTo(context, params) === params.to,
    stepsSpent: ({ context }, params: ReportOf & { to: Destination }) =>
      context.steps >= (context.entry?.maxSteps ?? 0) &&
      !["afterAgent", "settling"].includes(leadingTo(context, params)) &&
      wayOut(context, params.phase) === params.to,
    modelCallsSpent: ({ context }, params: ReportOf & { to: Destination }) =>
      context.modelCalls >= (context.entry?.maxModelCalls ?? 0) &&
      needsModel(leadingTo(context, params), params.report) &&
      wayOut(context, params.phase) === params.to,
    stopped: ({ context }) => context.settlement.stopReason !== undefined,
  },
  actions: {
    begin: assign((_, { entry }: { entry: MachineEntry }) => ({
      entry,
      modelCalls: entry.modelCalls,
      steps: entry.steps,
      settlement: undecided,
    })),
    countStep: assign(({ context }, { phase }: { phase: RunPhase }) => ({
      steps: context.steps + 1,
      modelCalls: context.modelCalls + (phase === "model" ? 1 : 0),
    })),
    stop: assign(({ context }, params: { reason: BudgetStop }) => ({
      settlement: { ...context.settlement, stopReason: params.reason },
    })),
    endAs: assign(({ context }, params: { ending: RunEnding; error?: unknown }) => ({
      settlement: { ...context.settlement, ending: params.ending, error: params.error },
    })),
    forget: assign({ entry: undefined }),
  },
});

type Done = { readonly event: { readonly output: StepReport } };

const settling = "#thread.settling" as const;
const inRun = (target: RunPhase) => `#thread.running.${target}` as const;

/** Every phase invokes the same step; what it reports is looked at in one fixed order. */
function phaseState(phase: RunPhase) {
  const report = ({ event }: Done) => ({ report: event.output, phase });
  const towards =
    <To extends Destination>(to: To) =>
    ({ event }: Done) => ({ report: event.output, phase, to });
  const stop = (guard: "stepsSpent" | "modelCallsSpent", reason: BudgetStop) => {
    const actions = { type: "stop" as const, params: { reason } };
    return [
      { guard: { type: guard, params: towards("afterAgent") }, target: inRun("afterAgent"), actions },
      { guard: { type: guard, params: towards("settling") }, target: settling, actions },
    ];
  };
  return threadSetup.createStateConfig({
    entry: { type: "countStep", params: { phase } },
    invoke: {
      src: "step",
      input: ({ context }) => ({ place: context.place, phase, ordinal: context.steps - 1 }),
      onDone: [
        {
          guard: { type: "asks", params: report },
          target: settling,
          actions: { type: "endAs", params: { ending: "interrupted" } },
        },
        // A run that was stopped stays stopped, whatever its last hooks would like.
        ...(phase === "afterAgent" ? [{ guard: "stopped" as const, target: settling }] : []),
        ...stop("stepsSpent", "max-steps"),
        ...stop("modelCallsSpent", "max-model-calls"),
        ...phases.map((to) => ({
          guard: { type: "leadsTo" as const, params: towards(to) },
          target: inRun(to),
          reenter: true,
        })),
        { target: settling },
      ],
      onError: {
        target: settling,
        actions: {
          type: "endAs",
          params: ({ event }: { event: { error: unknown } }) => ({ ending: "failed", error: event.error }),
        },
      },
    },
  });
}

const acceptsRuns = threadSetup.createStateConfig({
  on: {
    RUN: phases.map((phase) => ({
      guard: {
        type: "entersAt" as const,
        params: ({ event }: { event: { entry: MachineEntry } }) => ({ phase, entry: event.entry }),
      },
      target: inRun(phase),
      actions: {
        type: "begin" as const,
        params: ({ event }: { event: { entry: MachineEntry } }) => ({ entry: event.entry }),
      },
    })),
    PASSIVATE: "#thread.passivated",
  },
});

const threadMachine = threadSetup.createMachine({
  id: "thread",
  context: ({ input }) => ({
    place: input.place,
    entry: undefined,
    modelCalls: 0,
    steps: 0,
    settlement: undecided,
  }),
  initial: "idle",
  options: { maxIterations },
  states: {
    idle: acceptsRuns,
    running: {
      initial: "beforeAgent",
      on: {
        CANCEL: { target: "settling", actions: { type: "endAs", params: { ending: "cancelled" } } },
      },
      states: {
        beforeAgent: phaseState("beforeAgent"),
        beforeModel: phaseState("beforeModel"),
        model: phaseState("model"),
        afterModel: phaseState("afterModel"),
        tools: phaseState("tools"),
        afterAgent: phaseState("afterAgent"),
      },
    },
    settling: {
      invoke: {
        src: "settle",
        input: ({ context }) => ({ place: context.place, settlement: context.settlement }),
        onDone: restStates.map((state) => ({
          guard: {
            type: "endsAs" as const,
            params: { ending: state === "idle" ? ("completed" as const) : state },
          },
          target: state,
        })),
        // The end could not be recorded: the run stays open in the log, and this actor is done with it.
        onError: "failed",
      },
      exit: "forget",
    },
    interrupted: acceptsRuns,
    cancelled: acceptsRuns,
    failed: acceptsRuns,
    passivated: { type: "final" },
  },
});

/**
 * Starts the lifecycle of a thread in `idle`. A thread is always opened in a rest state: what was under way when
 * its process died is told by the log, not by the machine.
 *
 * @param onBroken called when the machine itself failed, which would be an error of this package
 */
export function startLifecycle(onBroken: (error: unknown) => void): ThreadLifecycle {
  const place: WorkPlace = { current: undefined };
  const actor: Actor<typeof threadMachine> = createActor(threadMachine, { input: { place } });
  // An error without an observer would end the process.
  actor.subscribe({ error: onBroken });
  actor.start();
  const nameOf = (): string => {
    const { value } = actor.getSnapshot();
    return typeof value === "string" ? value : `running.${String(value.running)}`;
  };
  return {
    get state() {
      return nameOf();
    },
    run({ work, ...entry }) {
      // `can` would work the transition out once more.
      if (!restStates.some((rest) => rest === actor.getSnapshot().value)) return false;
      place.current = work;
      actor.send({ type: "RUN", entry });
      return true;
    },
    cancel: () => actor.send({ type: "CANCEL" }),
    passivate() {
      if (!actor.getSnapshot().can({ type: "PASSIVATE" })) return false;
      actor.send({ type: "PASSIVATE" });
      return true;
    },
  };
}
