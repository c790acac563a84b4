import { describe, expect, test } from "vitest";
import { z } from "zod";
import { InterruptAnsweredError, UnknownInterruptError } from "../../actors/answers.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { interrupt } from "../../actors/interrupt.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { dataOf, orphanCalls, transcript, typesOf } from "./recorded-events.ts";
import { batchLines, recordingStore } from "./recording-store.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { callsTools } from "./simple-tools.ts";

/** A tool that asks before it acts, and counts how often it acted. */
function askingTool(name = "pay") {
  const done: string[] = [];
  const tool = defineTool({
    name,
    description: "pays",
    schema: z.object({ sum: z.number() }),
    run: ({ sum }) => interrupt("approval", { sum }),
    onAnswer: (answer, { sum }) => {
      done.push(`${sum}:${answer}`);
      return `paid ${sum} (${answer})`;
    },
  });
  return { tool, done };
}

describe("a tool call that asks", () => {
  test("stops the run, and the answer goes on in the next one", async () => {
    const { tool, done } = askingTool();
    const store = await recordingStore();
    const model = new ScriptedModel({ answers: [callsTools(["pay", { sum: 5 }]), "thanks"] });
    const agent = createAgent({ model, tools: [tool], store });
    const thread = agent.thread("t");
    const first = await thread.run("pay 5").result;
    expect(first.status).toBe("interrupted");
    expect(first.interrupts).toMatchObject([
      { kind: "approval", value: { sum: 5 }, callId: "call-pay-0", by: "tool:pay" },
    ]);
    expect(await thread.info()).toMatchObject({ status: "interrupted", interrupts: first.interrupts });

    const before = store.batches.length;
    const second = await thread.resume({ [first.interrupts[0]?.id ?? ""]: "yes" }).result;
    expect(second.status).toBe("completed");
    expect(done).toEqual(["5:yes"]);
    expect(transcript(second.state.messages).at(-2)).toBe("tool: paid 5 (yes)");
    expect(batchLines(store).slice(before)).toEqual([
      "RunStarted InterruptResolved",
      "ToolCallStarted",
      "ToolCallCompleted ModelCallStarted",
      "ModelResponded RunCompleted",
    ]);
    expect(await dataOf(thread, "RunStarted")).toMatchObject([{}, { resumes: first.runId }]);
    expect((await thread.info()).interrupts).toEqual([]);
  });

  test("nothing before the question runs again", async () => {
    const { tool } = askingTool();
    const ran: string[] = [];
    const hooks = createMiddleware({
      name: "hooks",
      beforeAgent: () => void ran.push("beforeAgent"),
      beforeModel: () => void ran.push("beforeModel"),
      afterModel: () => void ran.push("afterModel"),
      afterAgent: () => void ran.push("afterAgent"),
    });
    const model = new ScriptedModel({ answers: [callsTools(["pay", { sum: 5 }]), "thanks"] });
    const agent = createAgent({ model, tools: [tool], middleware: [hooks], store: "memory:" });
    const thread = agent.thread("t");
    await thread.run("pay 5").result;
    expect(ran.splice(0)).toEqual(["beforeAgent", "beforeModel", "afterModel"]);
    await thread.resume({ all: "yes" }).result;
    expect(ran).toEqual(["beforeModel", "afterModel", "afterAgent"]);
    expect(model.calls).toHaveLength(2);
  });

  test("a second answer is refused", async () => {
    const { tool, done } = askingTool();
    const model = new ScriptedModel({ answers: [callsTools(["pay", { sum: 5 }]), "thanks"] });
    const agent = createAgent({ model, tools: [tool], store: "memory:" });
    const thread = agent.thread("t");
    const { interrupts } = await thread.run("pay 5").result;
    const id = interrupts[0]?.id ?? "";
    await thread.resume({ [id]: "yes" }).result;
    const { version } = await thread.info();
    await expect(thread.resume({ [id]: "no" }).result).rejects.toThrow(InterruptAnsweredError);
    await expect(thread.resume({ unheard: "no" }).result).rejects.toThrow(UnknownInterruptError);
    await expect(thread.resume({ all: "no" }).result).rejects.toThrow(UnknownInterruptError);
    expect((await thread.info()).version).toBe(version);
    expect(done).toEqual(["5:yes"]);
  });

  test("some answers: those calls run, the rest is asked again with the same ids", async () => {
    const { tool, done } = askingTool();
    const model = new ScriptedModel({
      answers: [callsTools(["pay", { sum: 1 }, "a"], ["pay", { sum: 2 }, "b"]), "thanks"],
    });
    const agent = createAgent({ model, tools: [tool], store: "memory:" });
    const thread = agent.thread("t");
    const { interrupts } = await thread.run("pay both").result;
    const [a, b] = interrupts.map(({ id }) => id);
    const partly = await thread.resume({ [b ?? ""]: "yes" }).result;
    expect(partly.status).toBe("interrupted");
    expect(partly.interrupts.map(({ id }) => id)).toEqual([a]);
    expect(done).toEqual(["2:yes"]);
    await expect(thread.resume({ [b ?? ""]: "no" }).result).rejects.toThrow(InterruptAnsweredError);
    const whole = await thread.resume({ [a ?? ""]: "no" }).result;
    expect(whole.status).toBe("completed");
    expect(transcript(whole.state.messages)).toEqual([
      "human: pay both",
      "ai: ",
      "tool: paid 1 (no)",
      "tool: paid 2 (yes)",
      "ai: thanks",
    ]);
  });

  test("a new message closes the calls that waited", async () => {
    const { tool, done } = askingTool();
    const model = new ScriptedModel({ answers: [callsTools(["pay", { sum: 5 }]), "as you like"] });
    const agent = createAgent({ model, tools: [tool], store: "memory:" });
    const thread = agent.thread("t");
    const { interrupts } = await thread.run("pay 5").result;
    const next = await thread.run("never mind").result;
    expect(next.status).toBe("completed");
    expect(await dataOf(thread, "ToolCallAbandoned")).toMatchObject([{ reason: "superseded" }]);
    expect(orphanCalls(next.state.messages)).toEqual([]);
    expect(done).toEqual([]);
    await expect(thread.resume({ [interrupts[0]?.id ?? ""]: "yes" }).result).rejects.toThrow(
      UnknownInterruptError,
    );
  });

  test("going on without an answer asks the same again", async () => {
    const { tool } = askingTool();
    const model = new ScriptedModel({ answers: [callsTools(["pay", { sum: 5 }])] });
    const agent = createAgent({ model, tools: [tool], store: "memory:" });
    const thread = agent.thread("t");
    const first = await thread.run("pay 5").result;
    const again = await thread.run(null).result;
    expect(again.status).toBe("interrupted");
    expect(again.interrupts).toEqual(first.interrupts);
    expect(model.calls).toHaveLength(1);
  });

  test("may ask twice: each answer reaches who asked", async () => {
    const asked: unknown[] = [];
    const approval = createMiddleware({
      name: "approval",
      wrapToolCall: (request, handler) => {
        asked.push(request.decision);
        return request.decision === undefined
          ? interrupt("approval", request.toolCall.name)
          : handler(request);
      },
    });
    const { tool, done } = askingTool();
    const model = new ScriptedModel({ answers: [callsTools(["pay", { sum: 5 }]), "thanks"] });
    const agent = createAgent({ model, tools: [tool], middleware: [approval], store: "memory:" });
    const thread = agent.thread("t");
    const first = await thread.run("pay 5").result;
    expect(first.interrupts).toMatchObject([{ by: "middleware:approval" }]);
    const second = await thread.resume({ all: "approved" }).result;
    expect(second.interrupts).toMatchObject([{ by: "tool:pay" }]);
    const third = await thread.resume({ all: "in cash" }).result;
    expect(third.status).toBe("completed");
    expect(done).toEqual(["5:in cash"]);
    expect(asked).toEqual([undefined, "approved", "approved"]);
  });

  test("survives a restart", async () => {
    const { tool, done } = askingTool();
    const store = await recordingStore();
    const answers = [callsTools(["pay", { sum: 5 }]), "thanks"];
    const before = createAgent({ model: new ScriptedModel({ answers }), tools: [tool], store });
    const { interrupts } = await before.thread("t").run("pay 5").result;
    await before.close();
    const after = createAgent({ model: new ScriptedModel({ answers: ["thanks"] }), tools: [tool], store });
    const result = await after.thread("t").resume({ [interrupts[0]?.id ?? ""]: "yes" }).result;
    expect(result.status).toBe("completed");
    expect(done).toEqual(["5:yes"]);
  });
});

describe("a hook that asks", () => {
  test.each([
    ["beforeAgent", ["beforeModel", "afterModel", "afterAgent"]],
    ["beforeModel", ["afterModel", "afterAgent"]],
    ["afterModel", ["afterAgent"]],
    ["afterAgent", []],
  ] as const)("%s: the run goes on behind it", async (phase, rest) => {
    const ran: string[] = [];
    let asks = true;
    const hook = (name: string) => () => {
      ran.push(name);
      if (name !== phase || !asks) return undefined;
      asks = false;
      return { interrupts: [interrupt("question", "go on?")] };
    };
    const middleware = createMiddleware({
      name: "asker",
      beforeAgent: hook("beforeAgent"),
      beforeModel: hook("beforeModel"),
      afterModel: hook("afterModel"),
      afterAgent: hook("afterAgent"),
    });
    const model = new ScriptedModel({ answers: ["hello"] });
    const agent = createAgent({ model, middleware: [middleware], store: "memory:" });
    const thread = agent.thread("t");
    const first = await thread.run("hi").result;
    expect(first.status).toBe("interrupted");
    expect(ran.splice(0).at(-1)).toBe(phase);
    const second = await thread.resume({ all: true }).result;
    expect(second.status).toBe("completed");
    expect(ran).toEqual(rest);
    expect(model.calls).toHaveLength(1);
  });

  test("two questions: the run waits for both answers", async () => {
    const asker = createMiddleware({
      name: "asker",
      beforeModel: (_state, runtime) =>
        runtime.run.eventCounts.InterruptResolved
          ? undefined
          : {
              interrupts: [interrupt("question", "one?"), interrupt("question", "two?")],
            },
    });
    const model = new ScriptedModel({ answers: ["hello"] });
    const agent = createAgent({ model, middleware: [asker], store: "memory:" });
    const thread = agent.thread("t");
    const { interrupts } = await thread.run("hi").result;
    const [one, two] = interrupts.map(({ id }) => id);
    const partly = await thread.resume({ [one ?? ""]: 1 }).result;
    expect(partly.interrupts.map(({ id }) => id)).toEqual([two]);
    expect(model.calls).toHaveLength(0);
    const whole = await thread.resume({ [two ?? ""]: 2 }).result;
    expect(whole.status).toBe("completed");
    expect((await typesOf(thread)).filter((type) => type === "InterruptResolved")).toHaveLength(2);
  });
});
