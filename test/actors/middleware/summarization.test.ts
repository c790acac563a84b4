import { describe, expect, it } from "vitest";
import { planCompaction } from "../../../actors/middleware/compaction-plan.ts";
import { compactHistory, summarizationMiddleware } from "../../../actors/middleware/summarization.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { modelView, summaryMessageId } from "../../../reducers/compaction.ts";
import { compactions } from "../../cases/context-care.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { type CaseMessage, callHook, hookRuntime, hookState, messagesOf } from "./hook-bench.ts";

const turns = compactions[0]?.messages ?? [];
const asStored = (messages: readonly CaseMessage[]) =>
  messages.map((message, index) => ({ id: `m${index}`, content: "", ...message }));

/** State of a thread with these messages, and then these events. */
function foldOf(messages: readonly CaseMessage[], events: readonly { type: string; data: unknown }[] = []) {
  const added = { type: "MessagesAdded", data: { messages: asStored(messages) } };
  return createThreadReducer().fold(
    [added, ...events].map((event, index) => ({ ...event, version: index + 1 })),
  );
}

describe("what the model still sees", () => {
  for (const { id, what, messages, answer, view } of compactions) {
    it(`${id}: ${what}`, async () => {
      const model = new ScriptedModel({ answers: [answer] });
      const middleware = summarizationMiddleware({ model, trigger: { messages: 5 }, keep: 2 });
      const outcome = await callHook(middleware.beforeModel, hookState(messages));
      expect(model.calls).toHaveLength(1);
      if (view === null) return expect(outcome).toBeUndefined();
      const state = foldOf(messages, outcome?.events);
      expect(state.summary_text).toBe("S");
      expect((state.messages as unknown[]).length).toBe(messages.length);
      const seen = modelView(state).map((message) => message.id);
      expect(seen.filter((each) => each !== summaryMessageId)).toEqual(view);
      expect(seen).toContain(summaryMessageId);
    });
  }

  it("an empty summary leaves all as it is", async () => {
    const model = new ScriptedModel({ answers: ["  "] });
    const middleware = summarizationMiddleware({ model, trigger: { messages: 5 }, keep: 2 });
    expect(await callHook(middleware.beforeModel, hookState(turns))).toBeUndefined();
  });

  it("a cancel is not swallowed", async () => {
    const abort = new AbortController();
    abort.abort();
    const middleware = summarizationMiddleware({
      model: new ScriptedModel({ answers: [new Error("aborted")] }),
      trigger: { messages: 1 },
      keep: 1,
    });
    const hook = callHook(middleware.beforeModel, hookState(turns), hookRuntime({ signal: abort.signal }));
    await expect(hook).rejects.toThrow("abort");
  });

  it("the second summary is told the first, and reads only what was visible", async () => {
    const model = new ScriptedModel({ answers: ["second"] });
    const compaction = { kept_from: "h2", kept_ids: [] };
    const state = hookState(turns, { summary_text: "the first", compaction });
    const event = await compactHistory(state as never, { model, keep: 2 });
    const prompt = model.calls[0]?.messages[0]?.text ?? "";
    expect(prompt).toContain("the first");
    expect(prompt).not.toContain("User: 1");
    expect(prompt).toContain("User: 2");
    expect(event?.data).toMatchObject({ summary: "second", keptFrom: "h3" });
  });
});

describe("options", () => {
  const due = async (options: Partial<Parameters<typeof summarizationMiddleware>[0]>) => {
    const model = new ScriptedModel({ answers: ["S"] });
    const middleware = summarizationMiddleware({ model, keep: 2, ...options });
    const outcome = await callHook(middleware.beforeModel, hookState(turns));
    return { due: outcome !== undefined, prompt: model.calls[0]?.messages[0]?.text ?? "" };
  };

  it("trigger.messages: from this many on", async () => {
    expect((await due({ trigger: { messages: 6 } })).due).toBe(true);
    expect((await due({ trigger: { messages: 7 } })).due).toBe(false);
  });

  it("trigger.tokens with countTokens: from this many on", async () => {
    const countTokens = (messages: readonly unknown[]) => messages.length * 10;
    expect((await due({ trigger: { tokens: 60 }, countTokens })).due).toBe(true);
    expect((await due({ trigger: { tokens: 61 }, countTokens })).due).toBe(false);
    expect((await due({})).due).toBe(false);
  });

  it("prompt and maxPromptCharacters shape the request; the newest messages are kept in it", async () => {
    const { prompt } = await due({ trigger: { messages: 5 }, prompt: "SHORT", maxPromptCharacters: 15 });
    expect(prompt).toMatch(/^SHORT/);
    expect(prompt).toContain("Assistant: 2");
    expect(prompt).not.toContain("User: 1");
  });

  it("the model may be made on first use", async () => {
    const model = new ScriptedModel({ answers: ["S"] });
    expect((await due({ trigger: { messages: 5 }, model: async () => model })).due).toBe(true);
    expect(model.calls).toHaveLength(1);
  });
});

describe("a cut never parts a call from its result", () => {
  it("the answer comes along with results that stay", () => {
    const visible = messagesOf([
      { type: "human", id: "h", content: "q" },
      { type: "ai", id: "before", content: "x" },
      { type: "ai", id: "call", tool_calls: ["a", "b"].map((id) => ({ name: "t", args: {}, id })) },
      { type: "tool", id: "ra", tool_call_id: "a" },
      { type: "tool", id: "rb", tool_call_id: "b" },
    ]);
    expect(planCompaction(visible, 1)?.keptFrom).toBe("call");
  });
});
