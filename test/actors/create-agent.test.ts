import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { deferred } from "../../actors/deferred.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { openStore } from "../../events/open-store.ts";
import { dataOf, orphanCalls, typesOf } from "./recorded-events.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { add, callsTools } from "./simple-tools.ts";

type Answer = string | Error | ReturnType<typeof callsTools>;

const answering = (...answers: Answer[]) => new ScriptedModel({ answers });

describe("the store", () => {
  test("opened by URL is closed with the agent, and has everything for the next one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "agent-"));
    const store = `sqlite:${join(folder, "threads.db")}`;
    const agent = createAgent({ model: answering("one"), store });
    const { state } = await agent.thread("t").run("go").result;
    const opened = await agent.store();
    await agent.close();
    await expect(opened.log.head("thread-t")).rejects.toThrow();
    const next = createAgent({ model: answering("two"), store });
    expect(await next.thread("t").state()).toEqual(state);
    await next.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("passed open stays open", async () => {
    const store = await openStore("memory:");
    const agent = createAgent({ model: answering("one"), store });
    await agent.thread("t").run("go").result;
    await agent.close();
    expect((await store.log.head("thread-t")).version).toBeGreaterThan(0);
  });
});

describe("preset", () => {
  test("harness: the default chain stands before the agent's own middlewares; none: only those", () => {
    const own = createMiddleware({ name: "own" });
    const bare = createAgent({ model: answering("hi"), middleware: [own], store: "memory:" });
    expect(bare.middleware.map(({ name }) => name)).toEqual(["own"]);
    const full = createAgent({
      model: answering("hi"),
      middleware: [own],
      preset: "harness",
      store: "memory:",
    });
    const names = full.middleware.map(({ name }) => name);
    expect(names.indexOf("own")).toBeGreaterThan(names.indexOf("todos"));
    expect(full.reducer.fields).toContain("todos");
    expect(bare.reducer.fields).not.toContain("todos");
  });
});

describe("limits", () => {
  const busy = () =>
    new ScriptedModel({ answers: () => callsTools(["add", { a: 1, b: 1 }, `c${Math.random()}`]) });

  test("maxModelCalls of the agent: the run completes early, says why, and leaves no call open", async () => {
    const agent = createAgent({
      model: busy(),
      tools: [add],
      limits: { maxModelCalls: 3 },
      store: "memory:",
    });
    const thread = agent.thread("t");
    const result = await thread.run("go").result;
    expect(result).toMatchObject({ status: "completed", stopReason: "max-model-calls" });
    const types = await typesOf(thread);
    expect(types.filter((type) => type === "ModelResponded")).toHaveLength(3);
    expect(types.filter((type) => type === "ToolCallStarted")).toHaveLength(2);
    expect(await dataOf(thread, "ToolCallAbandoned")).toMatchObject([{ reason: "max-model-calls" }]);
    expect(orphanCalls(result.state.messages)).toEqual([]);
    expect((await thread.run("go on").result).stopReason).toBe("max-model-calls");
  });

  test("limits of a run go before those of the agent", async () => {
    const agent = createAgent({
      model: busy(),
      tools: [add],
      limits: { maxModelCalls: 9 },
      store: "memory:",
    });
    await agent.thread("t").run("go", { limits: { maxModelCalls: 1 } }).result;
    expect((await typesOf(agent.thread("t"))).filter((type) => type === "ModelResponded")).toHaveLength(1);
  });

  test("maxSteps ends what loops without the model", async () => {
    const looping = createMiddleware({
      name: "looping",
      beforeModel: { hook: () => ({ jumpTo: "model" as const }), canJumpTo: ["model"] },
    });
    const model = answering("never");
    const agent = createAgent({ model, middleware: [looping], limits: { maxSteps: 25 }, store: "memory:" });
    const result = await agent.thread("t").run("go").result;
    expect(result).toMatchObject({ status: "completed", stopReason: "max-steps" });
    expect(model.calls).toHaveLength(0);
    const jumps = (await typesOf(agent.thread("t"))).filter((type) => type === "JumpRequested");
    expect(jumps).toHaveLength(25);
  });

  test("toolTimeoutMs gives a tool up, and the model is told", async () => {
    const stuck = defineTool({
      name: "stuck",
      description: "never ends",
      schema: z.object({}),
      run: () => new Promise(() => undefined),
    });
    const agent = createAgent({
      model: answering(callsTools(["stuck", {}]), "I see"),
      tools: [stuck],
      limits: { toolTimeoutMs: 20 },
      store: "memory:",
    });
    expect((await agent.thread("t").run("go").result).status).toBe("completed");
    expect(await dataOf(agent.thread("t"), "ToolCallFailed")).toMatchObject([
      { error: { name: "ToolTimeoutError" } },
    ]);
  });
});

describe("jumps are recorded, steer the run, and are never in the state", () => {
  const jumping = (
    hook: "beforeAgent" | "beforeModel" | "afterModel" | "afterAgent",
    to: "model" | "tools" | "end",
  ) => {
    const ran: string[] = [];
    let jumps = true;
    const step = (name: string) => ({
      hook: () => {
        ran.push(name);
        if (name !== hook || !jumps) return undefined;
        jumps = false;
        return { jumpTo: to };
      },
      canJumpTo: [to],
    });
    const middleware = createMiddleware({
      name: "jumping",
      beforeAgent: step("beforeAgent"),
      beforeModel: step("beforeModel"),
      afterModel: step("afterModel"),
      afterAgent: step("afterAgent"),
    });
    return { middleware, ran };
  };
  const full = ["beforeAgent", "beforeModel", "afterModel", "afterAgent"];

  test.each([
    ["beforeAgent", "end", ["beforeAgent", "afterAgent"]],
    ["beforeModel", "end", ["beforeAgent", "beforeModel", "afterAgent"]],
    ["afterModel", "end", full],
    ["afterAgent", "end", full],
    ["beforeAgent", "model", full],
    ["beforeModel", "model", ["beforeAgent", "beforeModel", "beforeModel", "afterModel", "afterAgent"]],
    [
      "afterModel",
      "model",
      ["beforeAgent", "beforeModel", "afterModel", "beforeModel", "afterModel", "afterAgent"],
    ],
    ["afterAgent", "model", [...full, "beforeModel", "afterModel", "afterAgent"]],
    ["beforeModel", "tools", ["beforeAgent", "beforeModel", "afterAgent"]],
    ["afterModel", "tools", full],
  ] as const)("%s to %s", async (hook, to, order) => {
    const { middleware, ran } = jumping(hook, to);
    const agent = createAgent({ model: answering("hi"), middleware: [middleware], store: "memory:" });
    const result = await agent.thread("t").run("go").result;
    expect(result.status).toBe("completed");
    expect(ran).toEqual(order);
    expect(await dataOf(agent.thread("t"), "JumpRequested")).toEqual([{ to }]);
    expect(JSON.stringify(result.state)).not.toMatch(/jump/i);
  });

  test("a jump to the end leaves no call without a result", async () => {
    const { middleware } = jumping("afterModel", "end");
    const model = answering(callsTools(["add", { a: 1, b: 1 }]));
    const agent = createAgent({ model, tools: [add], middleware: [middleware], store: "memory:" });
    const { state } = await agent.thread("t").run("go").result;
    expect(orphanCalls(state.messages)).toEqual([]);
    expect(await dataOf(agent.thread("t"), "ToolCallAbandoned")).toMatchObject([{ reason: "not-run" }]);
  });

  test("a tool that ends the run ends it", async () => {
    const last = defineTool({
      name: "last",
      description: "ends",
      schema: z.object({}),
      returnDirect: true,
      run: () => "bye",
    });
    const model = answering(callsTools(["last", {}]), "never");
    const agent = createAgent({ model, tools: [last], limits: { maxModelCalls: 1 }, store: "memory:" });
    const result = await agent.thread("t").run("go").result;
    expect(result).toMatchObject({ status: "completed", stopReason: undefined });
    expect(model.calls).toHaveLength(1);
    expect(await dataOf(agent.thread("t"), "JumpRequested")).toEqual([{ to: "end" }]);
  });
});

describe("a run that fails", () => {
  test("records the error without a stack, closes open calls, and gives back what was acquired", async () => {
    const released: string[] = [];
    const failing = createMiddleware({
      name: "failing",
      afterModel: () => {
        throw new Error("broken hook");
      },
      release: () => void released.push("release"),
    });
    const model = answering(callsTools(["add", { a: 1, b: 1 }]), "fine");
    const agent = createAgent({ model, tools: [add], middleware: [failing], store: "memory:" });
    const thread = agent.thread("t");
    const result = await thread.run("go").result;
    expect(result).toMatchObject({
      status: "failed",
      error: { name: "HookError", middleware: "failing", hook: "afterModel" },
    });
    expect(JSON.stringify(await dataOf(thread, "RunFailed"))).not.toContain("    at ");
    expect(orphanCalls(result.state.messages)).toEqual([]);
    expect(released).toEqual(["release"]);
    expect(await thread.info()).toMatchObject({ status: "failed" });
  });

  test("a release that throws is told, and the others run", async () => {
    const released: string[] = [];
    const good = createMiddleware({ name: "good", release: () => void released.push("good") });
    const bad = createMiddleware({
      name: "bad",
      release: () => {
        throw new Error("cannot let go");
      },
    });
    const agent = createAgent({ model: answering("hi"), middleware: [good, bad], store: "memory:" });
    const result = await agent.thread("t").run("go").result;
    expect(result).toMatchObject({ status: "failed", error: { name: "ReleaseError" } });
    expect(released).toEqual(["good"]);
  });

  test("what hooks recorded before the failure stays", async () => {
    const noting = createMiddleware({
      name: "noting",
      stateSchema: z.object({ note: z.string() }),
      beforeAgent: () => ({ note: "kept" }),
    });
    const failing = createMiddleware({
      name: "failing",
      beforeModel: () => {
        throw new Error("no");
      },
    });
    const agent = createAgent({ model: answering("hi"), middleware: [noting, failing], store: "memory:" });
    const { state } = await agent.thread("t").run("go").result;
    expect(state.note).toBe("kept");
  });
});

test("a run that never began rejects, and whoever follows it is told", async () => {
  const agent = createAgent({ model: answering("hi"), store: "memory:" });
  const run = agent.thread("t").run({ unheard: 1 });
  await expect(run.result).rejects.toMatchObject({ name: "UnknownFieldError" });
  const following = async () => {
    for await (const item of run) throw new Error(`unexpected ${item.kind}`);
  };
  await expect(following()).rejects.toMatchObject({ name: "UnknownFieldError" });
  await expect(run.cancel()).rejects.toMatchObject({ name: "UnknownFieldError" });
  expect((await agent.thread("t").info()).version).toBe(0);
});

test("a run that is open can be followed by others from its first event", async () => {
  const opened = deferred<string>();
  const wait = defineTool({
    name: "wait",
    description: "w",
    schema: z.object({}),
    run: () => opened.promise,
  });
  const agent = createAgent({
    model: answering(callsTools(["wait", {}]), "done"),
    tools: [wait],
    store: "memory:",
  });
  const thread = agent.thread("t");
  const run = thread.run("go", { runId: "my-run", parent: { threadId: "p", runId: "r", callId: "c" } });
  for await (const item of run) if (item.kind === "event" && item.event.type === "ToolCallStarted") break;
  const other = await thread.openRun();
  expect(other?.runId).toBe("my-run");
  opened.resolve("open");
  const types: string[] = [];
  for await (const item of other ?? []) if (item.kind === "event") types.push(item.event.type);
  expect(types).toEqual(await typesOf(thread));
  expect(await other?.result).toEqual(await run.result);
  expect(await dataOf(thread, "RunStarted")).toMatchObject([
    { parent: { threadId: "p", runId: "r", callId: "c" } },
  ]);
  expect(await thread.openRun()).toBeUndefined();
});
