import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import type { AgentOptions } from "../../../actors/agent-contract.ts";
import { createAgent } from "../../../actors/create-agent.ts";
import { harnessMiddleware } from "../../../actors/harness.ts";
import { createMiddleware } from "../../../actors/middleware/define-middleware.ts";
import { humanApprovalMiddleware } from "../../../actors/middleware/human-approval.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import type { Json } from "../../../events/json.ts";
import type { Message } from "../../../events/message.ts";
import { openStore } from "../../../events/open-store.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { callsTools } from "../simple-tools.ts";

/** An agent whose tool `pay` notes what it paid, and whose model asks for these calls and then ends. */
async function payer(
  answers: ConstructorParameters<typeof ScriptedModel>[0]["answers"],
  more: Partial<AgentOptions> = {},
) {
  const paid: number[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    schema: z.object({ amount: z.number() }),
    run: ({ amount }) => {
      paid.push(amount);
      return `paid ${amount}`;
    },
  });
  const look = defineTool({
    name: "look",
    description: "Looks",
    schema: z.object({}),
    run: () => {
      paid.push(0);
      return "seen";
    },
  });
  const store = await openStore("memory:");
  const model = new ScriptedModel({ answers });
  const agent = createAgent({
    model,
    store,
    tools: [pay, look],
    middleware: [humanApprovalMiddleware({ interruptOn: { pay: true } })],
    ...more,
  });
  onTestFinished(async () => {
    await agent.close();
    await store.close();
  });
  return { agent, paid, model, store };
}

const results = (state: { readonly [field: string]: unknown }) =>
  ((state.messages ?? []) as Message[])
    .filter(({ type }) => type === "tool")
    .map(({ content, status, tool_call_id }) => [tool_call_id, content, status]);

const twoPayments = callsTools(["pay", { amount: 1 }, "a"], ["look", {}, "l"], ["pay", { amount: 2 }, "b"]);

describe("approval of tool calls in a thread", () => {
  it("each call is asked for and decided by itself; the others of the answer run once", async () => {
    const { agent, paid } = await payer([twoPayments, "done"]);
    const thread = agent.thread("t");
    const first = await thread.run("pay both").result;
    expect(first.status).toBe("interrupted");
    expect(first.interrupts.map(({ callId, kind, by }) => [callId, kind, by])).toEqual([
      ["a", "approval", "middleware:human-approval"],
      ["b", "approval", "middleware:human-approval"],
    ]);
    expect(paid).toEqual([0]);

    const [forA, forB] = first.interrupts;
    const second = await thread.resume({ [forB?.id ?? ""]: { type: "approve" } }).result;
    expect(second.status).toBe("interrupted");
    expect(paid).toEqual([0, 2]);
    const third = await thread.resume({ [forA?.id ?? ""]: { type: "reject", message: "no" } }).result;
    expect(third.status).toBe("completed");
    expect(paid).toEqual([0, 2]);
    expect(results(third.state)).toEqual([
      ["a", "no", "error"],
      ["l", "seen", undefined],
      ["b", "paid 2", undefined],
    ]);
  });

  it("one answer for all, as LangChain's clients send it, in the order of the calls", async () => {
    const { agent, paid } = await payer([twoPayments, "done"]);
    const thread = agent.thread("t");
    await thread.run("pay both").result;
    const decisions: Json[] = [
      { type: "edit", edited_action: { name: "pay", args: { amount: "40" } } },
      { type: "approve" },
    ];
    const result = await thread.resume({ all: { decisions } }).result;
    expect(result.status).toBe("completed");
    expect(paid.sort((a, b) => a - b)).toEqual([0, 2, 40]);
  });

  it("edited arguments are recorded before the call runs, and the second answer is refused", async () => {
    const { agent } = await payer([callsTools(["pay", { amount: 1 }, "a"]), "done"]);
    const thread = agent.thread("t");
    const { interrupts } = await thread.run("pay").result;
    const answer = { [interrupts[0]?.id ?? ""]: { type: "edit", editedAction: { args: { amount: "7" } } } };
    await thread.resume(answer).result;
    const started: unknown[] = [];
    for await (const event of thread.events({ types: ["ToolCallStarted", "ToolCallCompleted"] })) {
      started.push([event.type, (event.data as { args?: unknown }).args, event.metadata.by]);
    }
    expect(started.slice(-2)).toEqual([
      ["ToolCallStarted", { amount: 7 }, "middleware:human-approval"],
      ["ToolCallCompleted", undefined, "tool:pay"],
    ]);
    const again = await thread.resume(answer).result.catch((error: Error) => error);
    expect(again).toMatchObject({ name: "InterruptAnsweredError" });
  });

  it("an answer that is no decision is asked again, and nothing ran", async () => {
    const { agent, paid } = await payer([callsTools(["pay", { amount: 1 }, "a"]), "done"]);
    const thread = agent.thread("t");
    await thread.run("pay").result;
    const again = await thread.resume({ all: "perhaps" }).result;
    expect(again.status).toBe("interrupted");
    expect(again.interrupts[0]?.value).toMatchObject({ problem: expect.stringContaining("no decision") });
    expect(paid).toEqual([]);
    const done = await thread.resume({ all: { type: "approve" } }).result;
    expect(done.status).toBe("completed");
    expect(paid).toEqual([1]);
  });

  it("a hook that jumps to the tools does not get around the approval", async () => {
    const jumper = createMiddleware({
      name: "jumper",
      afterModel: { canJumpTo: ["tools"], hook: () => ({ jumpTo: "tools" as const }) },
    });
    const approval = humanApprovalMiddleware({ interruptOn: { pay: true } });
    const { agent, paid } = await payer([callsTools(["pay", { amount: 1 }, "a"]), "done"], {
      middleware: [approval, jumper],
    });
    expect((await agent.thread("t").run("pay").result).status).toBe("interrupted");
    expect(paid).toEqual([]);
  });

  it("the retries and error messages of the whole harness let the question pass untouched", async () => {
    const middleware = harnessMiddleware({ humanApproval: { interruptOn: { pay: true } }, sandbox: false });
    const { agent, paid } = await payer([callsTools(["pay", { amount: 1 }, "a"]), "done"], { middleware });
    const thread = agent.thread("t");
    expect((await thread.run("pay").result).status).toBe("interrupted");
    expect((await thread.resume({ all: "approve" }).result).status).toBe("completed");
    expect(paid).toEqual([1]);
  });
});

describe("a question to the user in a thread", () => {
  const ask = callsTools(["ask_clarification", { question: "Which?", options: ["a", "b"] }, "q"]);
  const middleware = harnessMiddleware({ sandbox: false });

  it("stops the run, and the answer is the tool's result", async () => {
    const { agent, model } = await payer([ask, "b it is"], { middleware });
    const thread = agent.thread("t");
    const asked = await thread.run("do it").result;
    expect(asked.interrupts).toMatchObject([
      { kind: "question", value: { question: "Which?" }, by: "tool:ask_clarification" },
    ]);
    const done = await thread.resume({ all: "b" }).result;
    expect(done.status).toBe("completed");
    expect(results(done.state)).toEqual([["q", "b", undefined]]);
    expect(model.calls).toHaveLength(2);
  });

  it("is not asked where the run's context says that nobody is there", async () => {
    const { agent } = await payer([ask, "a, then"], { middleware });
    const run = agent.thread("t").run("do it", { context: { disable_clarification: true } });
    expect((await run.result).status).toBe("completed");
  });
});
