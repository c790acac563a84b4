import type { Todo } from "../events/todos.ts";
import { TodosWritten } from "../events/todos.ts";
import { defineReducer } from "./define-reducer.ts";
import { keepWhenSame, sameJson } from "./same-json.ts";

/** The todo list. Each write replaces it whole; `[]` clears it. */
export const todos = defineReducer<readonly Todo[] | undefined>({
  field: "todos",
  initial: undefined,
  algebra: "replace",
  on: { TodosWritten: (current, data) => keepWhenSame(current, data.todos) },
  fromUpdate: (update, current) =>
    update == null || sameJson(update, current) ? [] : [TodosWritten({ todos: update as Todo[] })],
});
