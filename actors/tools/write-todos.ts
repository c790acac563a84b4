import { TodosWritten } from "../../events/todos.ts";
import { lazySchema } from "../../events/zod.ts";
import { defineTool } from "./define-tool.ts";

/** Name of the tool; calls of this name are what the model sees of its own list. */
export const writeTodosName = "write_todos";

const todosArguments = lazySchema((z) =>
  z.object({
    todos: z
      .array(
        z.object({
          content: z.string().min(1).describe("What is to be done"),
          status: z.enum(["pending", "in_progress", "completed"]).describe("How far it is"),
        }),
      )
      .describe("The whole list: it replaces the one before"),
  }),
);

/**
 * The tool with which a model keeps its todo list: each call replaces the list.
 *
 * @example
 * createAgent({ model, tools: [writeTodosTool()] })
 */
export function writeTodosTool() {
  return defineTool({
    name: writeTodosName,
    description:
      "Writes the todo list of this conversation. Give the whole list each time: it replaces the one before. " +
      "Use it for work of three or more steps. Keep one item in_progress while you work on it, mark it completed as " +
      "soon as it is done, and never call this tool twice in one answer.",
    schema: todosArguments(),
    idempotent: true,
    run: ({ todos }) => ({
      content: `The todo list is now: ${JSON.stringify(todos)}`,
      events: [TodosWritten({ todos })],
    }),
  });
}
