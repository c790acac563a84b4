import { ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, GraphInterrupt } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AssemblyOptions } from "../../../actors/assemble.ts";
import { interrupt } from "../../../actors/interrupt.ts";
import { createMiddleware, type Middleware } from "../../../actors/middleware/define-middleware.ts";
import type { StepContext, ToolCallAnswer } from "../../../actors/steps/step-contract.ts";
import { executeToolCall } from "../../../actors/steps/tool-call.ts";
import { defineTool, type ToolRuntime } from "../../../actors/tools/define-tool.ts";
import { defineEvent } from "../../../events/define-event.ts";
import { bare, stepContext } from "./step-context.ts";

const Noted = defineEvent({ type: "Noted", schema: z.object({ text: z.string() }) });
const notes = createMiddleware({
  name: "notes",
  events: [Noted],
  stateSchema: z.object({ topic: z.string().optional() }),
  reducers: {
    notes: {
      initial: [],
      on: { [Noted.type]: (all: string[], { text }: { text: string }) => [...all, text] },
    },
  },
});
const anything = z.looseObject({});
const own = (run: (args: never, runtime: ToolRuntime) => unknown, more: object = {}) =>
  defineTool({ name: "probe", description: "", schema: anything, run: run as never, ...more });
const wrap = (name: string, wrapToolCall: NonNullable<Middleware["wrapToolCall"]>) =>
  createMiddleware({ name, wrapToolCall });

async function call(
  options: Partial<AssemblyOptions>,
  given: {
    args?: Record<string, unknown>;
    name?: string;
    answers?: ToolCallAnswer[];
  } & Partial<StepContext> = {},
) {
  const { args = {}, name = "probe", answers = [], ...context } = given;
  const ctx = stepContext({ ...options, middleware: [notes, ...(options.middleware ?? [])] }, context);
  const outcome = await executeToolCall(ctx, { call: { id: "c1", name, args }, answers });
  return { ctx, outcome };
}
async function ended(...args: Parameters<typeof call>) {
  const { outcome } = await call(...args);
  if (outcome.kind !== "ended") throw new Error("It asked.");
  const [result, ...state] = outcome.drafts;
  const data = result?.draft.data as { message: Record<string, unknown>; error?: Record<string, unknown> };
  return { ...outcome, type: result?.draft.type, by: result?.by, ...data, state };
}

describe("what a tool gives becomes a tool message", () => {
  test.each<[string, unknown, object]>([
    ["text", "hi", { content: "hi" }],
    ["nothing", undefined, { content: "" }],
    ["a number", 5, { content: "5" }],
    ["an object", { a: [1] }, { content: '{"a":[1]}' }],
    ["a list", [1, 2], { content: "[1,2]" }],
    ["an empty list", [], { content: "[]" }],
    ["content blocks", [{ type: "text", text: "x" }], { content: [{ type: "text", text: "x" }] }],
    [
      "a ToolResult",
      { content: "x", artifact: { n: 1 }, additional_kwargs: { a: 1 } },
      { content: "x", artifact: { n: 1 }, additional_kwargs: { a: 1 } },
    ],
    ["a ToolMessage", new ToolMessage({ content: "x", tool_call_id: "other" }), { content: "x" }],
    [
      "an object that only looks like a result",
      { content: "x", else: 1 },
      { content: '{"content":"x","else":1}' },
    ],
  ])("%s", async (_what, value, expected) => {
    const { type, message, by } = await ended({ tools: [own(() => value)] });
    expect(type).toBe("ToolCallCompleted");
    expect(message).toMatchObject({ type: "tool", tool_call_id: "c1", name: "probe", ...expected });
    expect(message.id).toEqual(expect.any(String));
    expect(by).toBe("tool:probe");
  });

  test("a result with status error is a failed call", async () => {
    const { type, error } = await ended({ tools: [own(() => ({ content: "no", status: "error" }))] });
    expect([type, error]).toEqual(["ToolCallFailed", { name: "ToolError", message: "no" }]);
  });
});

describe("events and updates beside the result", () => {
  test("events of a tool are the tool's", async () => {
    const { state } = await ended({
      tools: [own(() => ({ content: "x", events: [Noted({ text: "a" })], update: { topic: "t" } }))],
    });
    expect(bare(state)).toEqual([
      { ...Noted({ text: "a" }) },
      { type: "StateUpdated", data: { field: "topic", value: "t" } },
    ]);
    expect(state.every(({ by }) => by === "tool:probe")).toBe(true);
  });

  const messages = [
    new ToolMessage({ content: "mine", tool_call_id: "c1" }),
    { role: "user", content: "more", id: "m9" },
  ];
  test.each<[string, unknown]>([
    ["LangGraph's class", new Command({ update: { topic: "t", messages }, goto: "model" })],
    ["a plain object", { update: { topic: "t", messages }, goto: "model" }],
    [
      "pairs",
      {
        update: [
          ["topic", "t"],
          ["messages", messages],
        ],
        goto: ["model"],
      },
    ],
  ])("a Command as %s: its tool message is the result, the rest is added", async (_what, command) => {
    const { message, state, goto } = await ended({ tools: [own(() => command)] });
    expect(message).toMatchObject({ content: "mine", tool_call_id: "c1" });
    expect(bare(state)).toEqual([
      { type: "StateUpdated", data: { field: "topic", value: "t" } },
      { type: "MessagesAdded", data: { messages: [{ id: "m9", type: "human", content: "more" }] } },
    ]);
    expect(goto).toBe("model");
  });

  test.each([
    [{ update: { topic: "t" } }, "Updated topic."],
    [{ goto: "__end__" }, "Done."],
  ])("a Command without a message (%j) says what it did", async (command, content) => {
    expect((await ended({ tools: [own(() => command)] })).message.content).toBe(content);
  });

  test.each([
    ["a jump to nowhere", { goto: "moon" }],
    ["an unknown field", { update: { tpoic: 1 } }],
    ["an event that is none", { content: "x", events: [{ type: "Noted" }] }],
    ["an event that does not fit", { content: "x", events: [Noted({ text: 5 as never })] }],
  ])("%s fails the call and not the run", async (_what, value) => {
    const { type, message, state } = await ended({ tools: [own(() => value)] });
    expect(type).toBe("ToolCallFailed");
    expect(message.status).toBe("error");
    expect(state).toEqual([]);
  });
});

describe("what goes wrong becomes an error message", () => {
  const thrower = own(() => {
    throw new RangeError("boom");
  });
  const through = wrap("through", (request, handler) => handler(request));

  test.each<[string, Middleware[]]>([
    ["without a wrap", []],
    ["with a wrap", [through]],
  ])("a tool that throws, %s", async (_how, middleware) => {
    const { type, message, error, returnDirect } = await ended({ tools: [thrower], middleware });
    expect(type).toBe("ToolCallFailed");
    expect(message).toMatchObject({
      content: "The tool probe failed: RangeError: boom",
      status: "error",
      tool_call_id: "c1",
    });
    expect(error).toEqual({ name: "RangeError", message: "boom" });
    expect(returnDirect).toBe(false);
  });

  test("a result without a JSON form is a failed call, not a null", async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    for (const result of [cyclic, { amount: 10n }, () => "later"]) {
      const { type, message } = await ended({ tools: [own(() => result)] });
      expect(type).toBe("ToolCallFailed");
      expect(String(message.content)).toContain("no JSON form");
    }
    for (const [result, text] of [
      [10n, "10"],
      [Number.NaN, "NaN"],
      [1.5, "1.5"],
    ]) {
      expect((await ended({ tools: [own(() => result)] })).message.content).toBe(text);
    }
  });

  test("long errors are cut, without stack and host paths", async () => {
    const long = own(() => {
      throw new Error(`at ${process.cwd()}/secret ${"x".repeat(5000)}`);
    });
    const { message } = await ended({ tools: [long] });
    const text = String(message.content);
    expect(text.length).toBeLessThan(560);
    expect(text).not.toContain(process.cwd());
    expect(text).not.toContain("tool-call.test.ts");
  });

  test.each<[string, unknown]>([
    [
      "ours",
      defineTool({ name: "probe", description: "", schema: z.object({ n: z.number() }), run: () => "ran" }),
    ],
    ["LangChain's", tool(() => "ran", { name: "probe", schema: z.object({ n: z.number() }) })],
    [
      "LangChain's with JSON Schema",
      tool(() => "ran", {
        name: "probe",
        schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      }),
    ],
  ])("arguments that do not fit a tool of %s", async (_whose, probe) => {
    const { type, message, error } = await ended({ tools: [probe] }, { args: { n: "five" } });
    expect(type).toBe("ToolCallFailed");
    expect(String(message.content)).toMatch(/arguments of probe are not valid/);
    expect(error?.name).toBe("ToolArgumentsError");
  });

  test("an unknown tool is answered with the names there are", async () => {
    const { message, error } = await ended({ tools: [thrower] }, { name: "prob" });
    expect(message.content).toBe('There is no tool named "prob". There are: probe.');
    expect(error?.name).toBe("UnknownToolError");
  });

  test("a middleware that throws is named", async () => {
    const bad = wrap("bad", () => {
      throw new Error("boom");
    });
    const { message } = await ended({ tools: [thrower], middleware: [bad] });
    expect(message.content).toBe("The tool probe failed: wrapToolCall of middleware bad failed: Error: boom");
  });

  test("a tool that never ends is given up, and told so", async () => {
    let aborted = false;
    const endless = own(
      (_args, { signal }) =>
        new Promise(() =>
          signal.addEventListener("abort", () => {
            aborted = true;
          }),
        ),
    );
    const { error, type } = await ended({ tools: [endless] }, { toolTimeoutMs: 20 });
    expect([type, error?.name, aborted]).toEqual(["ToolCallFailed", "ToolTimeoutError", true]);
  });

  test("a cancelled run gives no result: the call is closed elsewhere", async () => {
    const controller = new AbortController();
    const waits = own(
      (_args, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          controller.abort(new Error("stop"));
        }),
    );
    await expect(call({ tools: [waits] }, { signal: controller.signal })).rejects.toThrow("stop");
  });
});

describe("wraps", () => {
  test("nest with the first one outermost, and see a ToolMessage whatever the tool gave", async () => {
    const seen: string[] = [];
    const part = (name: string) =>
      wrap(name, async (request, handler) => {
        seen.push(`>${name}`);
        const result = await handler(request);
        seen.push(`<${name}:${ToolMessage.isInstance(result)}`);
        return result;
      });
    const { state } = await ended({
      tools: [own(() => ({ content: "x", events: [Noted({ text: "a" })] }))],
      middleware: [part("a"), part("b")],
    });
    expect(seen).toEqual([">a", ">b", "<b:true", "<a:true"]);
    expect(state).toHaveLength(1);
  });

  test("may answer in the tool's place, change its arguments and add events of their own, but not the id", async () => {
    const seen: unknown[] = [];
    const changes = wrap("changes", async (request, handler) => {
      const toolCall = { ...request.toolCall, id: "forged", args: { n: 2 } };
      const result = await handler({ ...request, toolCall });
      return { content: `${(result as ToolMessage).content}!`, events: [Noted({ text: "w" })] };
    });
    const { message, state } = await ended({
      tools: [
        own((args, { callId }) => {
          seen.push(args, callId);
          return "x";
        }),
      ],
      middleware: [changes],
    });
    expect(seen).toEqual([{ n: 2 }, "c1"]);
    expect(message).toMatchObject({ content: "x!", tool_call_id: "c1" });
    expect(state).toMatchObject([{ draft: { type: "Noted" }, by: "middleware:changes" }]);
  });

  test("may try again after a throw", async () => {
    let tries = 0;
    const retry = wrap("retry", async (request, handler) => handler(request).catch(() => handler(request)));
    const flaky = own(() => {
      tries += 1;
      if (tries === 1) throw new Error("once");
      return "ok";
    });
    expect((await ended({ tools: [flaky], middleware: [retry] })).message.content).toBe("ok");
  });

  test("may run a tool that nobody registered", async () => {
    const hidden = defineTool({ name: "hidden", description: "", schema: anything, run: () => "ran" });
    const brings = wrap("brings", (request, handler) =>
      handler({ ...request, tool: request.tool ?? hidden }),
    );
    expect((await ended({ middleware: [brings] }, { name: "hidden" })).message.content).toBe("ran");
  });

  test("and tools cannot change the state in place", async () => {
    const writes = own((_args, { state }) => (state.notes as string[]).push("x"));
    expect((await ended({ tools: [writes] })).error?.name).toBe("TypeError");
  });
});

describe("questions", () => {
  const asks = own(() => interrupt("question", { text: "Which?" }), {
    onAnswer: (answer: unknown, args: { n?: number }) => ({ content: `chose ${answer} for ${args.n}` }),
  });
  const approves = (name: string) =>
    wrap(name, (request, handler) => {
      if (request.decision === undefined) return interrupt("approval", { name: request.toolCall.name });
      return request.decision === "yes" ? handler(request) : { content: "refused", status: "error" };
    });

  test("of a tool: the run stops, the answer is handed to onAnswer", async () => {
    expect((await call({ tools: [asks] })).outcome).toMatchObject({
      kind: "interrupted",
      by: "tool:probe",
      request: { kind: "question", value: { text: "Which?" } },
    });
    const answers = [{ by: "tool:probe", decision: "red" }] as const;
    expect((await ended({ tools: [asks] }, { args: { n: 3 }, answers: [...answers] })).message.content).toBe(
      "chose red for 3",
    );
  });

  test("of a tool without onAnswer: the answer is the result", async () => {
    const plain = own(() => interrupt("question", "?"));
    expect(
      (await ended({ tools: [plain] }, { answers: [{ by: "tool:probe", decision: "red" }] })).message.content,
    ).toBe("red");
  });

  test("of a middleware: its answer is not taken for the tool's, and both are kept apart", async () => {
    const options = { tools: [asks], middleware: [approves("hitl"), approves("second")] };
    const steps: ToolCallAnswer[] = [];
    const bys: string[] = [];
    for (const decision of ["yes", "yes", "red"]) {
      const { outcome } = await call(options, { answers: [...steps] });
      if (outcome.kind !== "interrupted") throw new Error("It did not ask.");
      bys.push(outcome.by);
      steps.push({ by: outcome.by, decision });
    }
    expect(bys).toEqual(["middleware:hitl", "middleware:second", "tool:probe"]);
    expect((await ended(options, { answers: steps, args: { n: 1 } })).message.content).toBe(
      "chose red for 1",
    );
  });

  test("a refusal is the result", async () => {
    const answers: ToolCallAnswer[] = [{ by: "middleware:hitl", decision: "no" }];
    expect((await ended({ tools: [asks], middleware: [approves("hitl")] }, { answers })).type).toBe(
      "ToolCallFailed",
    );
  });

  test("thrown by LangGraph's tools", async () => {
    const foreign = tool(
      () => {
        throw new GraphInterrupt([{ value: "sure?", id: "i" }]);
      },
      { name: "probe", schema: anything },
    );
    expect((await call({ tools: [foreign] })).outcome).toMatchObject({
      kind: "interrupted",
      by: "tool:probe",
      request: { value: "sure?" },
    });
  });
});

describe("LangChain's tools", () => {
  test("get signal, call, state, context and configurable where LangChain puts them", async () => {
    let seen: Record<string, unknown> = {};
    const probe = tool(
      (_args, runtime) => {
        seen = runtime as never;
        (runtime as unknown as { writer(x: unknown): void }).writer({ p: 1 });
        return "x";
      },
      { name: "probe", schema: anything },
    );
    const { ctx } = await call(
      { tools: [probe], contextSchema: z.object({ user: z.string() }) },
      { args: { a: 1 }, context: { user: "u", more: 1 } },
    );
    expect(seen).toMatchObject({
      toolCallId: "c1",
      toolCall: { id: "c1", name: "probe", args: { a: 1 } },
      context: { user: "u" },
      configurable: { thread_id: "t1", run_id: "r1" },
    });
    expect((seen.state as { messages: unknown }).messages).toEqual([]);
    expect(seen.signal).toBeInstanceOf(AbortSignal);
    expect(ctx.published).toEqual([{ kind: "custom", data: { p: 1 } }]);
  });

  test.each<[string, unknown, object]>([
    ["text", "x", { content: "x" }],
    ["an object", { a: 1 }, { content: '{"a":1}' }],
    ["a result of ours", { content: "x", events: [Noted({ text: "a" })] }, { content: "x" }],
    ["a Command shape", { update: { topic: "t" } }, { content: "Updated topic." }],
    ["a Command", new Command({ update: { topic: "t" } }), { content: "Updated topic." }],
  ])("may give %s", async (_what, value, expected) => {
    const { message, type } = await ended({
      tools: [tool(() => value as never, { name: "probe", schema: anything })],
    });
    expect(type).toBe("ToolCallCompleted");
    expect(message).toMatchObject(expected);
  });

  test("keep their artifacts", async () => {
    const probe = tool(() => ["text", { n: 1 }], {
      name: "probe",
      schema: anything,
      responseFormat: "content_and_artifact",
    });
    expect((await ended({ tools: [probe] })).message).toMatchObject({ content: "text", artifact: { n: 1 } });
  });

  test("may ask", async () => {
    const probe = tool(() => interrupt("question", "?") as never, { name: "probe", schema: anything });
    expect((await call({ tools: [probe] })).outcome.kind).toBe("interrupted");
  });
});

test("a tool with returnDirect ends the run, unless it failed", async () => {
  const direct = (run: () => unknown) => own(run, { returnDirect: true });
  expect((await ended({ tools: [direct(() => "x")] })).returnDirect).toBe(true);
  expect(
    (
      await ended({
        tools: [
          direct(() => {
            throw new Error("x");
          }),
        ],
      })
    ).returnDirect,
  ).toBe(false);
});

test("tools of a middleware see that middleware's context, the agent's tools the agent's", async () => {
  const seen: unknown[] = [];
  const reads = (name: string) =>
    defineTool({
      name,
      description: "",
      schema: anything,
      run: (_args, { context }) => {
        seen.push(context);
        return "";
      },
    });
  const brings = createMiddleware({
    name: "brings",
    contextSchema: z.object({ key: z.string() }),
    tools: [reads("a")],
  });
  const options = { tools: [reads("b")], middleware: [brings] };
  await call(options, { name: "a", context: { key: "k", other: 1 } });
  await call(options, { name: "b", context: { key: "k", other: 1 } });
  expect(seen).toEqual([{ key: "k" }, { key: "k", other: 1 }]);
});
