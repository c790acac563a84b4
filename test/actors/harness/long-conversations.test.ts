import { describe, expect, it, onTestFinished } from "vitest";
import { createAgent } from "../../../actors/create-agent.ts";
import type { HarnessOptions } from "../../../actors/harness.ts";
import { toLangChainList } from "../../../actors/messages/to-langchain.ts";
import { type CompactionState, compactHistory } from "../../../actors/middleware/summarization.ts";
import type { Message } from "../../../events/message.ts";
import { openStore } from "../../../events/open-store.ts";
import { typesOf } from "../recorded-events.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { callsTools } from "../simple-tools.ts";

async function talker(
  harness: HarnessOptions,
  answers: ConstructorParameters<typeof ScriptedModel>[0]["answers"],
) {
  const store = await openStore("memory:");
  const model = new ScriptedModel({ answers });
  const agent = createAgent({ model, store, preset: "harness", harness: { sandbox: false, ...harness } });
  onTestFinished(async () => {
    await agent.close();
    await store.close();
  });
  return { agent, model };
}

const visibleTexts = (messages: readonly Message[]) =>
  messages
    .filter(({ type, additional_kwargs }) => type === "human" && additional_kwargs?.hide_from_ui !== true)
    .map(({ content }) => content);

describe("compaction", () => {
  const writer = () => new ScriptedModel({ answers: ["They counted."] });

  it("SUM-06: the transcript keeps all turns in their order; the model sees summary, tail and the newest message", async () => {
    const { agent, model } = await talker(
      { summarization: { model: writer(), trigger: { messages: 10 }, keep: 3 } },
      ["fine"],
    );
    const thread = agent.thread("t");
    const turns = [1, 2, 3, 4, 5, 6].map((turn) => `turn ${turn}`);
    for (const turn of turns) await thread.run(turn).result;
    const messages = (await thread.state()).messages as Message[];
    expect(visibleTexts(messages)).toEqual(turns);
    expect(await typesOf(thread)).toContain("HistoryCompacted");
    const last = model.calls.at(-1)?.messages.map((message) => message.text) ?? [];
    expect(last.some((text) => text.includes("They counted."))).toBe(true);
    expect(last).toContain("turn 6");
    expect(last).not.toContain("turn 1");
  });

  it("SUM-05: by hand it works between runs, and is refused while one is open", async () => {
    const { agent } = await talker({}, async (messages) => {
      if (messages.at(-1)?.text === "wait") await held;
      return "fine";
    });
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const thread = agent.thread("t");
    for (const turn of ["1", "2", "3"]) await thread.run(turn).result;
    const state = await thread.state();
    const shown = { ...state, messages: toLangChainList(state.messages as Message[]) } as CompactionState;
    const event = await compactHistory(shown, { model: writer(), keep: 2 });
    if (!event) throw new Error("There is nothing to compact.");
    const run = thread.run("wait");
    for await (const item of run) if (item.kind === "event" && item.event.type === "ModelCallStarted") break;
    await expect(thread.record([event])).rejects.toMatchObject({ name: "ThreadBusyError" });
    go();
    await run.result;
    await thread.record([event]);
    expect((await thread.state()).summary_text).toBe("They counted.");
  });

  it("after a compaction the list of a plan is shown again, as long as it is out of view", async () => {
    const todos = [{ content: "count", status: "completed" }];
    const { agent, model } = await talker(
      { summarization: { model: writer(), trigger: { messages: 8 }, keep: 2 } },
      (messages) => (messages.at(-1)?.text === "plan" ? callsTools(["write_todos", { todos }, "w"]) : "fine"),
    );
    const thread = agent.thread("t");
    for (const turn of ["plan", "2", "3", "4"]) await thread.run(turn).result;
    const names = model.calls.at(-1)?.messages.map(({ name }) => name);
    expect(names?.filter((name) => name === "todo_reminder")).toHaveLength(1);
    const stored = ((await thread.state()).messages as Message[]).map(({ name }) => name);
    expect(stored).not.toContain("todo_reminder");
  });
});

describe("runs that are cut short", () => {
  it("a model that goes round in circles is stopped, although its plan is open", async () => {
    const todos = [{ content: "never", status: "pending" }];
    const { agent, model } = await talker({}, (messages) =>
      !messages.some((message) => message.getType() === "ai")
        ? callsTools(["write_todos", { todos }, "w"])
        : callsTools(["nothing", {}, `c${messages.length}`]),
    );
    const result = await agent.thread("t").run("go").result;
    expect(result).toMatchObject({ status: "completed", stopReason: "loop_capped" });
    expect(model.calls).toHaveLength(6);
    const warned = model.calls.map(({ messages }) => messages.some(({ name }) => name === "loop_warning"));
    expect(warned).toEqual([false, false, false, false, true, true]);
  });

  it("a silent model is asked once more, and the empty answer is not in the thread", async () => {
    const { agent, model } = await talker({}, ["", "Here I am."]);
    const result = await agent.thread("t").run("hello").result;
    expect((result.state.messages as Message[]).map(({ content }) => content)).toEqual([
      "hello",
      "Here I am.",
    ]);
    expect(model.calls[1]?.messages.at(-1)?.name).toBe("empty_answer_notice");
    expect(result.stopReason).toBeUndefined();
  });

  it("two lists in one answer are both refused, and the model is asked again", async () => {
    const write = (id: string) => ["write_todos", { todos: [] }, id] as const;
    const { agent, model } = await talker({}, [callsTools(write("a"), write("b")), "sorry"]);
    const result = await agent.thread("t").run("plan").result;
    expect(result.status).toBe("completed");
    expect(result.state.todos).toBeUndefined();
    expect(model.calls[1]?.messages.slice(-2).map((message) => message.getType())).toEqual(["tool", "tool"]);
  });

  it("a todo with an unknown status is an error for the model, and the thread goes on", async () => {
    const { agent } = await talker({}, [
      callsTools(["write_todos", { todos: [{ content: "x", status: "soon" }] }, "a"]),
      "sorry",
    ]);
    const result = await agent.thread("t").run("plan").result;
    const tool = (result.state.messages as Message[]).find(({ type }) => type === "tool");
    expect(tool).toMatchObject({ status: "error", content: expect.stringMatching(/status/) });
    expect(result.status).toBe("completed");
  });

  it("runLimit of model calls: a new run starts from zero, whatever happened before", async () => {
    const { agent } = await talker({ modelCallLimit: { runLimit: 1 } }, [callsTools(["nothing", {}, "c"])]);
    const thread = agent.thread("t");
    for (const turn of [1, 2]) {
      const result = await thread.run(`turn ${turn}`).result;
      expect(result).toMatchObject({ status: "completed", stopReason: "model_call_limit" });
    }
    expect((await typesOf(thread)).filter((type) => type === "ModelResponded")).toHaveLength(2);
  });
});

describe("models that fail", () => {
  const busy = Object.assign(new Error("overloaded"), { status: 529 });
  const modelRetry = { delay: async () => undefined, maxRetries: 1 };

  it("are asked again, then another model is; the thread holds one answer", async () => {
    const fallback = new ScriptedModel({ answers: ["from the other"], name: "other" });
    const { agent, model } = await talker({ modelRetry, fallbackModels: [fallback] }, [busy]);
    const result = await agent.thread("t").run("hello").result;
    expect((result.state.messages as Message[]).at(-1)?.content).toBe("from the other");
    expect(model.calls).toHaveLength(2);
    expect(fallback.calls).toHaveLength(1);
    expect(result.state.token_usage).toMatchObject({ model_calls: 1 });
  });

  it("fail the run when nothing helps, and the thread goes on", async () => {
    const { agent } = await talker({ modelRetry }, [busy, busy, "back again"]);
    const thread = agent.thread("t");
    const failed = await thread.run("hello").result;
    expect(failed).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(/overloaded/) },
    });
    expect((await thread.run("again").result).status).toBe("completed");
  });
});
