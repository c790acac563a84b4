import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { Command } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AssemblyOptions } from "../../../actors/assemble.ts";
import { createMiddleware, type Middleware } from "../../../actors/middleware/define-middleware.ts";
import { ModelCallError, prepareModelCall } from "../../../actors/steps/model-call.ts";
import type { AttributedDraft, StepContext } from "../../../actors/steps/step-contract.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import { defineEvent } from "../../../events/define-event.ts";
import type { Message } from "../../../events/message.ts";
import type { View } from "../../../events/model.ts";
import { ScriptedModel, type ScriptedModelOptions } from "../scripted-model.ts";
import { stepContext } from "./step-context.ts";

const Noted = defineEvent({ type: "Noted", schema: z.object({ text: z.string() }) });
const notes = createMiddleware({
  name: "notes",
  events: [Noted],
  stateSchema: z.object({ topic: z.string().optional() }),
});
const hello: Message = { id: "m1", type: "human", content: "hello" };
const add = defineTool({
  name: "add",
  description: "Adds",
  schema: z.object({ a: z.number() }),
  run: () => "",
});
const wrap = (name: string, wrapModelCall: NonNullable<Middleware["wrapModelCall"]>) =>
  createMiddleware({ name, wrapModelCall });

function context(options: Partial<AssemblyOptions>, given: Partial<StepContext> = {}) {
  const ctx = stepContext({ ...options, middleware: [notes, ...(options.middleware ?? [])] });
  return { ...ctx, state: { ...ctx.state, messages: [hello] }, ...given };
}

/** Prepares and executes one call; `batches` are what would be appended, in order. */
async function ask(options: Partial<AssemblyOptions>, given: Partial<StepContext> = {}) {
  const ctx = context(options, given);
  const prepared = await prepareModelCall(ctx, undefined);
  const batches: AttributedDraft[][] = [[...prepared.started]];
  const record = async (drafts: readonly AttributedDraft[]) => void batches.push([...drafts]);
  batches.push([...(await prepared.execute(record))]);
  const drafts = batches.flat();
  const dataOf = (type: string) =>
    drafts
      .filter(({ draft }) => draft.type === type)
      .map(({ draft }) => draft.data as Record<string, unknown>);
  return {
    ctx,
    prepared,
    drafts,
    types: batches.map((batch) => batch.map(({ draft }) => draft.type)),
    started: dataOf("ModelCallStarted"),
    view: dataOf("ModelCallStarted")[0]?.view as View,
    responded: dataOf("ModelResponded")[0] as { message: Message & { content: string } } & Record<
      string,
      unknown
    >,
    dataOf,
  };
}
const scripted = (answers: ScriptedModelOptions["answers"], more: Partial<ScriptedModelOptions> = {}) =>
  new ScriptedModel({ answers, ...more });

describe("one call", () => {
  test("is announced before it goes out", async () => {
    const model = scripted(["hi"]);
    const prepared = await prepareModelCall(context({ model }), undefined);
    expect(prepared.started).toMatchObject([
      {
        draft: {
          type: "ModelCallStarted",
          data: { callId: prepared.callId, model: "ScriptedModel", tools: null },
        },
        by: "runtime",
      },
    ]);
    expect(model.calls).toHaveLength(0);
    const drafts = await prepared.execute(() => Promise.reject(new Error("nothing to record")));
    expect(model.calls).toHaveLength(1);
    expect(drafts).toMatchObject([
      {
        draft: {
          type: "ModelResponded",
          data: { callId: prepared.callId, message: { type: "ai", content: "hi" } },
        },
        by: "model:ScriptedModel",
      },
    ]);
  });

  test("keeps the id of a call that is asked again after a crash", async () => {
    expect((await ask({}, { callId: "call-7" })).prepared.callId).toBe("call-7");
  });

  test("gives usage, finish reason and a small message", async () => {
    const answer = new AIMessage({
      content: "x",
      usage_metadata: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
      response_metadata: { finish_reason: "stop" },
    });
    const { responded } = await ask({ model: scripted([answer]) });
    expect(responded).toMatchObject({ usage: { input_tokens: 3, output_tokens: 2 }, finishReason: "stop" });
    expect(responded.latencyMs).toBeGreaterThanOrEqual(0);
    expect(Object.keys(responded.message).sort()).toEqual([
      "content",
      "id",
      "response_metadata",
      "type",
      "usage_metadata",
    ]);
  });

  test("shows the model the system prompt, the messages, and the tools only when there are some", async () => {
    const model = scripted(["x"]);
    await ask({ model, systemPrompt: "Be kind." });
    await ask({ model, tools: [add] });
    expect(model.calls[0]?.messages.map((message) => [message.getType(), message.content])).toEqual([
      ["system", "Be kind."],
      ["human", "hello"],
    ]);
    expect(model.calls[0]?.options).not.toHaveProperty("tools");
    expect(model.calls[1]?.options.tools).toMatchObject([
      { function: { name: "add", parameters: { properties: { a: { type: "number" } } } } },
    ]);
  });

  test("hands the call's id, the thread and the run to the model as metadata", async () => {
    const metadata: unknown[] = [];
    const model = scripted(["x"]);
    model.callbacks = [{ handleChatModelStart: (...args: unknown[]) => void metadata.push(args[6]) }];
    const { prepared } = await ask({ model });
    expect(metadata[0]).toMatchObject({ call_id: prepared.callId, thread_id: "t1", run_id: "r1" });
  });

  test("keeps prompt and tools in the blob store, once", async () => {
    const { ctx, started, view } = await ask({ systemPrompt: "Be kind.", tools: [add] });
    expect(view.system?.by).toEqual(["agent"]);
    expect(Buffer.from(await ctx.blobs.get(view.system?.sha256 ?? "")).toString()).toBe("Be kind.");
    const tools = JSON.parse(Buffer.from(await ctx.blobs.get(started[0]?.tools as string)).toString());
    expect(tools).toMatchObject([{ function: { name: "add", description: "Adds" } }]);
    let puts = 0;
    const blobs = {
      ...ctx.blobs,
      put: (...args: Parameters<typeof ctx.blobs.put>) => {
        puts += 1;
        return ctx.blobs.put(...args);
      },
    };
    const first = await prepareModelCall({ ...ctx, blobs }, undefined);
    const second = await prepareModelCall({ ...ctx, blobs }, first.view());
    await prepareModelCall({ ...ctx, blobs }, second.view());
    expect(puts).toBe(2);
  });

  test("an id that the thread has already is not given out twice", async () => {
    const answer = new AIMessage({
      content: "x",
      id: "m1",
      tool_calls: [
        { name: "add", args: {}, id: "c1" },
        { name: "add", args: {}, id: "c1" },
      ],
    });
    const before: Message = {
      id: "m0",
      type: "ai",
      content: "",
      tool_calls: [{ name: "add", args: {}, id: "c1" }],
    };
    const { responded } = await ask({ model: scripted([answer]) }, { state: { messages: [before, hello] } });
    const ids = responded.message.tool_calls?.map(({ id }) => id) ?? [];
    expect(responded.message.id).not.toBe("m1");
    expect(new Set([...ids, "c1"]).size).toBe(3);
  });

  test("LangChain's fake models work", async () => {
    const model = new FakeListChatModel({ responses: ["one two"] });
    const { responded, ctx } = await ask({ model });
    expect(responded.message.content).toBe("one two");
    expect(ctx.published.length).toBeGreaterThan(1);
  });
});

describe("tokens", () => {
  test("are published as they come, under the id of the message they become", async () => {
    const { ctx, responded, prepared } = await ask({ model: scripted(["two words"], { streaming: true }) });
    const tokens = ctx.published.filter((item) => item.kind === "token");
    expect(tokens.map(({ text }) => text).join("")).toBe("two words");
    expect(tokens[0]).toMatchObject({ callId: prepared.callId, messageId: responded.message.id });
    expect(responded.message).not.toHaveProperty("tool_call_chunks");
  });

  test("of a model tagged nostream stay private", async () => {
    const model = scripted(["two words"], { streaming: true });
    model.tags = ["nostream"];
    expect((await ask({ model })).ctx.published).toEqual([]);
  });

  test("are not made up for a model that cannot stream", async () => {
    expect((await ask({ model: scripted(["two words"]) })).ctx.published).toEqual([]);
  });
});

describe("wrapModelCall", () => {
  test("nests with the first one outermost", async () => {
    const seen: string[] = [];
    const part = (name: string) =>
      wrap(name, async (request, handler) => {
        seen.push(`>${name}`);
        const answer = await handler(request);
        seen.push(`<${name}`);
        return answer;
      });
    await ask({ middleware: [part("a"), part("b")] });
    expect(seen).toEqual([">a", ">b", "<b", "<a"]);
  });

  test("may change model, prompt, messages, tools, choice and settings", async () => {
    const model = scripted(["first"]);
    const other = scripted(["second"], { name: "other" });
    const changes = wrap("changes", (request, handler) =>
      handler({
        ...request,
        model: other,
        systemPrompt: "New.",
        messages: [...request.messages, new HumanMessage("more")],
        tools: [add],
        toolChoice: "any",
        modelSettings: { temperature: 0 },
      }),
    );
    const { responded, started, drafts } = await ask({ model, tools: [add], middleware: [changes] });
    expect(model.calls).toHaveLength(0);
    expect(other.calls[0]?.messages.map(({ content }) => content)).toEqual(["New.", "hello", "more"]);
    expect(other.calls[0]?.options).toMatchObject({ tool_choice: "any", temperature: 0 });
    expect(responded.message.content).toBe("second");
    expect(started[0]).toMatchObject({
      model: "other",
      toolChoice: "any",
      settings: { temperature: 0 },
      view: {
        edits: [{ op: "insert", after: "m1", by: "middleware:changes" }],
        system: { by: ["agent", "middleware:changes"] },
      },
    });
    expect(drafts.at(-1)?.by).toBe("model:other");
  });

  test("speaks both spellings of the system prompt", async () => {
    const model = scripted(["x"]);
    const longer = wrap("longer", (request, handler) =>
      handler({ ...request, systemMessage: new SystemMessage(`${request.systemMessage?.text} B`) }),
    );
    const longest = wrap("longest", (request, handler) =>
      handler({ ...request, systemPrompt: `${request.systemPrompt} C` }),
    );
    const { view } = await ask({ model, systemPrompt: "A", middleware: [longer, longest] });
    expect(model.calls[0]?.messages[0]?.content).toBe("A B C");
    expect(view.system?.by).toEqual(["agent", "middleware:longer", "middleware:longest"]);
  });

  test("may give blocks as the system prompt, and take it away", async () => {
    const model = scripted(["x"]);
    const blocks = [{ type: "text", text: "A", cache_control: { type: "ephemeral" } }];
    await ask({
      model,
      middleware: [
        wrap("w", (request, handler) =>
          handler({ ...request, systemMessage: new SystemMessage({ content: blocks }) }),
        ),
      ],
    });
    await ask({
      model,
      systemPrompt: "A",
      middleware: [wrap("w", (request, handler) => handler({ ...request, systemPrompt: undefined }))],
    });
    expect(model.calls[0]?.messages[0]?.content).toEqual(blocks);
    expect(model.calls[1]?.messages.map((message) => message.getType())).toEqual(["human"]);
  });

  test.each<[string, (request: never) => object, RegExp]>([
    [
      "both spellings",
      (request: { systemPrompt: string }) => ({
        ...request,
        systemPrompt: "a",
        systemMessage: new SystemMessage("b"),
      }),
      /both systemPrompt and systemMessage/,
    ],
    [
      "a tool in another's place",
      (request: object) => ({ ...request, tools: [{ ...add }] }),
      /in the place of "add"/,
    ],
    [
      "a tool that nobody can run",
      (request: object) => ({ ...request, tools: [defineTool({ ...add, name: "sub" })] }),
      /nobody can run/,
    ],
    ["one tool twice", (request: object) => ({ ...request, tools: [add, add] }), /two tools named "add"/],
    [
      "messages that are none",
      (request: object) => ({ ...request, messages: ["hi"] }),
      /no LangChain message/,
    ],
  ])("is refused: %s", async (_what, change, message) => {
    const bad = wrap("bad", (request, handler) => handler(change(request as never) as never));
    const act = prepareModelCall(context({ tools: [add], middleware: [bad] }), undefined);
    await expect(act).rejects.toMatchObject({ name: "ModelRequestError", middleware: "bad" });
    await expect(act).rejects.toThrow(message);
  });

  const answer = new AIMessage("own");
  test.each<[string, unknown, string]>([
    ["a message", answer, "own"],
    ["a message with events", { message: answer, events: [Noted({ text: "a" })] }, "own"],
    [
      "LangGraph's extended response",
      { modelResponse: answer, command: new Command({ update: { topic: "t" } }) },
      "own",
    ],
    ["a Command, with the handler's answer", new Command({ update: { topic: "t" } }), "inner"],
    ["events, with the handler's answer", { events: [Noted({ text: "a" })] }, "inner"],
  ])("may return %s", async (_what, result, content) => {
    const returns = wrap("returns", async (request, handler) => {
      await handler(request);
      return result as never;
    });
    const { responded, drafts } = await ask({ model: scripted(["inner"]), middleware: [returns] });
    expect(responded.message.content).toBe(content);
    const beside = drafts.filter(({ by }) => by === "middleware:returns").map(({ draft }) => draft.type);
    expect(beside).toEqual(
      result === answer ? [] : [JSON.stringify(result).includes("topic") ? "StateUpdated" : "Noted"],
    );
  });

  test("events stand before the answer, inner ones first, so that the outer update wins", async () => {
    const part = (name: string) =>
      wrap(name, async (request, handler) => ({ message: await handler(request), update: { topic: name } }));
    const { types, dataOf } = await ask({ middleware: [part("outer"), part("inner")] });
    expect(types[1]).toEqual(["StateUpdated", "StateUpdated", "ModelResponded"]);
    expect(dataOf("StateUpdated").map(({ value }) => value)).toEqual(["inner", "outer"]);
  });

  test("may answer without the model: the call is recorded as the middleware's", async () => {
    const model = scripted(["x"]);
    const { types, started, drafts, responded } = await ask({
      model,
      middleware: [wrap("cache", () => new AIMessage("cached"))],
    });
    expect(model.calls).toHaveLength(0);
    expect(types).toEqual([["ModelCallStarted"], ["ModelResponded"]]);
    expect(started[0]?.model).toBe("middleware:cache");
    expect(drafts.at(-1)?.by).toBe("middleware:cache");
    expect(responded.message.content).toBe("cached");
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a text", "hi"],
    ["a human message", new HumanMessage("x")],
    ["an empty object", {}],
  ])("that returns %s fails with its name", async (_what, result) => {
    const act = prepareModelCall(context({ middleware: [wrap("bad", () => result as never)] }), undefined);
    await expect(act).rejects.toMatchObject({ name: "ModelAnswerError", source: "middleware:bad" });
  });

  test("that throws before the model is named", async () => {
    const bad = wrap("bad", () => {
      throw new Error("boom");
    });
    await expect(prepareModelCall(context({ middleware: [bad] }), undefined)).rejects.toMatchObject({
      name: "HookError",
      middleware: "bad",
      hook: "wrapModelCall",
    });
  });

  test("that throws after the model fails the call with its name", async () => {
    const bad = wrap("bad", async (request, handler) => {
      await handler(request);
      throw new Error("boom");
    });
    await expect(ask({ middleware: [bad] })).rejects.toMatchObject({
      name: "ModelCallError",
      cause: { name: "HookError", middleware: "bad" },
    });
  });

  test("sees its own part of the context", async () => {
    const seen: unknown[] = [];
    const reads = createMiddleware({
      name: "reads",
      contextSchema: z.object({ user: z.string() }),
      wrapModelCall: (request, handler) => {
        seen.push(request.runtime.context);
        return handler(request);
      },
    });
    await ask({ middleware: [reads] }, { context: { user: "u", secret: "s" } });
    expect(seen).toEqual([{ user: "u" }]);
  });
});

describe("tries", () => {
  const retry = wrap("retry", (request, handler) => handler(request).catch(() => handler(request)));

  test("of the same request are one announced call, with the failure recorded", async () => {
    const { types, dataOf } = await ask({ model: scripted([new Error("busy"), "ok"]), middleware: [retry] });
    expect(types).toEqual([["ModelCallStarted"], ["ModelCallFailed", "ModelResponded"]]);
    expect(dataOf("ModelCallFailed")).toMatchObject([
      { attempt: 1, error: { name: "Error", message: "busy" } },
    ]);
  });

  test("with another request are announced before they go out", async () => {
    const other = scripted(["plan b"], { name: "other" });
    const fallback = wrap("fallback", (request, handler) =>
      handler(request).catch(() => handler({ ...request, model: other })),
    );
    const { types, started, prepared, drafts } = await ask({
      model: scripted([new Error("down")]),
      middleware: [fallback],
    });
    expect(types).toEqual([
      ["ModelCallStarted"],
      ["ModelCallFailed", "ModelCallStarted"],
      ["ModelResponded"],
    ]);
    expect(started.map(({ callId, model }) => [callId, model])).toEqual([
      [prepared.callId, "ScriptedModel"],
      [prepared.callId, "other"],
    ]);
    expect(drafts.at(-1)?.by).toBe("model:other");
  });

  test("that could not be recorded do not go out", async () => {
    const other = scripted(["plan b"]);
    const fallback = wrap("fallback", (request, handler) =>
      handler(request).catch(() => handler({ ...request, model: other, systemPrompt: "b" })),
    );
    const prepared = await prepareModelCall(
      context({ model: scripted([new Error("down")]), middleware: [fallback] }),
      undefined,
    );
    await expect(prepared.execute(() => Promise.reject(new Error("disk full")))).rejects.toThrow("disk full");
    expect(other.calls).toHaveLength(0);
  });

  test("of two models at once are announced one after the other", async () => {
    const slow = scripted(["slow"], { name: "slow", latencyMs: 50 });
    const both = wrap("both", (request, handler) =>
      Promise.any([handler({ ...request, model: slow }), handler(request)]),
    );
    const { started, responded } = await ask({ model: scripted(["fast"]), middleware: [both] });
    expect(started.map(({ model }) => model)).toEqual(["slow", "ScriptedModel"]);
    expect(responded.message.content).toBe("fast");
  });

  test("that all fail end in an error with what is to be recorded", async () => {
    const prepared = await prepareModelCall(
      context({ model: scripted([new Error("down")]), middleware: [retry] }),
      undefined,
    );
    const error = await prepared.execute(async () => undefined).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ModelCallError);
    expect(
      (error as ModelCallError).drafts.map(({ draft }) => [
        draft.type,
        (draft.data as { attempt: number }).attempt,
      ]),
    ).toEqual([
      ["ModelCallFailed", 1],
      ["ModelCallFailed", 2],
    ]);
    expect((error as ModelCallError).message).toBe("The model call failed: Error: down");
  });

  test("an answer in the place of a model that failed is the middleware's word", async () => {
    const excuse = wrap("excuse", (request, handler) =>
      handler(request).catch(() => new AIMessage("Later.")),
    );
    const { drafts } = await ask({ model: scripted([new Error("down")]), middleware: [excuse] });
    expect(drafts.at(-1)).toMatchObject({ by: "middleware:excuse", draft: { type: "ModelResponded" } });
  });
});

describe("a model that misbehaves", () => {
  const returning = (value: unknown) => Object.assign(scripted(["x"]), { invoke: async () => value });
  test.each([
    ["nothing", undefined],
    ["a text", "hi"],
    ["a tool message", new ToolMessage({ content: "x", tool_call_id: "c" })],
  ])("and gives %s fails with a clear error", async (_what, value) => {
    await expect(ask({ model: returning(value) })).rejects.toMatchObject({
      name: "ModelCallError",
      cause: { name: "ModelAnswerError" },
    });
  });

  test("and generates nothing at all fails with a clear error", async () => {
    const model = new FakeListChatModel({ responses: ["x"] });
    Object.assign(model, { disableStreaming: true, _generate: async () => ({ generations: [] }) });
    await expect(ask({ model })).rejects.toMatchObject({
      cause: { name: "ModelAnswerError", message: expect.stringContaining("gave no answer") },
    });
  });

  test("and cannot call tools says so", async () => {
    const model = Object.assign(scripted(["x"]), { bindTools: undefined as never });
    await expect(ask({ model, tools: [add] })).rejects.toMatchObject({
      cause: { name: "ToolsNotSupportedError" },
    });
  });
});

describe("withdrawing", () => {
  test.each(["abandon", "abort"])("%s unwinds the chain, and the model is not called", async (how) => {
    const model = scripted(["x"]);
    const controller = new AbortController();
    let unwound: () => void = () => undefined;
    const done = new Promise<void>((resolve) => {
      unwound = resolve;
    });
    const cleans = wrap("cleans", async (request, handler) => {
      try {
        return await handler(request);
      } finally {
        unwound();
      }
    });
    const prepared = await prepareModelCall(
      context({ model, middleware: [cleans] }, { signal: controller.signal }),
      undefined,
    );
    if (how === "abandon") prepared.abandon();
    else controller.abort();
    await done;
    expect(model.calls).toHaveLength(0);
  });

  test("a cancel during the call rejects", async () => {
    const controller = new AbortController();
    const model = scripted(
      () => {
        controller.abort(new Error("stop"));
        return "x";
      },
      { streaming: true },
    );
    await expect(ask({ model }, { signal: controller.signal })).rejects.toBeInstanceOf(ModelCallError);
  });
});

test("a request's messages cannot be changed in place", async () => {
  const bad = wrap("bad", (request, handler) => {
    (request.messages[0] as BaseMessage).content = "x";
    return handler(request);
  });
  await expect(prepareModelCall(context({ middleware: [bad] }), undefined)).rejects.toMatchObject({
    cause: expect.any(TypeError),
  });
});
