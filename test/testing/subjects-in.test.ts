import { expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { defineEvent } from "../../events/define-event.ts";
import type { FoldEvent } from "../../events/envelope.ts";
import { defineReducer } from "../../reducers/define-reducer.ts";
import { NothingToFuzzError, subjectsIn } from "../../testing/subjects-in.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";

const StepsPlanned = defineEvent({ type: "StepsPlanned", schema: z.object({ steps: z.array(z.string()) }) });
const plan = defineReducer<readonly string[]>({
  field: "plan",
  initial: [],
  on: { StepsPlanned: (_plan: readonly string[], { steps }: { steps: string[] }) => steps },
});
const planner = createMiddleware({
  name: "planner",
  events: [StepsPlanned],
  reducers: {
    step_count: {
      initial: 0,
      on: { StepsPlanned: (_count: number, { steps }: { steps: string[] }) => steps.length },
    },
  },
});
const model = new ScriptedModel({ answers: ["ok"] });

function namesIn(exports: Readonly<Record<string, unknown>>): readonly string[] {
  return subjectsIn(exports).map(({ name }) => name);
}

test("reducers, with the events that stand beside them", () => {
  expect(namesIn({ StepsPlanned, plan })).toEqual(["plan"]);
});

test("plain functions, by the name of their export", () => {
  const counter = { initial: 0, reduce: (value: number, _event: FoldEvent) => value };
  expect(namesIn({ StepsPlanned, counter })).toEqual(["counter"]);
});

test("the fields of middlewares, alone and in the options of an agent", () => {
  expect(namesIn({ planner })).toEqual(["step_count"]);
  expect(namesIn({ default: { model, middleware: [planner] } })).toEqual(["step_count"]);
});

test("a ready-made agent: its state and each of its fields", () => {
  const agent = createAgent({ model, middleware: [planner], store: "memory:" });
  const names = namesIn({ default: agent, agent });
  expect(names[0]).toBe("state");
  for (const name of ["messages", "step_count"]) expect(names).toContain(name);
});

test("nothing that folds is an error", () => {
  expect(() => subjectsIn({ answer: 42, helper: () => 1, nothing: null })).toThrow(NothingToFuzzError);
});
