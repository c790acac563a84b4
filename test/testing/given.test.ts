import { describe, expect, test } from "vitest";
import { createAgent } from "../../actors/create-agent.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { openStore } from "../../events/open-store.ts";
import { SandboxBound } from "../../events/sandbox.ts";
import { TitleSet } from "../../events/title.ts";
import { TodosWritten } from "../../events/todos.ts";
import { SandboxConflictError } from "../../reducers/sandbox.ts";
import { todos } from "../../reducers/todos.ts";
import { ExampleError, given } from "../../testing/given.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";

const read = TodosWritten({ todos: [{ content: "read" }] });

const planner = createMiddleware({
  name: "planner",
  beforeModel: (state) => {
    const { todos: list = [] } = state as { todos?: readonly object[] };
    return list.length > 0 ? { jumpTo: "end", todos: [] } : read;
  },
});

describe("given, when, then", () => {
  test("events: the state that follows", async () => {
    await given([read])
      .when(TodosWritten({ todos: [] }))
      .then({ state: { todos: [] } });
    await given([], todos)
      .when([read])
      .then({ events: [{ type: "TodosWritten" }], state: { todos: [{ content: "read" }] } });
  });

  test("events that are refused: the error, by class, by name, by text", async () => {
    const example = given([SandboxBound({ sandbox_id: "one" })]).when(SandboxBound({ sandbox_id: "two" }));
    await example.then({ error: SandboxConflictError, state: { sandbox: { sandbox_id: "one" } } });
    await example.then({ error: "SandboxConflictError" });
    await example.then({ error: /bound to sandbox one/ });
  });

  test("a hook: the events that it records, and where it wants to go", async () => {
    const hook = planner.beforeModel;
    if (typeof hook !== "function") throw new Error("the example has a plain hook");
    await given([])
      .when(hook)
      .then({ events: [{ type: "TodosWritten", data: { todos: [{ content: "read" }] } }] });
    await given([read])
      .when({ hook })
      .then({ jumpTo: "end", state: { todos: [] } });
  });

  test("an input: the events of the whole run", async () => {
    const agent = createAgent({
      model: new ScriptedModel({ answers: ["hello"] }),
      store: await openStore("memory:"),
    });
    const outcome = await given([], agent).when("hi").outcome();
    expect(outcome.events.map(({ type }) => type)).toEqual([
      "ThreadCreated",
      "RunStarted",
      "MessagesAdded",
      "ModelCallStarted",
      "ModelResponded",
      "RunCompleted",
    ]);
    expect(outcome.error).toBeUndefined();
  });

  test.each([
    [
      "state",
      () =>
        given([])
          .when(read)
          .then({ state: { todos: [] } }),
    ],
    ["events", () => given([]).when(read).then({ events: [] })],
    [
      "event data",
      () =>
        given([])
          .when(read)
          .then({ events: [{ type: "TodosWritten", data: { todos: [] } }] }),
    ],
    ["an error that does not come", () => given([]).when(read).then({ error: "SandboxConflictError" })],
    ["a jump that does not come", () => given([]).when(read).then({ jumpTo: "end" })],
  ])("another outcome is an error: %s", async (_name, example) => {
    await expect(example()).rejects.toBeInstanceOf(ExampleError);
  });

  test("an error that was not expected is thrown as it is", async () => {
    const example = given([TitleSet({ title: "x", origin: "user" }), SandboxBound({ sandbox_id: "one" })])
      .when(SandboxBound({ sandbox_id: "two" }))
      .then({ state: {} });
    await expect(example).rejects.toBeInstanceOf(SandboxConflictError);
  });
});
