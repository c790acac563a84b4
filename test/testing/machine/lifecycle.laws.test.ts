import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { threadMachineDefinition } from "../../../actors/lifecycle.ts";
import { type DrivenLifecycle, driveLifecycle } from "../../../testing/machine/driven-lifecycle.ts";
import { lifecycleCommands } from "../../../testing/machine/lifecycle-commands.ts";
import { createLifecycleCoverage } from "../../../testing/machine/lifecycle-coverage.ts";
import { lifecyclePaths } from "../../../testing/machine/lifecycle-paths.ts";
import { type RunSetting, twinStart, twinStep } from "../../../testing/machine/lifecycle-twin.ts";

const { phases } = threadMachineDefinition;
/** Small enough budgets to be spent on the way. */
const setting: RunSetting = { maxModelCalls: 2, maxSteps: 9, hooks: new Set(phases) };
const small: RunSetting = { ...setting, maxModelCalls: 1, maxSteps: 3 };

describe("the lifecycle and its pure twin", () => {
  test("are in the same state after any commands, and every state is entered", async () => {
    const coverage = createLifecycleCoverage();
    await fc.assert(
      fc.asyncProperty(lifecycleCommands(), async (commands) => {
        await fc.asyncModelRun(
          () => ({ model: { twin: twinStart, setting, coverage }, real: driveLifecycle() }),
          commands,
        );
      }),
      { numRuns: 300 },
    );
    process.stdout.write(`lifecycle commands: ${coverage}\n`);
    expect(coverage.unknownTransitions).toEqual([]);
    expect(coverage.missingStates).toEqual([]);
  });

  test("pass over the same phases when hooks are missing", async () => {
    const coverage = createLifecycleCoverage();
    await fc.assert(
      fc.asyncProperty(fc.subarray([...phases]), lifecycleCommands(), async (hooks, commands) => {
        const some = { ...setting, hooks: new Set(hooks) };
        await fc.asyncModelRun(
          () => ({ model: { twin: twinStart, setting: some, coverage }, real: driveLifecycle() }),
          commands,
        );
      }),
      { numRuns: 200 },
    );
    expect(coverage.missingStates).toEqual([]);
  });

  test("agree on the shortest way to every state and on every transition out of it; none is left out", async () => {
    const coverage = createLifecycleCoverage();
    let ways = 0;
    // Between them, each budget is spent in every phase, and is not.
    for (const budgets of [small, { ...small, maxSteps: 1 }, { ...small, maxModelCalls: 2, maxSteps: 3 }]) {
      for (const { events, end } of lifecyclePaths(budgets)) {
        ways += 1;
        const real: DrivenLifecycle = driveLifecycle();
        let twin = twinStart;
        for (const event of events) {
          const { next, taken } = twinStep(twin, event, budgets);
          await real.take(event, budgets);
          coverage.take(taken, next.at);
          twin = next;
        }
        expect(real.at, JSON.stringify(events)).toBe(end.at);
      }
    }
    process.stdout.write(`lifecycle paths: ${ways} ways, ${coverage}\n`);
    expect(coverage.unknownTransitions).toEqual([]);
    expect(coverage.missingTransitions).toEqual([]);
    expect(coverage.missingStates).toEqual([]);
  });

  test("`maxCommands` bounds the length of a test", () => {
    const lists = fc.sample(lifecycleCommands({ maxCommands: 3 }), 30);
    expect(Math.max(...lists.map((commands) => [...commands].length))).toBeLessThanOrEqual(3);
  });

  test("a state in a rest can always leave memory", () => {
    for (const { end } of lifecyclePaths(small)) {
      if (!["idle", "interrupted", "cancelled", "failed"].includes(end.at)) continue;
      expect(twinStep(end, { type: "PASSIVATE" }, setting).next.at).toBe("passivated");
    }
  });
});
