import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { toStored } from "../../actors/messages/to-stored.ts";
import { createMiddleware, type Middleware } from "../../actors/middleware/define-middleware.ts";
import { restoreView } from "../../actors/steps/restore-view.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { canonicalJson } from "../../events/canonical-json.ts";
import { HistoryCompacted, MessagesAdded } from "../../events/messages.ts";
import { ThreadForked } from "../../events/thread.ts";
import { rebuildRequest, type SeenRequest, UnknownCallError } from "../../projections/seen.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";
import { startConversation } from "../actors/steps/conversation.ts";
import { appendDrafts } from "./append-drafts.ts";

const noId = () => "none";
/** What a spy received, as bytes. */
const received = (messages: readonly BaseMessage[]): string => {
  const [first, ...rest] = messages.map((message) => toStored(message, noId));
  const { id: _, ...system } = first ?? { id: "" };
  return canonicalJson(first?.type === "system" ? [system, ...rest] : [first, ...rest]);
};
/** What was rebuilt, as bytes. */
const rebuilt = ({ system, messages }: SeenRequest): string =>
  canonicalJson([...(system ? [system.message] : []), ...messages.map(({ message }) => message)]);

const wrap = (
  name: string,
  change: (
    messages: readonly BaseMessage[],
    request: { readonly runtime: unknown },
  ) => readonly BaseMessage[],
) =>
  createMiddleware({
    name,
    wrapModelCall: (request, handler) => handler({ ...request, messages: change(request.messages, request) }),
  });

const look = defineTool({
  name: "look",
  description: "Looks",
  schema: z.looseObject({}),
  run: () => `long ${"x".repeat(200)}`,
});
const png = `data:image/png;base64,${Buffer.alloc(3000, 7).toString("base64")}`;
const image = { type: "image_url", image_url: { url: png } };
/** Looks first, then is done, and so on. */
const lookOnce = () => {
  let calls = 0;
  return () => {
    calls += 1;
    if (calls % 2 === 0) return "done";
    return new AIMessage({ content: "", tool_calls: [{ name: "look", args: {}, id: "c" }] });
  };
};

/** One of each kind of edit that middlewares make. */
const edits: readonly Middleware[] = [
  wrap("reminder", (messages) => [
    ...messages,
    new HumanMessage({ content: `You have said ${messages.length} things.` }),
  ]),
  wrap("budget", (messages) =>
    messages.map((message, index) =>
      index < messages.length - 3 && message.getType() === "tool"
        ? new ToolMessage({
            id: message.id ?? "",
            content: "[cut]",
            tool_call_id: (message as ToolMessage).tool_call_id,
          })
        : message,
    ),
  ),
  wrap("privacy", (messages) => messages.filter((message) => message.content !== "secret")),
  wrap("pictures", (messages) =>
    messages.length > 4 ? messages : [new HumanMessage({ id: "picture", content: [image] }), ...messages],
  ),
];

async function expectExact(
  talk: ReturnType<typeof startConversation>,
  model: ScriptedModel,
  calls: readonly string[],
) {
  expect(model.calls).toHaveLength(calls.length);
  for (const [index, callId] of calls.entries()) {
    const seen = await rebuildRequest(talk.sources, "t1", callId);
    expect(rebuilt(seen)).toBe(received(model.calls[index]?.messages ?? []));
    expect(seen.hashMatches).toBe(true);
  }
}

describe("the rebuilt request is what the model received, to the byte", () => {
  test.each<[string, readonly Middleware[]]>([
    ["as the thread stands", []],
    ["inserted reminders", edits.slice(0, 1)],
    ["replaced content", edits.slice(1, 2)],
    ["hidden messages", edits.slice(2, 3)],
    ["inserted pictures", edits.slice(3)],
    ["all of them", edits],
    ["all of them, nested the other way", [...edits].reverse()],
    ["everything moved around", [wrap("shuffle", (messages) => [...messages].reverse())]],
    [
      "everything replaced",
      [wrap("anew", (messages) => messages.map((message) => new HumanMessage(`said: ${message.text}`)))],
    ],
    ["one message twice", [wrap("twice", (messages) => [...messages, ...messages.slice(0, 1)])]],
    ["nothing at all", [wrap("none", () => [])]],
  ])("%s", async (_what, middleware) => {
    const model = new ScriptedModel({ answers: lookOnce() });
    const talk = startConversation({ model, systemPrompt: "Be kind.", tools: [look], middleware });
    const calls: string[] = [];
    for (const said of [
      "one",
      "secret",
      { messages: [new HumanMessage({ content: [{ type: "text", text: "see" }, image] })] },
      "four",
    ]) {
      calls.push(...(await talk.say(said)));
    }
    await expectExact(talk, model, calls);
    expect(calls).toHaveLength(8);
  });

  test("no event holds the pictures", async () => {
    const model = new ScriptedModel({ answers: lookOnce() });
    const talk = startConversation({ model, tools: [look], middleware: edits });
    await talk.say({ messages: [new HumanMessage({ content: [image] })] });
    expect(JSON.stringify(await talk.events())).not.toContain("BwcHBwcHBwcH");
    expect(received(model.calls[0]?.messages ?? [])).toContain("BwcHBwcHBwcH");
  });

  test("after a compaction, with the summary", async () => {
    const model = new ScriptedModel({ answers: ["ok"] });
    const talk = startConversation({ model, middleware: edits });
    const calls = [...(await talk.say("one")), ...(await talk.say("two"))];
    await talk.append([
      {
        draft: HistoryCompacted({ summary: "They said one and two.", keptFrom: null }),
        by: "middleware:summarization",
      },
    ]);
    calls.push(...(await talk.say("three")));
    await expectExact(talk, model, calls);
    const { messages } = await rebuildRequest(talk.sources, "t1");
    expect(messages.find(({ message }) => message.id === "history-summary")).toMatchObject({
      by: "middleware:summarization",
      origin: { type: "HistoryCompacted" },
    });
  });

  test("edits too long for an event", async () => {
    const long = wrap("long", (messages) => [
      new HumanMessage({ id: "book", content: "x".repeat(40_000) }),
      ...messages,
    ]);
    const model = new ScriptedModel({ answers: ["ok"] });
    const talk = startConversation({ model, middleware: [long] });
    await expectExact(talk, model, await talk.say("one"));
    const [started] = await talk.events(["ModelCallStarted"]);
    expect(JSON.stringify(started).length).toBeLessThan(2_000);
  });

  test("a second request of one call", async () => {
    const other = new ScriptedModel({ answers: ["plan b"], name: "other" });
    const model = new ScriptedModel({ answers: [new Error("down")] });
    const fallback = createMiddleware({
      name: "fallback",
      wrapModelCall: (request, handler) =>
        handler(request).catch(() =>
          handler({ ...request, model: other, messages: [...request.messages, new HumanMessage("again")] }),
        ),
    });
    const talk = startConversation({ model, middleware: [fallback] });
    const [callId] = await talk.say("one");
    const seen = await rebuildRequest(talk.sources, "t1", callId);
    expect(seen.model).toBe("other");
    expect(rebuilt(seen)).toBe(received(other.calls[0]?.messages ?? []));
    expect(seen.hashMatches).toBe(true);
  });

  test("ids that stand in the thread twice", async () => {
    const model = new ScriptedModel({ answers: ["ok"] });
    const talk = startConversation({ model, middleware: edits });
    const twin = (content: string) => ({
      draft: {
        type: "StateUpdated",
        data: {
          field: "messages",
          replace: true,
          value: [
            { id: "a", type: "human", content },
            { id: "a", type: "human", content: "secret" },
            { id: "b", type: "human", content: "b" },
          ],
        },
      },
      by: "client" as const,
    });
    await talk.append([twin("one")]);
    await expectExact(talk, model, await talk.say("two"));
  });
});

describe("what is told beside the messages", () => {
  test("who brought, changed and hid each of them, and who wrote the prompt", async () => {
    const model = new ScriptedModel({ answers: lookOnce() });
    const prompt = createMiddleware({
      name: "mood",
      wrapModelCall: (request, handler) =>
        handler({ ...request, systemPrompt: `${request.systemPrompt} Smile.` }),
    });
    const context = createMiddleware({
      name: "context",
      beforeModel: (state) =>
        state.messages.length === 1
          ? MessagesAdded({ messages: [{ id: "ctx", type: "human", content: "Today is Monday." }] })
          : undefined,
    });
    const talk = startConversation({
      model,
      systemPrompt: "Be kind.",
      tools: [look],
      middleware: [context, prompt, ...edits],
    });
    await talk.say("secret");
    await talk.say("two");
    await talk.say("three");
    const seen = await rebuildRequest(talk.sources, "t1");
    expect(seen.system).toEqual({
      message: { type: "system", content: "Be kind. Smile." },
      by: ["agent", "middleware:mood"],
    });
    expect(seen.tools).toMatchObject([{ function: { name: "look" } }]);
    expect(seen.hidden).toMatchObject([{ by: "middleware:privacy" }]);
    const told = seen.messages.map(({ by, edit, message }) => [by, edit, message.type]);
    expect(told).toEqual([
      ["middleware:context", undefined, "human"],
      ["model:ScriptedModel", undefined, "ai"],
      ["middleware:budget", "replaced", "tool"],
      ["model:ScriptedModel", undefined, "ai"],
      ["user", undefined, "human"],
      ["model:ScriptedModel", undefined, "ai"],
      ["middleware:budget", "replaced", "tool"],
      ["model:ScriptedModel", undefined, "ai"],
      ["user", undefined, "human"],
      ["model:ScriptedModel", undefined, "ai"],
      ["tool:look", undefined, "tool"],
      ["middleware:reminder", "inserted", "human"],
    ]);
  });

  test("an altered log does not match", async () => {
    const model = new ScriptedModel({ answers: ["ok"] });
    const talk = startConversation({ model });
    await talk.say("one");
    const reader = { stateAt: async () => ({ messages: [{ id: "x", type: "human", content: "forged" }] }) };
    expect((await rebuildRequest({ ...talk.sources, reader }, "t1")).hashMatches).toBe(false);
  });

  test("an unknown call is named", async () => {
    const talk = startConversation({});
    await talk.say("one");
    await expect(rebuildRequest(talk.sources, "t1", "nope")).rejects.toThrow(UnknownCallError);
    await expect(rebuildRequest(talk.sources, "t2")).rejects.toThrow(/no model call/);
  });
});

describe("across restarts and forks", () => {
  test.each(["with the view from the log", "without"])(
    "a thread that was opened anew goes on, %s",
    async (how) => {
      const model = new ScriptedModel({ answers: lookOnce() });
      const talk = startConversation({ model, tools: [look], middleware: edits });
      const calls = [...(await talk.say("one")), ...(await talk.say("secret")), ...(await talk.say("three"))];
      talk.restart(how === "without" ? undefined : await restoreView(talk.sources, "t1"));
      calls.push(...(await talk.say("four")));
      await expectExact(talk, model, calls);
    },
  );

  test("a thread without calls has no view to go on from", async () => {
    expect(await restoreView(startConversation({}).sources, "t1")).toBeUndefined();
  });

  test("a call of the parent is found from the fork", async () => {
    const model = new ScriptedModel({ answers: ["ok"] });
    const talk = startConversation({ model, middleware: edits });
    const [callId] = await talk.say("one");
    await appendDrafts(talk.log, "t2", [
      ThreadForked({ parentThreadId: "t1", parentVersion: talk.version() }),
    ]);
    const seen = await rebuildRequest(talk.sources, "t2", callId);
    expect([seen.threadId, seen.hashMatches]).toEqual(["t1", true]);
    expect(await restoreView(talk.sources, "t2")).toMatchObject({ callId });
  });
});

test("the bytes that a call records are the same at call 1,000 as at call 10", {
  timeout: 120_000,
}, async () => {
  const model = new ScriptedModel({ answers: lookOnce() });
  const talk = startConversation({
    model,
    systemPrompt: "Be kind.",
    tools: [look],
    middleware: edits.slice(0, 2),
  });
  const calls: string[] = [];
  while (calls.length < 1_002) calls.push(...(await talk.say("hello")));
  const sizes = (await talk.events(["ModelCallStarted"])).map(({ data }) => JSON.stringify(data).length);
  // Two calls a turn: the first after a message of the user, the second after a tool.
  const at = (call: number) => (sizes[call] ?? 0) + (sizes[call + 1] ?? 0);
  expect(at(1_000)).toBeLessThanOrEqual(at(10) * 1.05);
  await expectExact(talk, Object.assign(model, { calls: model.calls.slice(-1) }), calls.slice(-1));
});
