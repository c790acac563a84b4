import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { interrupt } from "../../actors/interrupt.ts";
import { UnsupportedCommandError } from "../../actors/langchain-input.ts";
import { RunCancelledError, RunFailedError } from "../../actors/langchain-output.ts";
import { UnsupportedStreamModeError } from "../../actors/langgraph-stream.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { typesOf } from "./recorded-events.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { add, callsTools } from "./simple-tools.ts";

const inThread = (id: string) => ({ configurable: { thread_id: id } });

function adding(options: { streaming?: boolean } = {}) {
  const model = new ScriptedModel({
    answers: [callsTools(["add", { a: 1, b: 2 }]), "it is three"],
    ...options,
  });
  return createAgent({ model, tools: [add], store: "memory:" });
}

async function chunksOf<Chunk>(stream: AsyncIterable<unknown>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk as Chunk);
  return chunks;
}

describe("invoke", () => {
  test("runs a thread and gives its state with LangChain's messages", async () => {
    const agent = adding();
    const state = await agent.invoke({ messages: [new HumanMessage("1 + 2?")] }, inThread("t"));
    const messages = state.messages as { content: unknown }[];
    expect(messages.map((message) => message.constructor)).toEqual([
      HumanMessage,
      AIMessage,
      ToolMessage,
      AIMessage,
    ]);
    expect(messages.at(-1)?.content).toBe("it is three");
    const again = await agent.invoke({ messages: [{ role: "user", content: "and?" }] }, inThread("t"));
    expect(again.messages).toHaveLength(6);
  });

  test("without a thread id each call has a thread of its own", async () => {
    const agent = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), store: "memory:" });
    await agent.invoke("one");
    const second = await agent.invoke("two");
    expect(second.messages).toHaveLength(2);
  });

  test("throws what failed, with its cause", async () => {
    const problem = new Error("no such model");
    const agent = createAgent({ model: new ScriptedModel({ answers: [problem] }), store: "memory:" });
    const failure = await agent.invoke("hi").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RunFailedError);
    expect((failure as RunFailedError).message).toContain("no such model");
    const causes: unknown[] = [];
    for (let cause = (failure as Error).cause; cause instanceof Error; cause = cause.cause)
      causes.push(cause);
    expect(causes).toContain(problem);
  });

  test("an abort is told as such", async () => {
    const model = new ScriptedModel({ answers: ["late"], latencyMs: 60_000 });
    const agent = createAgent({ model, store: "memory:" });
    const controller = new AbortController();
    const going = agent.invoke("hi", { ...inThread("t"), signal: controller.signal });
    const failing = expect(going).rejects.toThrow(RunCancelledError);
    await expect.poll(() => typesOf(agent.thread("t"))).toContain("ModelCallStarted");
    controller.abort();
    await failing;
  });

  test("context, configurable and metadata reach the run", async () => {
    const seen: unknown[] = [];
    const spy = createMiddleware({
      name: "spy",
      contextSchema: z.object({ user: z.string() }),
      beforeModel: (_state, { context, configurable }) => void seen.push(context, configurable.extra),
    });
    const agent = createAgent({
      model: new ScriptedModel({ answers: ["hi"] }),
      middleware: [spy],
      store: "memory:",
    });
    const configurable = { thread_id: "t", extra: 7 };
    await agent.invoke("hi", { configurable, context: { user: "ada" }, metadata: { from: "test" } });
    expect(seen).toEqual([{ user: "ada" }, 7]);
    const [started] = await chunksOf<{ data: unknown }>(agent.thread("t").events({ types: ["RunStarted"] }));
    expect(started?.data).toMatchObject({ metadata: { from: "test" } });
    await expect(agent.invoke("hi", inThread("t"))).rejects.toMatchObject({ name: "ContextError" });
  });
});

describe("interrupts, as LangGraph has them", () => {
  const asking = () => {
    const ask = defineTool({
      name: "ask",
      description: "asks",
      schema: z.object({}),
      run: () => interrupt("question", { text: "which?" }),
    });
    const model = new ScriptedModel({ answers: [callsTools(["ask", {}, "a"], ["ask", {}, "b"]), "done"] });
    return createAgent({ model, tools: [ask], store: "memory:" });
  };

  test("are in the result, and a Command answers all of them", async () => {
    const agent = asking();
    const state = await agent.invoke("go", inThread("t"));
    const asked = state.__interrupt__ as { id: string; value: unknown }[];
    expect(asked.map(({ value }) => value)).toEqual([{ text: "which?" }, { text: "which?" }]);
    const resumed = await agent.invoke(new Command({ resume: "left" }), inThread("t"));
    expect(resumed.__interrupt__).toBeUndefined();
    expect((resumed.messages as { content: unknown }[]).map(({ content }) => content)).toEqual([
      "go",
      "",
      "left",
      "left",
      "done",
    ]);
  });

  test("a map of ids answers each by itself", async () => {
    const agent = asking();
    const state = await agent.invoke("go", inThread("t"));
    const [a, b] = (state.__interrupt__ as { id: string }[]).map(({ id }) => id);
    const resumed = await agent.invoke({ resume: { [a ?? ""]: "left", [b ?? ""]: "right" } }, inThread("t"));
    expect((resumed.messages as { content: unknown }[]).slice(2, 4).map(({ content }) => content)).toEqual([
      "left",
      "right",
    ]);
  });

  test("a Command with an update is an input, one that jumps is refused", async () => {
    const agent = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), store: "memory:" });
    const update = { messages: [{ role: "user", content: "hello" }] };
    expect((await agent.invoke(new Command({ update }))).messages).toHaveLength(2);
    await expect(agent.invoke(new Command({ goto: "tools" }))).rejects.toThrow(UnsupportedCommandError);
  });
});

describe("stream", () => {
  test("updates: what each node added", async () => {
    const chunks = await chunksOf<Record<string, { messages: { content: unknown }[] }>>(
      adding().stream("1 + 2?"),
    );
    expect(chunks.map((chunk) => Object.keys(chunk)[0])).toEqual(["model_request", "tools", "model_request"]);
    expect(chunks[1]?.tools?.messages).toHaveLength(1);
    expect(chunks[1]?.tools?.messages[0]).toBeInstanceOf(ToolMessage);
    expect(chunks[2]?.model_request?.messages[0]?.content).toBe("it is three");
  });

  test("updates: hooks under the names of LangChain's nodes", async () => {
    const noting = createMiddleware({
      name: "noting",
      stateSchema: z.object({ note: z.string() }),
      beforeModel: () => ({ note: "before" }),
      afterModel: () => ({ note: "after" }),
    });
    const agent = createAgent({
      model: new ScriptedModel({ answers: ["hi"] }),
      middleware: [noting],
      store: "memory:",
    });
    const chunks = await chunksOf(agent.stream("go", { streamMode: "updates" }));
    expect(chunks[0]).toEqual({ "noting.before_model": { note: "before" } });
    expect(chunks[2]).toEqual({ "noting.after_model": { note: "after" } });
  });

  test("values: the whole state after the input and after each step", async () => {
    const chunks = await chunksOf<{ messages: unknown[] }>(
      adding().stream("1 + 2?", { streamMode: "values" }),
    );
    expect(chunks.map(({ messages }) => messages.length)).toEqual([1, 2, 3, 4]);
  });

  test("messages: tokens as they come, and the results of tools", async () => {
    const agent = adding({ streaming: true });
    type Pair = [{ content: unknown; constructor: unknown }, { langgraph_node: string; thread_id: string }];
    const chunks = await chunksOf<Pair>(agent.stream("1 + 2?", { ...inThread("t"), streamMode: "messages" }));
    const texts = chunks
      .filter(([message]) => message instanceof AIMessageChunk)
      .map(([message]) => message.content);
    expect(texts.join("")).toBe("it is three");
    expect(texts.length).toBeGreaterThan(1);
    const tools = chunks.filter(([, { langgraph_node }]) => langgraph_node === "tools");
    expect(tools.map(([message]) => message.content)).toEqual(["3"]);
    expect(chunks.every(([, { thread_id }]) => thread_id === "t")).toBe(true);
  });

  test("custom: what hooks and tools write", async () => {
    const talking = createMiddleware({
      name: "talking",
      beforeModel: (_state, { writer }) => writer({ at: 1 }),
    });
    const agent = createAgent({
      model: new ScriptedModel({ answers: ["hi"] }),
      middleware: [talking],
      store: "memory:",
    });
    expect(await chunksOf(agent.stream("go", { streamMode: "custom" }))).toEqual([{ at: 1 }]);
  });

  test("a list of modes gives pairs", async () => {
    const chunks = await chunksOf<[string, unknown]>(
      adding().stream("1 + 2?", { streamMode: ["values", "updates"] }),
    );
    expect(new Set(chunks.map(([mode]) => mode))).toEqual(new Set(["values", "updates"]));
    expect(chunks[0]?.[0]).toBe("values");
  });

  test("interrupts are chunks", async () => {
    const ask = defineTool({
      name: "ask",
      description: "asks",
      schema: z.object({}),
      run: () => interrupt("question", "which?"),
    });
    const model = new ScriptedModel({ answers: [callsTools(["ask", {}])] });
    const agent = createAgent({ model, tools: [ask], store: "memory:" });
    const chunks = await chunksOf<Record<string, unknown>>(agent.stream("go"));
    expect(chunks.at(-1)).toMatchObject({ __interrupt__: [{ value: "which?" }] });
  });

  test("fails as invoke does, and refuses modes that it does not have", async () => {
    const agent = createAgent({ model: new ScriptedModel({ answers: [new Error("no")] }), store: "memory:" });
    await expect(chunksOf(agent.stream("go"))).rejects.toThrow(RunFailedError);
    await expect(chunksOf(agent.stream("go", { streamMode: "debug" }))).rejects.toThrow(
      UnsupportedStreamModeError,
    );
  });

  test("a reader that stops early cancels the run", async () => {
    const model = new ScriptedModel({ answers: [callsTools(["add", { a: 1, b: 2 }]), "late"] });
    const agent = createAgent({ model, tools: [add], store: "memory:" });
    for await (const _ of agent.stream("go", inThread("t"))) break;
    const types = await typesOf(agent.thread("t"));
    expect(types.filter((type) => type === "RunCancelled" || type === "RunCompleted")).toHaveLength(1);
    expect(await agent.thread("t").openRun()).toBeUndefined();
  });
});
