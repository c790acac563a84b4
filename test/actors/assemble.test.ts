import { tool } from "@langchain/core/tools";
import { MessagesValue, ReducedValue, StateSchema, UntrackedValue } from "@langchain/langgraph";
import { schemaMetaRegistry, withLangGraph } from "@langchain/langgraph/zod";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type AssemblyOptions, assemble } from "../../actors/assemble.ts";
import { AssemblyError } from "../../actors/assembly.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { defineEvent } from "../../events/define-event.ts";
import { EventConflictError } from "../../events/event-registry.ts";
import { StateUpdated } from "../../events/state-update.ts";
import { defineReducer } from "../../reducers/define-reducer.ts";
import { FieldConflictError } from "../../reducers/thread-state.ts";
import { todos } from "../../reducers/todos.ts";
import { ScriptedModel } from "./scripted-model.ts";

const model = new ScriptedModel({ answers: ["ok"] });
const build = (options: Partial<AssemblyOptions>) => assemble({ model, ...options });
const PlanWritten = defineEvent({ type: "PlanWritten", schema: z.object({ plan: z.string() }) });
const planner = createMiddleware({
  name: "planner",
  events: [PlanWritten],
  reducers: {
    plan: { initial: "", on: { [PlanWritten.type]: (_plan: string, data: { plan: string }) => data.plan } },
  },
});
const tick = { type: "PlanWritten", data: { plan: "read" }, version: 1 };

describe("fields", () => {
  test("base fields, then those of the agent and of each middleware", () => {
    const assembly = build({
      stateSchema: z.object({ goal_text: z.string().default("none") }),
      middleware: [
        planner,
        createMiddleware({ name: "counter", stateSchema: z.object({ _count: z.number().default(0) }) }),
      ],
    });
    expect(assembly.reducer.fields).toEqual([
      "messages",
      "summary_text",
      "compaction",
      "structured_response",
      "goal_text",
      "plan",
      "_count",
    ]);
    expect(assembly.reducer.initial).toMatchObject({ messages: [], goal_text: "none", plan: "", _count: 0 });
  });

  test("a middleware that is taken out takes its field along; put back, its events fold again", () => {
    const withPlan = build({ middleware: [planner] });
    const without = build({});
    expect(withPlan.reducer.fold([tick]).plan).toBe("read");
    expect(without.reducer.fold([tick])).not.toHaveProperty("plan");
    expect(without.registry.get("PlanWritten")).toBeUndefined();
    expect(build({ middleware: [planner] }).reducer.fold([tick]).plan).toBe("read");
  });

  test("a plain field keeps the last value", () => {
    const { reducer } = build({ stateSchema: z.object({ plan: z.string() }) });
    const events = ["a", "b"].map((value, index) => ({
      ...StateUpdated({ field: "plan", value }),
      version: index + 1,
    }));
    expect(reducer.fold(events).plan).toBe("b");
  });

  test("a built-in field that a schema names folds by its own rules", () => {
    const { reducer } = build({ stateSchema: z.object({ todos: z.array(z.any()).optional() }) });
    expect(reducer.definitions.get("todos")).toBe(todos);
  });

  test.each([
    [
      "ReducedValue",
      new StateSchema({
        messages: MessagesValue,
        log: new ReducedValue(
          z.array(z.string()).default(() => []),
          { inputSchema: z.string(), reducer: (all, one) => [...all, one] },
        ),
      }),
    ],
    [
      "withLangGraph",
      z.object({
        log: withLangGraph(z.array(z.string()).default([]) as never, {
          reducer: { fn: (all: string[], one: string) => [...all, one], schema: z.string() } as never,
        }),
      }),
    ],
  ])("a reducer declared by %s merges updates", (_how, stateSchema) => {
    const { reducer, fieldSchemas } = build({
      stateSchema: stateSchema as never,
      schemaRegistry: schemaMetaRegistry as never,
    });
    expect(reducer.initial.log).toEqual([]);
    const events = ["a", "b"].map((value, index) => ({
      ...StateUpdated({ field: "log", value }),
      version: index + 1,
    }));
    expect(reducer.fold(events).log).toEqual(["a", "b"]);
    expect(fieldSchemas.get("log")?.schema.safeParse(["a"]).success).toBe(false);
  });

  test("another reducer of LangGraph's makes another description, so that old snapshots are left unused", () => {
    const of = (reducer: (a: number, b: number) => number) =>
      build({ stateSchema: new StateSchema({ n: new ReducedValue(z.number(), { reducer }) }) as never })
        .reducer.description;
    expect(of((a, b) => a + b)).not.toBe(of((a, b) => a * b));
  });

  test("a reducer that only LangGraph's registry knows is not silently lost", () => {
    const stateSchema = z.object({
      log: withLangGraph(z.array(z.string()), {
        reducer: { fn: (_all: string[], one: string) => [one], schema: z.string() },
      }),
    });
    expect(() => build({ stateSchema })).toThrow(/schemaRegistry/);
  });
});

describe("sharing", () => {
  const shared = defineReducer<number>({
    field: "count",
    initial: 0,
    on: { [PlanWritten.type]: (count) => count + 1 },
  });
  const declaration = { initial: 0, on: { [PlanWritten.type]: (count: number) => count + 1 } };
  const plain = () => z.object({ topic: z.string().optional() });

  test.each([
    ["one reducer object", { reducers: [shared] }, { reducers: [shared] }],
    ["one declaration", { reducers: { count: declaration } }, { reducers: { count: declaration } }],
    ["the same words", { stateSchema: plain() }, { stateSchema: plain() }],
    ["a built-in field", { stateSchema: z.object({ todos: z.any() }) }, { reducers: [todos] }],
  ])("two middlewares may share %s", (_what, first, second) => {
    const parts = [
      createMiddleware({ name: "a", events: [PlanWritten], ...first }),
      createMiddleware({ name: "b", ...second }),
    ];
    expect(() => build({ middleware: parts })).not.toThrow();
  });

  test.each([
    [
      "reducers",
      { reducers: { count: { initial: 0, on: {} } } },
      { reducers: { count: { initial: 1, on: {} } } },
    ],
    [
      "schemas",
      { stateSchema: z.object({ count: z.number() }) },
      { stateSchema: z.object({ count: z.string() }) },
    ],
    [
      "defaults",
      { stateSchema: z.object({ count: z.number().default(1) }) },
      { stateSchema: z.object({ count: z.number().default(2) }) },
    ],
    [
      "kinds",
      { stateSchema: z.object({ count: z.number() }) },
      { reducers: { count: { initial: 0, on: {} } } },
    ],
    ["owners of a base field", { reducers: { messages: { initial: [], on: {} } } }, {}],
  ])("different %s of one field are refused, naming both", (what, first, second) => {
    const parts = [
      createMiddleware({ name: "first", ...first }),
      createMiddleware({ name: "second", ...second }),
    ];
    const act = () => build({ middleware: parts });
    expect(act).toThrow(FieldConflictError);
    expect(act).toThrow(what === "owners of a base field" ? /threadfold.*first/ : /first.*second/);
  });

  test("two definitions of one event are refused, naming both", () => {
    const other = defineEvent({ type: "PlanWritten", schema: z.object({}) });
    const act = () => build({ middleware: [planner, createMiddleware({ name: "copy", events: [other] })] });
    expect(act).toThrow(EventConflictError);
    expect(act).toThrow(/middleware planner.*middleware copy/);
  });

  test("two middlewares never share one field across agents by accident", () => {
    const schema = z.object({ list: z.array(z.string()).default([]) });
    const first = build({ stateSchema: schema }).reducer.initial.list;
    expect(Object.isFrozen(first)).toBe(true);
  });
});

describe("what does not fit is refused with the name of who brings it", () => {
  const named = (rest: object) => createMiddleware({ name: "odd", ...rest });
  test.each<[string, Partial<AssemblyOptions>, RegExp]>([
    ["two middlewares of one name", { middleware: [named({}), named({})] }, /odd.*two middlewares/],
    ["a middleware without a name", { middleware: [{ middleware: true } as never] }, /entry 0/],
    [
      "a state that is no object",
      { middleware: [named({ stateSchema: z.string() })] },
      /odd: its stateSchema/,
    ],
    [
      "a context that is no object",
      { middleware: [named({ contextSchema: z.string() })] },
      /odd: its contextSchema/,
    ],
    ["the agent's own context", { contextSchema: z.string() as never }, /the agent: its contextSchema/],
    [
      "a field that steers",
      { middleware: [named({ stateSchema: z.object({ jump_to: z.string() }) })] },
      /jump_to/,
    ],
    [
      "a field of that name in the reducers",
      { middleware: [named({ reducers: { jumpTo: { initial: 0, on: {} } } })] },
      /jumpTo/,
    ],
    [
      "a field that is no name",
      { middleware: [named({ reducers: { $run: { initial: 0, on: {} } } })] },
      /\$run/,
    ],
    [
      "an untracked field",
      { stateSchema: new StateSchema({ now: new UntrackedValue(z.string()) }) as never },
      /UntrackedValue/,
    ],
    [
      "a jump to nowhere",
      { middleware: [named({ afterModel: { hook: () => undefined, canJumpTo: ["moon"] } })] },
      /moon/,
    ],
    [
      "a hook that is no function",
      { middleware: [named({ afterModel: { canJumpTo: ["end"] } })] },
      /afterModel/,
    ],
    ["a wrap that is no function", { middleware: [named({ wrapToolCall: 5 })] }, /wrapToolCall/],
    [
      "an event that nobody defines",
      { middleware: [named({ reducers: { x: { initial: 0, on: { ["Ty" + "po"]: () => 1 } } } })] },
      /Typo/,
    ],
    ["a reducer under another name", { middleware: [named({ reducers: { x: todos } })] }, /"x".*"todos"/],
    ["something that is no tool", { tools: [{}] }, /no tool/],
  ])("%s", (_what, options, message) => {
    expect(() => build(options)).toThrow(AssemblyError);
    expect(() => build(options)).toThrow(message);
  });

  test("a field called __proto__", () => {
    const shape = JSON.parse('{"__proto__": 1}') as Record<string, unknown>;
    Object.defineProperty(shape, "__proto__", { value: z.string(), enumerable: true });
    expect(() => build({ stateSchema: { safeParse: () => undefined, shape } as never })).toThrow(
      AssemblyError,
    );
  });

  test("two tools of one name, naming both", () => {
    const make = () => defineTool({ name: "ls", description: "", schema: z.object({}), run: () => "" });
    expect(() => build({ tools: [make()], middleware: [named({ tools: [make()] })] })).toThrow(
      /middleware odd.*"ls".*the agent/,
    );
  });
});

describe("tools and model", () => {
  test("tools of the agent and its middlewares stand in one list, LangChain's among them; one object counts once", () => {
    const ls = defineTool({ name: "ls", description: "", schema: z.object({}), run: () => "" });
    const add = tool(() => "", { name: "add", schema: z.object({}) });
    const assembly = build({ tools: [ls], middleware: [createMiddleware({ name: "a", tools: [add, ls] })] });
    expect(assembly.tools.map(({ name }) => name)).toEqual(["ls", "add"]);
  });

  test("a model by name is resolved once, an instance is itself", async () => {
    const assembly = build({ model: "builtin:planner" });
    expect(assembly.modelName).toBe("builtin:planner");
    expect(await assembly.model()).toBe(await assembly.model());
    expect(await build({}).model()).toBe(model);
    await expect(build({ model: "moon:beam" }).model()).rejects.toThrow(/moon/);
  });
});
