import { z } from "zod";
import { defineEvent } from "./define-event.ts";

const todoSchema = z.looseObject({
  content: z.string().optional(),
  status: z.enum(["pending", "in_progress", "completed"]).optional(),
});
export type Todo = z.infer<typeof todoSchema>;

/** The whole todo list was written. */
export const TodosWritten = defineEvent({
  type: "TodosWritten",
  schema: z.object({ todos: z.array(todoSchema) }),
  content: ["todos"],
});

/** The model wanted to end with open todos and was sent back. Counted per run. */
export const TodosReminded = defineEvent({
  type: "TodosReminded",
  schema: z.object({ runId: z.string(), text: z.string() }),
  content: ["text"],
});
