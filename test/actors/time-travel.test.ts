import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReducedValue, StateSchema } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Agent, Thread } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { interrupt } from "../../actors/interrupt.ts";
import { ReservedEventError } from "../../actors/record-outside.ts";
import { InvalidUpdateError, UnknownFieldError } from "../../actors/steps/updates.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { threadStream } from "../../events/envelope.ts";
import type { Message } from "../../events/message.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { openStore } from "../../events/open-store.ts";
import { RunCompleted } from "../../events/run.ts";
import { effectiveEvents, UnknownThreadError, VersionOutOfRangeError } from "../../projections/lineage.ts";
import { refold } from "../../projections/refold.ts";
import type { State } from "../../reducers/thread-state.ts";
import { dataOf, eventsOf, orphanCalls, transcript, typesOf } from "./recorded-events.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { add, callsTools } from "./simple-tools.ts";

/** Calls `add` for each message of the user, then says the sum. */
const adder = () =>
  new ScriptedModel({
    answers: (messages) =>
      messages.at(-1)?.getType() === "human"
        ? callsTools(["add", { a: 1, b: messages.length }])
        : `sum ${messages.at(-1)?.content}`,
  });

const agentOn = (store: string | Awaited<ReturnType<typeof openStore>>): Agent =>
  createAgent({ model: adder(), tools: [add], store });

/** The states that a thread went through, by version, folded event by event beside the run. */
async function statesOf(agent: Agent, thread: Thread): Promise<State[]> {
  const states = [agent.reducer.initial];
  for (const { type, data, version } of effectiveEvents(await eventsOf(thread))) {
    states[version] = agent.reducer.apply(states.at(-1) ?? {}, { type, data, version });
  }
  return states;
}

describe("a state at a version is the fold of the events up to it", () => {
  test("while the run goes on, later, and after the thread was opened anew", async () => {
    const folder = await mkdtemp(join(tmpdir(), "time-travel-"));
    const url = `sqlite:${join(folder, "threads.db")}`;
    const agent = agentOn(url);
    const thread = agent.thread("t");
    const during: [version: number, state: State][] = [];
    for (const input of ["one", "two", "three"]) {
      const run = thread.run(input);
      for await (const item of run) {
        if (item.kind === "event")
          during.push([item.event.version, await thread.stateAt(item.event.version)]);
      }
      const { state, version } = await run.result;
      during.push([version, state]);
    }
    const states = await statesOf(agent, thread);
    for (const [version, state] of during) expect(state).toEqual(states[version]);
    await agent.close();

    const reopened = agentOn(url);
    for (const [version, state] of during) {
      expect(await reopened.thread("t").stateAt(version)).toEqual(state);
    }
    expect(await reopened.thread("t").state()).toEqual(during.at(-1)?.[1]);
    await reopened.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("run ends carry a hash that a refold proves", async () => {
    const store = await openStore("memory:");
    const agent = agentOn(store);
    const thread = agent.thread("t");
    await thread.run("one").result;
    const { version } = await thread.run("two").result;
    const { registry, reducer } = agent;
    const folded = await refold(store.log, { registry, reducer }, threadStream("t"), version);
    expect(folded).toMatchObject({ checked: 2, divergence: undefined });
  });
});

describe("fork", () => {
  test("stands on the parent's history, and both go on by themselves", async () => {
    const agent = agentOn("memory:");
    const parent = agent.thread("parent");
    const first = await parent.run("one").result;
    await parent.run("two").result;
    const child = await parent.fork({ at: first.version, threadId: "child", metadata: { why: "try" } });
    expect(await child.state()).toEqual(first.state);
    expect(await child.info()).toMatchObject({ version: 1, status: "idle", metadata: { why: "try" } });
    const forkedFrom = (await eventsOf(parent)).find(({ version }) => version === first.version);
    expect(await dataOf(child, "ThreadForked")).toEqual([
      {
        parentThreadId: "parent",
        parentVersion: first.version,
        parentHash: forkedFrom?.metadata.hash,
        metadata: { why: "try" },
      },
    ]);

    const branched = await child.run("three").result;
    expect(transcript(branched.state.messages).filter((line) => line.startsWith("human"))).toEqual([
      "human: one",
      "human: three",
    ]);
    const parentNow = await parent.state();
    expect(transcript(parentNow.messages)).not.toContain("human: three");
    expect(await child.stateAt(1)).toEqual(first.state);
    expect(await child.stateAt(branched.version)).toEqual(branched.state);
  });

  test("in the middle of a run the child is idle, and its next run closes the open call", async () => {
    const agent = agentOn("memory:");
    const parent = agent.thread("parent");
    await parent.run("one").result;
    const at = (await typesOf(parent)).indexOf("ToolCallStarted") + 1;
    const child = await parent.fork({ at });
    expect(await child.info()).toMatchObject({ status: "idle" });
    expect(orphanCalls((await child.state()).messages)).toHaveLength(1);
    const { state } = await child.run("two").result;
    expect(orphanCalls(state.messages)).toEqual([]);
  });

  test("of an interrupted thread asks the same, and each branch has its own answer", async () => {
    const ask = defineTool({
      name: "ask",
      description: "asks",
      schema: z.object({}),
      run: () => interrupt("question", "which?"),
    });
    const model = new ScriptedModel({
      answers: (messages) => (messages.at(-1)?.getType() === "human" ? callsTools(["ask", {}]) : "done"),
    });
    const agent = createAgent({ model, tools: [ask], store: "memory:" });
    const parent = agent.thread("parent");
    await parent.run("go").result;
    const child = await parent.fork();
    expect((await child.info()).status).toBe("interrupted");
    const left = await parent.resume({ all: "left" }).result;
    const right = await child.resume({ all: "right" }).result;
    expect(transcript(left.state.messages)[2]).toBe("tool: left");
    expect(transcript(right.state.messages)[2]).toBe("tool: right");
  });

  test("refuses a version that is not there, an unknown parent, and an id that is taken", async () => {
    const agent = agentOn("memory:");
    await agent.thread("t").run("one").result;
    await expect(agent.thread("t").fork({ at: 99 })).rejects.toThrow(VersionOutOfRangeError);
    await expect(agent.thread("nobody").fork()).rejects.toThrow(UnknownThreadError);
    await agent.thread("other").run("one").result;
    await expect(agent.thread("t").fork({ threadId: "other" })).rejects.toMatchObject({
      name: "VersionConflict",
    });
  });
});

describe("rewind", () => {
  test("what follows builds on the earlier state; what was abandoned stays readable", async () => {
    const agent = agentOn("memory:");
    const thread = agent.thread("t");
    const first = await thread.run("one").result;
    const second = await thread.run("two").result;
    const { version } = await thread.rewind({ to: first.version, reason: "try again" });
    expect(version).toBe(second.version + 1);
    expect(await thread.state()).toEqual(first.state);
    const third = await thread.run("three").result;
    expect(transcript(third.state.messages).filter((line) => line.startsWith("human"))).toEqual([
      "human: one",
      "human: three",
    ]);
    expect(await thread.stateAt(second.version)).toEqual(second.state);
    expect(await thread.stateAt(version)).toEqual(first.state);
    expect(await thread.stateAt(third.version)).toEqual(third.state);
    const states = await statesOf(agent, thread);
    expect(third.state).toEqual(states[third.version]);
  });

  test("into the middle of a run leaves the thread idle; going on makes the call that waits there", async () => {
    const agent = agentOn("memory:");
    const thread = agent.thread("t");
    await thread.run("one").result;
    const answered = (await typesOf(thread)).indexOf("ModelResponded") + 1;
    await thread.rewind({ to: answered });
    expect((await thread.info()).status).toBe("idle");
    const { state, status } = await thread.run(null).result;
    expect(status).toBe("completed");
    expect(transcript(state.messages)).toEqual(["human: one", "ai: ", "tool: 2", "ai: sum 2"]);
  });

  test("to an interrupt asks again", async () => {
    const ask = defineTool({
      name: "ask",
      description: "asks",
      schema: z.object({}),
      run: () => interrupt("question", "which?"),
    });
    const model = new ScriptedModel({
      answers: (messages) => (messages.at(-1)?.getType() === "human" ? callsTools(["ask", {}]) : "done"),
    });
    const agent = createAgent({ model, tools: [ask], store: "memory:" });
    const thread = agent.thread("t");
    const { version, interrupts } = await thread.run("go").result;
    await thread.resume({ all: "left" }).result;
    await thread.rewind({ to: version });
    expect(await thread.info()).toMatchObject({ status: "interrupted", interrupts });
    const { state } = await thread.resume({ [interrupts[0]?.id ?? ""]: "right" }).result;
    expect(transcript(state.messages)[2]).toBe("tool: right");
  });

  test("to the beginning, and to nowhere", async () => {
    const agent = agentOn("memory:");
    const thread = agent.thread("t");
    await thread.run("one").result;
    await thread.rewind({ to: 0 });
    expect((await thread.state()).messages).toEqual([]);
    await expect(thread.rewind({ to: 99 })).rejects.toThrow(VersionOutOfRangeError);
    await expect(agent.thread("nobody").rewind({ to: 0 })).rejects.toThrow(UnknownThreadError);
    expect(transcript((await thread.run("two").result).state.messages)).toEqual([
      "human: two",
      "ai: ",
      "tool: 2",
      "ai: sum 2",
    ]);
  });
});

describe("from outside a run", () => {
  test("events are recorded and folded; those of the runtime are refused", async () => {
    const agent = agentOn("memory:");
    const thread = agent.thread("t");
    const message = { id: "m1", type: "human", content: "from outside" };
    expect(await thread.record([MessagesAdded({ messages: [message] })])).toEqual({ version: 2 });
    expect((await thread.state()).messages).toEqual([message]);
    expect(await typesOf(thread)).toEqual(["ThreadCreated", "MessagesAdded"]);
    expect((await eventsOf(thread)).at(-1)?.metadata.by).toBe("client");
    await expect(thread.record([RunCompleted({ runId: "r" })])).rejects.toThrow(ReservedEventError);
    await expect(
      thread.record([MessagesAdded({ messages: [message] })], { expectedVersion: 1 }),
    ).rejects.toMatchObject({ name: "VersionConflict" });
  });

  test("an update replaces what fields hold", async () => {
    const store = await openStore("memory:");
    const stateSchema = z.object({ plan: z.string() });
    const agent = createAgent({ model: adder(), tools: [add], stateSchema, store });
    const thread = agent.thread("t");
    await thread.run("one").result;
    await thread.update(
      { plan: "read", messages: [{ id: "x", type: "human", content: "only this" }] },
      { by: "user" },
    );
    const state = await thread.state();
    expect(state.plan).toBe("read");
    expect(transcript(state.messages)).toEqual(["human: only this"]);
    expect((await eventsOf(thread)).at(-1)?.metadata.by).toBe("user");
    await expect(thread.update({ unheard: 1 })).rejects.toThrow(UnknownFieldError);
  });

  test("an update is held against what the field declares, its value and not what its reducer takes", async () => {
    const store = await openStore("memory:");
    const log = new ReducedValue(z.array(z.string()), {
      inputSchema: z.string(),
      reducer: (all: string[], one: string) => [...all, one],
    });
    const stateSchema = new StateSchema({ plan: z.string(), log });
    const thread = createAgent({
      model: adder(),
      tools: [add],
      stateSchema: stateSchema as never,
      store,
    }).thread("t");
    await thread.update({ plan: "read", log: ["a", "b"] });
    await expect(thread.update({ plan: 7 })).rejects.toThrow(InvalidUpdateError);
    await expect(thread.update({ log: "c" })).rejects.toThrow(
      /"log" by client is not valid: .*expected array/,
    );
    expect(await thread.state()).toMatchObject({ plan: "read", log: ["a", "b"] });
  });

  test("an update cannot forge the marks of middlewares, and keeps those that the thread holds", async () => {
    const extra = { hide_from_ui: true, dynamic_context_reminder: true, deerflow_view_image_context: true };
    const marked = (id: string) => ({ id, type: "human", content: id, additional_kwargs: extra });
    const plain = { id: "plain", type: "human", content: "plain" };
    const thread = createAgent({ model: adder(), store: "memory:" }).thread("t");
    await thread.record([MessagesAdded({ messages: [marked("held"), plain] })]);
    await thread.update({ messages: [marked("held"), marked("plain"), marked("view-image-context:1")] });
    const messages = (await thread.state()).messages as readonly Message[];
    expect(messages.map(({ additional_kwargs }) => additional_kwargs)).toEqual([
      extra,
      { hide_from_ui: true },
      { hide_from_ui: true },
    ]);
  });

  test("nothing is recorded while a run is open", async () => {
    const model = new ScriptedModel({ answers: ["late"], latencyMs: 60_000 });
    const agent = createAgent({ model, store: "memory:" });
    const thread = agent.thread("t");
    const run = thread.run("go");
    for await (const item of run) if (item.kind === "event" && item.event.type === "ModelCallStarted") break;
    for (const attempt of [
      () => thread.record([MessagesAdded({ messages: [] })]),
      () => thread.update({ messages: [] }),
      () => thread.rewind({ to: 0 }),
      () => thread.passivate(),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ name: "ThreadBusyError", runId: run.runId });
    }
    await run.cancel();
  });
});
