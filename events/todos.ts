import type { z } from "zod";
import { defineEvent } from "./define-event.ts";
import { lazySchema } from "./zod.ts";

const todoSchema = lazySchema((z) =>
  z.looseObject({
    content: z.string().optional(),
    status: z.enum(["pending", "in_progress", "completed"]).optional(),
  }),
);
export type Todo = z.infer<ReturnType<typeof todoSchema>>;

/** The whole todo list was written. */
export const TodosWritten = defineEvent({
  type: "TodosWritten",
  schema: (z) => z.object({ todos: z.array(todoSchema()) }),
  content: ["todos"],
});

/** The model wanted to end with open todos and was sent back. Counted per run. */
export const TodosReminded = defineEvent({
  type: "TodosReminded",
  schema: (z) => z.object({ runId: z.string(), text: z.string() }),
  content: ["text"],
});
