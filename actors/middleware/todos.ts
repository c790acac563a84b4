import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { z } from "zod";
import type { DataOf } from "../../events/define-event.ts";
import { type Todo, TodosReminded, TodosWritten } from "../../events/todos.ts";
import { lazySchema } from "../../events/zod.ts";
import { todos as todosReducer } from "../../reducers/todos.ts";
import { writeTodosName, writeTodosTool } from "../tools/write-todos.ts";
import { createMiddleware, type HookResult, type ModelRequest } from "./define-middleware.ts";
import { hiddenMessage, lastUserIndex } from "./hidden-message.ts";
import { callsOf, isAnswer, lastAnswer, openCalls, wantsTools } from "./last-answer.ts";
import { nextRequestNotice } from "./next-request-notice.ts";
import { refuseCall } from "./refused-call.ts";
import { stopReasonOf } from "./trim-tool-calls.ts";

/** Fields that the middleware reads. */
interface TodosFields {
  readonly todos?: readonly Todo[];
  readonly pending_todo_reminder?: string;
}

const todosContext = lazySchema((z) =>
  z.object({
    /** False: this run has no plan mode: no tool, no instructions, no reminders. */
    is_plan_mode: z.boolean().optional(),
  }),
);

export interface TodosOptions {
  /** What the system prompt says about the list. */
  readonly systemPrompt?: string;
  /** How often a run that wants to end with open items is sent back. Default 2. */
  readonly maxReminders?: number;
}

const instructions =
  "You keep a todo list with the tool write_todos. For work of several steps, write the list before you begin, keep " +
  "exactly one item in progress while you work on it, and mark each item completed as soon as it is done. Do not " +
  "give your final answer while items are open; drop items that turn out to be needless. Skip the list for simple requests.";

/** The list as the model reads it: one line an item. */
export function todoLines(todos: readonly Todo[]): string {
  return todos.map(({ status = "pending", content = "" }) => `- [${status}] ${content}`).join("\n");
}

const isOpen = (todo: Todo): boolean => todo.status !== "completed";

/** A reminder of the whole list, when neither the call that wrote it nor an earlier reminder is in the request. */
function withListInView(messages: readonly BaseMessage[], todos: readonly Todo[]): readonly BaseMessage[] {
  if (todos.length === 0) return messages;
  const visible = messages.some(
    (message) =>
      (isAnswer(message) && (message.tool_calls ?? []).some((call) => call.name === writeTodosName)) ||
      (message.getType() === "human" && message.name === "todo_reminder"),
  );
  if (visible) return messages;
  const reminder = hiddenMessage({
    id: "todo-reminder",
    name: "todo_reminder",
    text: `Your todo list is out of view by now. It stands like this:\n${todoLines(todos)}\nGo on with it, and write it anew when it changes.`,
  });
  const at = lastUserIndex(messages);
  return at < 0 ? [...messages, reminder] : [...messages.slice(0, at), reminder, ...messages.slice(at)];
}

function withCompletionReminder(
  messages: readonly BaseMessage[],
  text: string | undefined,
  count: number,
): readonly BaseMessage[] {
  if (text === undefined) return messages;
  const id = `todo-completion-reminder:${count}`;
  return [...messages, hiddenMessage({ id, name: "todo_completion_reminder", text })];
}

function refuseParallelWrites(messages: readonly BaseMessage[], answer: AIMessage): HookResult {
  const writes = callsOf(answer).filter((call) => call.name === writeTodosName);
  if (writes.length < 2) return undefined;
  const text =
    "write_todos was called more than once in one answer, so none of the lists was taken. Call it once, with the whole list.";
  const events = writes.map((call) => refuseCall(call, text, "parallel-write-todos"));
  const allRefused = openCalls(messages).length === writes.length;
  return allRefused ? { events, jumpTo: "model" } : { events };
}

/**
 * Plan mode: the tool `write_todos`, the instructions for it, a reminder in the request when the list is out of view,
 * and at most two reminders a run when the model wants to end with open items. Reminders are never stored as messages.
 * A run with `context.is_plan_mode: false` goes without all of it.
 *
 * @example
 * createAgent({ model, middleware: [todosMiddleware()] })
 */
export function todosMiddleware(options: TodosOptions = {}) {
  const { systemPrompt = instructions, maxReminders = 2 } = options;
  type Request = ModelRequest<TodosFields, z.infer<ReturnType<typeof todosContext>>>;
  const withInstructions = (request: Request): Request => {
    const { todos = [], pending_todo_reminder: text } = request.state;
    const listed = withListInView(request.messages, todos);
    const count = request.runtime.run.eventCounts.TodosReminded ?? 0;
    return {
      ...request,
      systemPrompt: request.systemPrompt ? `${request.systemPrompt}\n\n${systemPrompt}` : systemPrompt,
      messages: withCompletionReminder(listed, text, count),
    };
  };
  return createMiddleware<TodosFields, z.infer<ReturnType<typeof todosContext>>>({
    name: "todos",
    contextSchema: todosContext(),
    tools: [writeTodosTool()],
    events: [TodosWritten, TodosReminded],
    reducers: [
      todosReducer,
      nextRequestNotice<DataOf<typeof TodosReminded>>({
        field: "pending_todo_reminder",
        event: "TodosReminded",
        text: (data) => data.text,
      }),
    ],
    wrapModelCall(request, handler) {
      if (request.runtime.context.is_plan_mode !== false) return handler(withInstructions(request));
      return handler({ ...request, tools: request.tools.filter((tool) => tool.name !== writeTodosName) });
    },
    afterModel: {
      canJumpTo: ["model"],
      hook(state, runtime) {
        const answer = lastAnswer(state.messages);
        if (!answer) return undefined;
        const refused = refuseParallelWrites(state.messages, answer);
        if (refused) return refused;
        if (runtime.context.is_plan_mode === false) return undefined;
        const open = (state.todos ?? []).filter(isOpen);
        if (open.length === 0 || wantsTools(answer) || stopReasonOf(answer)) return undefined;
        if ((runtime.run.eventCounts.TodosReminded ?? 0) >= maxReminders) return undefined;
        const text = `Items of your todo list are still open:\n${todoLines(open)}\nFinish them, or write the list anew without those that are needless, and then answer.`;
        return { events: [TodosReminded({ runId: runtime.runId, text })], jumpTo: "model" };
      },
    },
  });
}
