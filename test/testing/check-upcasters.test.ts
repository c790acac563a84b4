import { expect, test } from "vitest";
import { z } from "zod";
import { defineEvent, type Upcaster } from "../../events/define-event.ts";
import { checkUpcasters, UpcastBrokenError } from "../../testing/check-upcasters.ts";

const first = z.object({ text: z.string() });
const second = z.object({ steps: z.array(z.string()) });

function planWritten(fromFirst: Upcaster) {
  return defineEvent({
    type: "PlanWritten",
    version: 3,
    schema: z.object({ steps: z.array(z.string()), done: z.boolean() }),
    upcasters: { 1: fromFirst, 2: (data) => ({ ...(data as object), done: false }) },
  });
}

const good: Upcaster = (data) => ({ steps: [(data as { text: string }).text] });
const becomes = (data: { text?: string; steps?: string[] }) => ({
  steps: data.steps ?? [data.text],
  done: false,
});
const from = { 1: first, 2: second };

test("upcasters that keep their laws pass", () => {
  checkUpcasters(planWritten(good), { from, becomes });
});

let calls = 0;
test.each<[string, Upcaster, RegExp]>([
  ["another form", (data) => data, /does not fit today's schema/],
  ["another meaning", () => ({ steps: [] }), /in place of/],
  ["a write to old data", (data) => Object.assign(data as object, { steps: [] }), /threw TypeError/],
  ["something else each time", () => ({ steps: [String(calls++)] }), /something else each time/],
])("%s is found", (_name, upcaster, reason) => {
  const check = () => checkUpcasters(planWritten(upcaster), { from, becomes, runs: 50, seed: 1 });
  expect(check).toThrow(UpcastBrokenError);
  expect(check).toThrow(reason);
});
