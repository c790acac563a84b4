import { describe, expect, it } from "vitest";
import { todoLines, todosMiddleware } from "../../../actors/middleware/todos.ts";
import { writeTodosTool } from "../../../actors/tools/write-todos.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { composeReducers } from "../../../reducers/thread-state.ts";
import { earlyExit, listInView, threeTodos } from "../../cases/todos.ts";
import { callHook, callModel, hookRuntime, hookState, modelRequest, toolRuntime } from "./hook-bench.ts";

const middleware = todosMiddleware();
const ended = [
  { type: "human", content: "q" },
  { type: "ai", content: "all done" },
] as const;

describe("the list in the request", () => {
  for (const { id, what, messages, shown } of listInView) {
    it(`${id}: ${what}`, async () => {
      const request = modelRequest(messages, { fields: { todos: threeTodos } });
      const { requests } = await callModel(middleware, request);
      const added = requests[0]?.messages.filter((message) => !request.messages.includes(message)) ?? [];
      if (shown === null) return expect(added).toEqual([]);
      expect(added).toHaveLength(1);
      const [reminder] = added;
      expect(reminder?.getType()).toBe("human");
      expect(reminder?.name).toBe("todo_reminder");
      expect(reminder?.additional_kwargs.hide_from_ui).toBe(true);
      expect(reminder?.text.split("\n").filter((line) => line.startsWith("- ["))).toEqual(shown);
    });
  }

  it("TDO-06: an item without fields is pending and has no text", () => {
    expect(todoLines([{}])).toBe("- [pending] ");
  });

  it("an empty list is not shown", async () => {
    const { requests } = await callModel(
      middleware,
      modelRequest([{ type: "human" }], { fields: { todos: [] } }),
    );
    expect(requests[0]?.messages).toHaveLength(1);
  });
});

describe("ending with open items", () => {
  for (const { id, what, messages, back } of earlyExit) {
    it(`${id}: ${what}`, async () => {
      const outcome = await callHook(middleware.afterModel, hookState(messages, { todos: threeTodos }));
      expect(outcome?.jumpTo ?? null).toBe(back ? "model" : null);
      expect(outcome?.update).toBeUndefined();
    });
  }

  it("a list without open items ends", async () => {
    const todos = [{ content: "a", status: "completed" }];
    expect(await callHook(middleware.afterModel, hookState(ended, { todos }))).toBeUndefined();
  });

  it("an answer that a limit made the last of its run is not sent back", async () => {
    const stopped = { type: "ai", content: "stopped", additional_kwargs: { stop_reason: "loop_capped" } };
    const state = hookState([{ type: "human" }, stopped], { todos: threeTodos });
    expect(await callHook(middleware.afterModel, state)).toBeUndefined();
  });

  it("TDO-16: at most two reminders in one run, counted by their events", async () => {
    const jumps = [];
    for (const TodosReminded of [0, 1, 2]) {
      const runtime = hookRuntime({ run: { eventCounts: { TodosReminded } } });
      const outcome = await callHook(middleware.afterModel, hookState(ended, { todos: threeTodos }), runtime);
      jumps.push(outcome?.jumpTo ?? null);
    }
    expect(jumps).toEqual(["model", "model", null]);
  });

  it("maxReminders says how many", async () => {
    const once = todosMiddleware({ maxReminders: 0 });
    expect(await callHook(once.afterModel, hookState(ended, { todos: threeTodos }))).toBeUndefined();
  });

  it("TDO-18: counters belong to a run: a new run and another thread start from zero", async () => {
    const state = hookState(ended, { todos: threeTodos });
    const third = hookRuntime({ runId: "r1", run: { eventCounts: { TodosReminded: 2 } } });
    expect(await callHook(middleware.afterModel, state, third)).toBeUndefined();
    const next = await callHook(middleware.afterModel, state, hookRuntime({ runId: "r2" }));
    const other = await callHook(middleware.afterModel, state, hookRuntime({ threadId: "other" }));
    expect([next?.jumpTo, other?.jumpTo]).toEqual(["model", "model"]);
  });

  it("TDO-17: the reminder lists the open items in the next request only, and no message is stored", async () => {
    const outcome = await callHook(middleware.afterModel, hookState(ended, { todos: threeTodos }));
    const reducer = composeReducers([
      { source: "base", reducers: [...createThreadReducer().definitions.values()] },
      { source: "todos", reducers: middleware.reducers as never },
    ]);
    const events = [...(outcome?.events ?? [])].map((draft, index) => ({ ...draft, version: index + 1 }));
    const reminded = reducer.fold(events);
    expect(reminded.messages).toEqual([]);

    const visible = [...ended, { type: "ai", tool_calls: [{ name: "write_todos", args: {}, id: "w" }] }];
    const first = modelRequest(visible, { fields: { todos: threeTodos, ...reminded, messages: undefined } });
    const added = (await callModel(middleware, first)).requests[0]?.messages.slice(visible.length) ?? [];
    expect(added.map((message) => [message.getType(), message.name])).toEqual([
      ["human", "todo_completion_reminder"],
    ]);
    expect(added[0]?.additional_kwargs.hide_from_ui).toBe(true);
    const lines = added[0]?.text.split("\n").filter((line) => line.startsWith("- [")) ?? [];
    expect(lines).toEqual(["- [in_progress] step 2", "- [pending] step 3"]);

    const answer = { callId: "m", message: { id: "a", type: "ai", content: "x" }, latencyMs: 1 };
    const answered = reducer.apply(reminded, { type: "ModelResponded", data: answer, version: 9 });
    expect(Object.hasOwn(answered, "pending_todo_reminder")).toBe(false);
    const second = modelRequest(visible, { fields: { todos: threeTodos, ...answered, messages: undefined } });
    expect((await callModel(middleware, second)).requests[0]?.messages).toHaveLength(visible.length);
  });
});

describe("a run without plan mode", () => {
  const context = { is_plan_mode: false };

  it("TDO-19: is offered no write_todos, told nothing of it, and not sent back", async () => {
    const request = modelRequest(ended, {
      context,
      tools: [writeTodosTool()],
      fields: { todos: threeTodos },
    });
    const { requests } = await callModel(middleware, request);
    expect(requests[0]).toMatchObject({ tools: [], messages: request.messages, systemPrompt: undefined });
    const state = hookState(ended, { todos: threeTodos });
    expect(await callHook(middleware.afterModel, state, hookRuntime({ context }))).toBeUndefined();
  });
});

describe("write_todos", () => {
  it("TDO-15: two writes in one answer are both refused, and the list stays", async () => {
    const calls = ["w1", "w2"].map((id) => ({ name: "write_todos", args: { todos: [] }, id }));
    const state = hookState([{ type: "human" }, { type: "ai", tool_calls: calls }], { todos: threeTodos });
    const outcome = await callHook(middleware.afterModel, state);
    const reducer = createThreadReducer();
    const before = reducer.fold([{ type: "TodosWritten", data: { todos: threeTodos }, version: 1 }]);
    const after = reducer.fold(
      (outcome?.events ?? []).map((draft, index) => ({ ...draft, version: index + 2 })),
      before,
    );
    expect(after.todos).toBe(before.todos);
    const results = after.messages as { tool_call_id: string; status: string }[];
    expect(results.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([
      ["w1", "error"],
      ["w2", "error"],
    ]);
    expect(outcome?.jumpTo).toBe("model");
  });

  it("the other calls of such an answer run", async () => {
    const calls = ["w1", "w2"].map((id) => ({ name: "write_todos", args: { todos: [] }, id }));
    const answer = { type: "ai", tool_calls: [...calls, { name: "ls", args: {}, id: "l" }] };
    const outcome = await callHook(middleware.afterModel, hookState([answer]));
    expect(outcome?.events).toHaveLength(2);
    expect(outcome?.jumpTo).toBeUndefined();
  });

  it("TDO-20: a write replaces the list", async () => {
    const todos = [{ content: "only", status: "pending" as const }];
    const result = await writeTodosTool().run({ todos }, toolRuntime(hookState([])));
    expect(result).toMatchObject({ events: [{ type: "TodosWritten", data: { todos } }] });
    const events = (result as { events: { type: string; data: unknown }[] }).events;
    const state = createThreadReducer().fold(events.map((event) => ({ ...event, version: 1 })));
    expect(state.todos).toEqual(todos);
  });

  it("an unknown status is refused by the schema", () => {
    const parsed = writeTodosTool().schema.safeParse({ todos: [{ content: "a", status: "done" }] });
    expect(parsed.success).toBe(false);
  });
});

describe("instructions", () => {
  it("TDO-21: every request has them, behind the agent's own prompt", async () => {
    const { requests } = await callModel(
      middleware,
      modelRequest([{ type: "human" }], { systemPrompt: "Be brief." }),
    );
    expect(requests[0]?.systemPrompt).toMatch(/^Be brief\.\n\n.*write_todos/s);
  });

  it("systemPrompt replaces them", async () => {
    const own = todosMiddleware({ systemPrompt: "Keep a list." });
    const { requests } = await callModel(own, modelRequest([{ type: "human" }]));
    expect(requests[0]?.systemPrompt).toBe("Keep a list.");
  });
});
