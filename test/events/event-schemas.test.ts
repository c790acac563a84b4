import { expect, test } from "vitest";
import { z } from "zod";
import { catalogue } from "../../events/catalogue.ts";
import { defineEvent } from "../../events/define-event.ts";
import { createEventRegistry, InvalidEventError } from "../../events/event-registry.ts";

test("a schema that is a function is made when it is first needed, and once", () => {
  let made = 0;
  const PlanWritten = defineEvent({
    type: "PlanWritten",
    schema: (builders) => {
      made += 1;
      return builders.object({ plan: builders.string() });
    },
  });
  const registry = createEventRegistry([{ source: "test", events: [PlanWritten] }]);
  expect(PlanWritten({ plan: "read" })).toEqual({ type: "PlanWritten", data: { plan: "read" } });
  expect(made).toBe(0);
  expect(registry.check(PlanWritten({ plan: "read" }))).toBe(PlanWritten);
  expect(() => registry.check({ type: "PlanWritten", data: { plan: 5 } })).toThrow(InvalidEventError);
  expect(PlanWritten.schema).toBe(PlanWritten.schema);
  expect(made).toBe(1);
});

test("schemas of the catalogue can be built upon with one's own zod", () => {
  const both = z.object({ added: catalogue.TodosWritten.schema, own: z.string() });
  expect(both.safeParse({ added: { todos: [{ content: "a" }] }, own: "b" }).success).toBe(true);
  expect(both.safeParse({ added: { todos: "none" }, own: "b" }).error).toBeInstanceOf(z.ZodError);
  expect(catalogue.TodosWritten.schema).toBeInstanceOf(z.ZodObject);
});
