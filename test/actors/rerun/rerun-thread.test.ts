import { readFile } from "node:fs/promises";
import { HumanMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { AgentOptions } from "../../../actors/agent-contract.ts";
import { createAgent } from "../../../actors/create-agent.ts";
import {
  createMiddleware,
  type HookRuntime,
  type HookState,
  type Middleware,
} from "../../../actors/middleware/define-middleware.ts";
import { titleMiddleware } from "../../../actors/middleware/title.ts";
import { todosMiddleware } from "../../../actors/middleware/todos.ts";
import { ReplayMissError } from "../../../actors/models/replay/replay-miss.ts";
import { AgentStoreError, rerunThread } from "../../../actors/rerun/rerun-thread.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import { createMemoryKeyStore } from "../../../events/keys/memory.ts";
import { withEncryption } from "../../../events/keys/with-encryption.ts";
import { openStore } from "../../../events/open-store.ts";
import type { Store } from "../../../events/store.ts";
import { TitleSet } from "../../../events/title.ts";
import { ContentErasedError } from "../../../projections/content-erased.ts";
import { eraseThread } from "../../../projections/erase-thread.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { add, callsTools } from "../simple-tools.ts";

let store: Store;
beforeEach(async () => {
  store = await openStore("memory:");
});
afterEach(() => store.close());

const todos = (status: string) => ({ todos: [{ content: "add", status }] });
const script = () => [
  callsTools(["write_todos", todos("in_progress")], ["add", { a: 1, b: 2 }]),
  "Done.",
  callsTools(["write_todos", todos("completed"), "w2"]),
  "Three.",
];

/** The agent that recorded, with what a test changes. */
function options(change: Partial<AgentOptions> = {}): AgentOptions {
  return {
    model: new ScriptedModel({ answers: script() }),
    tools: [add],
    middleware: [todosMiddleware(), titleMiddleware()],
    ...change,
  };
}

async function record(given = options()): Promise<void> {
  const agent = createAgent({ ...given, store });
  await agent.thread("t").run("How much is 1 + 2?").result;
  await agent.close();
}
const rerun = (change: Partial<AgentOptions> = {}) =>
  rerunThread(store, "t", (inner) => createAgent({ ...options(change), store: inner }));

describe("rerunThread", () => {
  test("an unchanged agent emits what is recorded; no model and no tool is reached", async () => {
    let ran = 0;
    const counting = defineTool({ ...add, run: () => String(++ran) });
    await record();
    const model = new ScriptedModel({ answers: ["nobody asks"] });
    const { divergence, runs } = await rerun({ model, tools: [counting] });
    expect(divergence).toBeUndefined();
    expect(runs).toMatchObject([{ from: 1, cut: undefined }]);
    expect(model.calls).toHaveLength(0);
    expect(ran).toBe(0);
  });

  test("nothing is written to the source", async () => {
    await record();
    const before = await store.log.head("thread-t");
    await rerun();
    expect(await store.log.head("thread-t")).toEqual(before);
  });

  test("one changed line of the title middleware: thread, version and field are named", async () => {
    await record();
    const original = titleMiddleware();
    const changed: Middleware = {
      ...original,
      afterModel: async (state: HookState, runtime: HookRuntime) => {
        const hook = original.afterModel;
        const draft = typeof hook === "function" ? await hook(state, runtime) : undefined;
        return draft ? TitleSet({ title: "Changed", origin: "auto" }) : undefined;
      },
    };
    const { divergence } = await rerun({ middleware: [todosMiddleware(), changed] });
    const titles: number[] = [];
    for await (const page of store.log.read("thread-t", { types: ["TitleSet"] })) {
      titles.push(...page.map(({ version }) => version));
    }
    expect(divergence).toMatchObject({
      threadId: "t",
      version: titles[0],
      path: "data.title",
      fields: ["title"],
      values: { recorded: "How much is 1 + 2?", rerun: "Changed" },
    });
  });

  test("a reminder that is worded otherwise is found in the request that it went into", async () => {
    await record();
    const nagging = createMiddleware({
      name: "nagging",
      wrapModelCall: (request, handler) =>
        handler({ ...request, messages: [...request.messages, new HumanMessage("Hurry up.")] }),
    });
    const { divergence } = await rerun({ middleware: [todosMiddleware(), titleMiddleware(), nagging] });
    expect(divergence).toMatchObject({ recorded: { type: "ModelCallStarted" }, path: "data.view.edits[0]" });
  });

  test("a middleware that is gone leaves its events out", async () => {
    await record();
    const { divergence } = await rerun({ middleware: [todosMiddleware()] });
    expect(divergence).toMatchObject({ path: "type", recorded: { type: "TitleSet" } });
  });

  test("one more question to the model is a miss, never asked elsewhere", async () => {
    await record();
    const model = new ScriptedModel({ answers: ["nobody asks"] });
    let asked = 0;
    const again = createMiddleware({
      name: "again",
      afterModel: {
        canJumpTo: ["model"],
        hook: (state) => {
          const last = (state.messages ?? []).at(-1)?.text;
          if (last !== "Three." || asked > 0) return undefined;
          asked += 1;
          return { jumpTo: "model" as const };
        },
      },
    });
    const { divergence } = await rerun({ model, middleware: [todosMiddleware(), titleMiddleware(), again] });
    expect(divergence?.miss).toBeInstanceOf(ReplayMissError);
    expect(model.calls).toHaveLength(0);
  });

  test.each([{ maxSteps: 1 }, { maxModelCalls: 1 }])(
    "a run that came to a limit of its own is compared up to there: %j",
    async (limits) => {
      const agent = createAgent({ ...options(), store });
      const { stopReason } = await agent.thread("t").run("How much is 1 + 2?", { limits }).result;
      expect(stopReason).toBeDefined();
      await agent.close();
      const { divergence, runs } = await rerun();
      expect(divergence).toBeUndefined();
      expect(runs).toMatchObject([{ cut: "limit" }]);
      expect(runs[0]?.events).toBeGreaterThan(2);
    },
  );

  test("content that was erased cannot be done again", async () => {
    const encrypted = withEncryption(store, createMemoryKeyStore());
    const agent = createAgent({ ...options(), store: encrypted });
    await agent.thread("t").run("How much is 1 + 2?").result;
    await agent.close();
    await eraseThread(encrypted, "t");
    const refused = rerunThread(encrypted, "t", (inner) => createAgent({ ...options(), store: inner }));
    await expect(refused).rejects.toThrow(ContentErasedError);
    await expect(refused).rejects.toThrow("threadfold replay t");
  });

  test("only the run that is asked for is done again", async () => {
    await record();
    const agent = createAgent({ ...options(), store });
    const second = await agent.thread("t").run("And now?").result;
    await agent.close();
    const all = await rerun();
    expect(all.runs).toHaveLength(2);
    const change = (inner: Store) => createAgent({ ...options(), store: inner });
    const one = await rerunThread(store, "t", change, { runId: second.runId });
    expect(one.runs.map(({ runId }) => runId)).toEqual([second.runId]);
    const before = await rerunThread(store, "t", change, { to: second.fromVersion });
    expect(before.runs).toHaveLength(1);
  });

  test("what runs were given as context is given again", async () => {
    const greeting = createMiddleware<Record<string, unknown>, { name?: string }>({
      name: "greeting",
      contextSchema: z.object({ name: z.string().optional() }),
      beforeAgent: (_state, { context }) => TitleSet({ title: `For ${context.name}`, origin: "auto" }),
    });
    const given = options({ middleware: [todosMiddleware(), titleMiddleware(), greeting] });
    const agent = createAgent({ ...given, store });
    await agent.thread("t").run("How much is 1 + 2?", { context: { name: "Ada" } }).result;
    await agent.close();
    const again = (context: Record<string, unknown>) =>
      rerunThread(store, "t", (inner) => createAgent({ ...given, store: inner }), { context });
    expect((await again({ name: "Ada" })).divergence).toBeUndefined();
    expect((await again({ name: "Bob" })).divergence).toMatchObject({ path: "data.title" });
  });

  test("an agent that keeps its own store is refused", async () => {
    await record();
    const own = createAgent({ ...options(), store });
    await expect(rerunThread(store, "t", () => own)).rejects.toThrow(AgentStoreError);
    await own.close();
  });

  test("a title that a model wrote is taken from the log", async () => {
    const written = () =>
      titleMiddleware({
        model_name: "writer",
        resolveModel: () => new ScriptedModel({ answers: ["A sum"] }),
      });
    await record(options({ middleware: [todosMiddleware(), written()] }));
    const live = new ScriptedModel({ answers: ["Something else"] });
    const again = titleMiddleware({ model_name: "writer", resolveModel: () => live });
    expect((await rerun({ middleware: [todosMiddleware(), again] })).divergence).toBeUndefined();
    expect(live.calls).toHaveLength(0);
  });

  test("a recorded export is a source as well", async () => {
    const { openExport } = await import("../../../projections/open-export.ts");
    const { histories } = await import("../../histories/history-agents.ts");
    const file = new URL("../../histories/0.1.0/plan-mode.ndjson", import.meta.url);
    const text = await readFile(file, "utf8");
    const source = await openExport(file.pathname);
    const history = histories.find(({ name }) => name === "plan-mode");
    const rerunOf = await rerunThread(source, "plan", (inner) =>
      createAgent({ ...(history?.agent() ?? options()), store: inner }),
    );
    expect(rerunOf.divergence).toBeUndefined();
    await source.close();
    expect(await readFile(file, "utf8")).toBe(text);
  });
});
