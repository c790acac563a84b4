import { describe, expect, test } from "vitest";
import { deferred } from "../../actors/deferred.ts";
import {
  type RunEntry,
  type Settlement,
  type StepReport,
  threadMachineDefinition,
} from "../../actors/lifecycle.ts";
import { startLifecycle } from "../../actors/thread-machine.ts";
import type { RunPhase } from "../../reducers/run-facts.ts";

interface Played {
  readonly phases: readonly RunPhase[];
  readonly settlement: Settlement;
  readonly state: string;
}

type Script = (phase: RunPhase, ordinal: number) => StepReport | Promise<StepReport>;

const allHooks = new Set<RunPhase>(["beforeAgent", "beforeModel", "afterModel", "afterAgent"]);

/** Runs a lifecycle whose steps report what `script` says. */
async function play(script: Script, options: Partial<RunEntry> = {}): Promise<Played> {
  const phases: RunPhase[] = [];
  const lifecycle = startLifecycle((error) => {
    throw error;
  });
  const settled = deferred<Settlement>();
  lifecycle.run({
    phase: "beforeAgent",
    modelCalls: 0,
    steps: 0,
    maxModelCalls: 100,
    maxSteps: 1_000,
    hooks: allHooks,
    ...options,
    work: {
      async step(phase, ordinal) {
        phases.push(phase);
        return script(phase, ordinal);
      },
      settle: async (how) => settled.resolve(how),
    },
  });
  const settlement = await settled.promise;
  await new Promise((resolve) => setImmediate(resolve));
  return { phases, settlement, state: lifecycle.state };
}

/** Reports `report` the first time that `phase` runs. */
function once(phase: RunPhase, report: StepReport, otherwise: StepReport = {}): Script {
  let done = false;
  return (current) => {
    if (current !== phase || done) return otherwise;
    done = true;
    return report;
  };
}

const plain = ["beforeAgent", "beforeModel", "model", "afterModel", "afterAgent"];

describe("the loop", () => {
  test("goes from input to end once when no tools are called", async () => {
    const { phases, settlement, state } = await play(() => ({}));
    expect(phases).toEqual(plain);
    expect(settlement).toEqual({ ending: "completed", stopReason: undefined, error: undefined });
    expect(state).toBe("idle");
  });

  test("runs tools while calls are open, and beforeModel again after them", async () => {
    const { phases } = await play(once("afterModel", { openCalls: 2, callsNeedModel: true }));
    expect(phases).toEqual([...plain.slice(0, 4), "tools", ...plain.slice(1)]);
  });

  test("passes over phases that have no hooks", async () => {
    const calls = { openCalls: 1, callsNeedModel: true };
    const { phases } = await play(once("model", calls), { phase: "model", hooks: new Set() });
    expect(phases).toEqual(["model", "tools", "model"]);
    const some = await play(once("model", calls), { phase: "model", hooks: new Set(["beforeModel"]) });
    expect(some.phases).toEqual(["model", "tools", "beforeModel", "model"]);
  });

  test("a budget ends a run without hooks, too", async () => {
    const { phases, settlement } = await play(() => ({ openCalls: 1, callsNeedModel: true }), {
      phase: "model",
      hooks: new Set(),
      maxModelCalls: 1,
    });
    expect(phases).toEqual(["model"]);
    expect(settlement.stopReason).toBe("max-model-calls");
  });

  test("begins where the entry says", async () => {
    const { phases } = await play(() => ({}), { phase: "tools" });
    expect(phases).toEqual(["tools", ...plain.slice(1)]);
  });

  test("passes every step its ordinal, from the count of the entry on", async () => {
    const ordinals: number[] = [];
    await play(
      (_phase, ordinal) => {
        ordinals.push(ordinal);
        return {};
      },
      { steps: 7 },
    );
    expect(ordinals).toEqual([7, 8, 9, 10, 11]);
  });

  test("a second run is refused while one is under way", async () => {
    const lifecycle = startLifecycle(() => undefined);
    const entry: RunEntry = {
      phase: "beforeAgent",
      modelCalls: 0,
      steps: 0,
      maxModelCalls: 1,
      maxSteps: 10,
      hooks: allHooks,
      work: { step: () => new Promise(() => undefined), settle: async () => undefined },
    };
    expect(lifecycle.run(entry)).toBe(true);
    expect(lifecycle.run(entry)).toBe(false);
    expect(lifecycle.passivate()).toBe(false);
  });
});

describe("jumps", () => {
  const calls = { openCalls: 1, callsNeedModel: true };
  const afterJump: Record<"model" | "tools" | "end", (from: RunPhase) => RunPhase | "settled"> = {
    model: () => "beforeModel",
    tools: () => "tools",
    end: (from) => (from === "afterAgent" ? "settled" : "afterAgent"),
  };
  const from = ["beforeAgent", "beforeModel", "model", "afterModel", "tools", "afterAgent"] as const;
  const all = from.flatMap((phase) => (["model", "tools", "end"] as const).map((to) => [phase, to] as const));

  test.each(all)("from %s to %s", async (phase, to) => {
    const { phases, settlement } = await play(once(phase, { jumpTo: to, ...calls }), { phase });
    expect(phases[1] ?? "settled").toBe(afterJump[to](phase));
    expect(phases.at(-1)).toBe("afterAgent");
    expect(settlement.ending).toBe("completed");
  });

  test.each(from)("from %s to tools without open calls is the end", async (phase) => {
    const { phases } = await play(once(phase, { jumpTo: "tools", openCalls: 0 }), { phase });
    expect(phases).toEqual(phase === "afterAgent" ? ["afterAgent"] : [phase, "afterAgent"]);
  });

  test("a jump to the phase that asks for it runs that phase again", async () => {
    const { phases } = await play(once("beforeModel", { jumpTo: "model" }), { phase: "beforeModel" });
    expect(phases.slice(0, 2)).toEqual(["beforeModel", "beforeModel"]);
  });

  test("an interrupt goes before a jump and before a budget", async () => {
    const report = { interrupted: true, jumpTo: "model" } as const;
    const { phases, settlement, state } = await play(() => report, { maxSteps: 1 });
    expect(phases).toEqual(["beforeAgent"]);
    expect([settlement.ending, settlement.stopReason, state]).toEqual([
      "interrupted",
      undefined,
      "interrupted",
    ]);
  });
});

describe("budgets", () => {
  const busy: Script = () => ({ openCalls: 1, callsNeedModel: true });

  test("model calls: the run stops before tools whose results no model could see", async () => {
    const { phases, settlement } = await play(busy, { maxModelCalls: 3 });
    expect(phases.filter((phase) => phase === "model")).toHaveLength(3);
    expect(phases.slice(-3)).toEqual(["model", "afterModel", "afterAgent"]);
    expect(settlement).toMatchObject({ ending: "completed", stopReason: "max-model-calls" });
  });

  test("model calls: tools that end the run by themselves still run", async () => {
    const { phases } = await play(
      (phase) => (phase === "tools" ? { jumpTo: "end" } : { openCalls: 1, callsNeedModel: false }),
      { maxModelCalls: 1 },
    );
    expect(phases.slice(-2)).toEqual(["tools", "afterAgent"]);
  });

  test("model calls: a run that needs exactly its budget has no stop reason", async () => {
    const { settlement } = await play(() => ({}), { maxModelCalls: 1 });
    expect(settlement.stopReason).toBeUndefined();
  });

  test("steps: a loop of tools to tools ends", async () => {
    const { phases, settlement } = await play(
      (phase) => (phase === "afterAgent" ? {} : { jumpTo: "tools", openCalls: 1 }),
      { maxSteps: 20 },
    );
    expect(phases).toHaveLength(21);
    expect(phases.at(-1)).toBe("afterAgent");
    expect(settlement.stopReason).toBe("max-steps");
  });

  test("afterAgent may send the run on while a budget remains, and no longer", async () => {
    const { phases, settlement } = await play(
      (phase) => (phase === "afterAgent" ? { jumpTo: "model" } : {}),
      { maxModelCalls: 4 },
    );
    expect(phases.filter((phase) => phase === "model")).toHaveLength(4);
    expect(phases.at(-1)).toBe("afterAgent");
    expect(settlement.stopReason).toBe("max-model-calls");
  });

  test("afterAgent to tools to model does not get around the budget", async () => {
    const { phases } = await play(
      (phase) => (phase === "afterAgent" ? { jumpTo: "tools", openCalls: 1, callsNeedModel: true } : {}),
      { maxModelCalls: 5 },
    );
    expect(phases.filter((phase) => phase === "model")).toHaveLength(5);
  });
});

describe("other ends", () => {
  test("a step that throws fails the run with its error", async () => {
    const problem = new Error("no");
    const { settlement, state } = await play((phase) => {
      if (phase === "model") throw problem;
      return {};
    });
    expect(settlement).toEqual({ ending: "failed", stopReason: undefined, error: problem });
    expect(state).toBe("failed");
  });

  test("cancel leaves the loop while a step is still at work", async () => {
    const lifecycle = startLifecycle(() => undefined);
    const settled = deferred<Settlement>();
    lifecycle.run({
      phase: "model",
      modelCalls: 0,
      steps: 0,
      maxModelCalls: 1,
      maxSteps: 10,
      hooks: allHooks,
      work: {
        step: () => new Promise(() => setImmediate(() => lifecycle.cancel())),
        settle: async (how) => settled.resolve(how),
      },
    });
    const settlement = await settled.promise;
    expect(settlement.ending).toBe("cancelled");
    await new Promise((resolve) => setImmediate(resolve));
    expect(lifecycle.state).toBe("cancelled");
    lifecycle.cancel();
    expect(lifecycle.passivate()).toBe(true);
    expect(lifecycle.state).toBe("passivated");
  });

  test("an end that cannot be recorded leaves the actor failed", async () => {
    const lifecycle = startLifecycle(() => undefined);
    const tried = deferred<void>();
    lifecycle.run({
      phase: "afterAgent",
      modelCalls: 0,
      steps: 0,
      maxModelCalls: 1,
      maxSteps: 10,
      hooks: allHooks,
      work: {
        step: async () => ({}),
        settle: async () => {
          setImmediate(tried.resolve);
          throw new Error("disk full");
        },
      },
    });
    await tried.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(lifecycle.state).toBe("failed");
  });
});

test("the definition names every state that its transitions name", () => {
  const named = threadMachineDefinition.transitions.flatMap(({ from, to }) => [from, to]);
  expect(new Set(named)).toEqual(new Set(threadMachineDefinition.states));
});
