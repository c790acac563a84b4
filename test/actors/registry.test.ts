import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { AgentOptions } from "../../actors/agent-contract.ts";
import { assemble } from "../../actors/assemble.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { deferred } from "../../actors/deferred.ts";
import { openEnvironment } from "../../actors/environment.ts";
import { AgentClosedError, createRegistry } from "../../actors/registry.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { stateHash } from "../../projections/state-hash.ts";
import { crashingStore } from "./crashing-store.ts";
import { eventsOf, transcript, typesOf } from "./recorded-events.ts";
import { recordingStore } from "./recording-store.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { callsTools } from "./simple-tools.ts";

afterEach(() => {
  vi.useRealTimers();
});

function registryOn(store: Store, options: Partial<AgentOptions> & { readonly idleMs: number }) {
  const assembly = assemble({ model: new ScriptedModel({ answers: ["ok"] }) });
  const environment = openEnvironment(assembly, store, options, () => undefined);
  const { idleMs } = options;
  return createRegistry({ environment: async () => environment, agentName: "agent", idleMs });
}

describe("threads in memory", () => {
  test("one live thread for each id, however many ask at once", async () => {
    const registry = registryOn(await openStore("memory:"), { idleMs: 60_000 });
    const threads = await Promise.all(
      Array.from({ length: 10 }, () => registry.use("t", (thread) => thread)),
    );
    expect(new Set(threads).size).toBe(1);
    expect(registry.size).toBe(1);
    await registry.close();
    expect(registry.size).toBe(0);
  });

  test("an idle thread leaves memory, one in use stays", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
    const registry = registryOn(await openStore("memory:"), { idleMs: 1_000 });
    await registry.use("idle", () => undefined);
    const held = deferred<void>();
    const holding = registry.use("held", () => held.promise);
    await vi.waitFor(() => expect(registry.size).toBe(2));
    vi.advanceTimersByTime(900);
    expect(registry.size).toBe(2);
    vi.advanceTimersByTime(1_000);
    expect(registry.size).toBe(1);
    held.resolve();
    await holding;
    vi.advanceTimersByTime(2_000);
    expect(registry.size).toBe(0);
  });

  test("a thread that was dropped is opened from the log again", async () => {
    const agent = createAgent({ model: new ScriptedModel({ answers: ["one", "two"] }), store: "memory:" });
    const thread = agent.thread("t");
    const { state } = await thread.run("go").result;
    await thread.passivate();
    expect(await thread.state()).toEqual(state);
    expect((await thread.run("again").result).status).toBe("completed");
  });

  test("a thread that could not be opened is tried again", async () => {
    const store = await openStore("memory:");
    let broken = true;
    const head: Store["log"]["head"] = async (stream) => {
      if (broken) throw new Error("disk on fire");
      return store.log.head(stream);
    };
    const agent = createAgent({
      model: new ScriptedModel({ answers: ["ok"] }),
      store: { ...store, log: { ...store.log, head } },
    });
    await expect(agent.thread("t").run("go").result).rejects.toThrow("disk on fire");
    broken = false;
    expect((await agent.thread("t").run("go").result).status).toBe("completed");
  });

  test("a closed agent takes no more calls", async () => {
    const agent = createAgent({ model: new ScriptedModel({ answers: ["ok"] }), store: "memory:" });
    await agent.thread("t").run("go").result;
    await agent.close();
    await expect(agent.thread("t").run("go").result).rejects.toThrow(AgentClosedError);
  });
});

describe("closing with an open run", () => {
  const slow = () => new ScriptedModel({ answers: ["late"], latencyMs: 60_000 });

  test("the run is cancelled", async () => {
    const store = await openStore("memory:");
    const agent = createAgent({ model: slow(), store });
    const run = agent.thread("t").run("go");
    for await (const item of run) if (item.kind === "event" && item.event.type === "ModelCallStarted") break;
    await agent.close();
    expect((await run.result).status).toBe("cancelled");
  });

  test("with the policy to continue it is left for the next process", async () => {
    const store = await openStore("memory:");
    const agent = createAgent({ model: slow(), store, recovery: "continue" });
    const run = agent.thread("t").run("go");
    for await (const item of run) if (item.kind === "event" && item.event.type === "ModelCallStarted") break;
    await agent.close();
    expect((await run.result).error?.name).toBe("RunLostError");
    const next = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), store, recovery: "continue" });
    expect((await (await next.thread("t").openRun())?.result)?.status).toBe("completed");
  });
});

describe("a second run while one is open", () => {
  function waiting() {
    const opened = deferred<string>();
    const tool = defineTool({
      name: "wait",
      description: "w",
      schema: z.object({}),
      run: () => opened.promise,
    });
    return { tool, open: () => opened.resolve("open") };
  }
  const calling = () =>
    new ScriptedModel({
      answers: (messages) => (messages.length === 1 ? callsTools(["wait", {}]) : `after ${messages.length}`),
    });

  test("reject: it is refused, and the refusal does not disturb", async () => {
    const { tool, open } = waiting();
    const agent = createAgent({ model: calling(), tools: [tool], store: "memory:" });
    const thread = agent.thread("t");
    const first = thread.run("one");
    await expect(thread.run("two").result).rejects.toMatchObject({
      name: "ThreadBusyError",
      runId: first.runId,
    });
    open();
    expect((await first.result).status).toBe("completed");
  });

  test("enqueue: they run in the order they came", async () => {
    const { tool, open } = waiting();
    const agent = createAgent({ model: calling(), tools: [tool], store: "memory:", whenBusy: "enqueue" });
    const thread = agent.thread("t");
    const runs = ["one", "two", "three"].map((input) => thread.run(input));
    open();
    const results = await Promise.all(runs.map((run) => run.result));
    const humans = transcript(results.at(-1)?.state.messages).filter((line) => line.startsWith("human"));
    expect(humans).toEqual(["human: one", "human: two", "human: three"]);
  });

  test("who stands in line may leave it, and the others keep their order", async () => {
    const { tool, open } = waiting();
    const agent = createAgent({ model: calling(), tools: [tool], store: "memory:", whenBusy: "enqueue" });
    const thread = agent.thread("t");
    const [one, two, three] = ["one", "two", "three"].map((input) => thread.run(input));
    const refused = expect(two?.result).rejects.toMatchObject({ name: "RunWithdrawnError" });
    await two?.cancel();
    await refused;
    open();
    await Promise.all([one?.result, three?.result]);
    const humans = transcript((await thread.state()).messages).filter((line) => line.startsWith("human"));
    expect(humans).toEqual(["human: one", "human: three"]);
  });

  test("interrupt: the open run is cancelled first", async () => {
    const { tool } = waiting();
    const agent = createAgent({ model: calling(), tools: [tool], store: "memory:" });
    const thread = agent.thread("t");
    const first = thread.run("one");
    for await (const item of first) if (item.kind === "event" && item.event.type === "ModelResponded") break;
    const second = thread.run("two", { whenBusy: "interrupt" });
    expect((await second.result).status).toBe("completed");
    expect((await first.result).status).toBe("cancelled");
  });
});

test("a store that fails in the middle of a run: the run says so, and is closed when the store is back", async () => {
  const store = await recordingStore();
  const agent = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), store });
  const thread = agent.thread("t");
  store.beforeAppend = (events) => {
    if (events[0]?.type === "ModelResponded" || events.at(-1)?.type === "RunFailed")
      throw new Error("disk full");
  };
  const result = await thread.run("go").result;
  expect(result).toMatchObject({ status: "failed", error: { message: "disk full" } });
  expect((await thread.info()).status).toBe("running");
  store.beforeAppend = undefined;
  expect((await thread.run("again").result).status).toBe("completed");
  expect((await typesOf(thread)).filter((type) => type === "RunFailed")).toHaveLength(1);
});

test("fifty threads at once: nothing of one is seen in another, and each refolds to its live state", async () => {
  const store = await openStore("memory:");
  const schema = z.object({ text: z.string() });
  const echo = defineTool({
    name: "echo",
    description: "echoes",
    schema,
    run: async ({ text }, { threadId }) => {
      for (let turn = 0; turn < text.length % 5; turn++)
        await new Promise((resolve) => setImmediate(resolve));
      return `${threadId}:${text}`;
    },
  });
  const model = new ScriptedModel({
    answers: (messages) => {
      const last = messages.at(-1);
      if (last?.getType() !== "human") return `saw ${messages.map(({ content }) => content).join(" ")}`;
      return callsTools(
        ["echo", { text: `${last.content}a` }, "1"],
        ["echo", { text: `${last.content}bb` }, "2"],
      );
    },
  });
  const agent = createAgent({ model, tools: [echo], store });
  const ids = Array.from({ length: 50 }, (_, index) => `thread-no-${index}`);
  await Promise.all(
    ids.map(async (id) => {
      for (const turn of ["x", "y"]) await agent.thread(id).run(`${id}-${turn}`).result;
    }),
  );
  for (const id of ids) {
    const thread = agent.thread(id);
    const live = await thread.state();
    const text = JSON.stringify(live);
    expect(ids.filter((other) => new RegExp(`${other}(?!\\d)`).test(text))).toEqual([id]);
    const refolded = agent.reducer.fold(await eventsOf(thread));
    expect(stateHash(refolded)).toBe(stateHash(live));
  }
});

test("an open run with a live owner is left alone", async () => {
  const store = await openStore("memory:");
  const dying = crashingStore(store, 2);
  const agent = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), store: dying });
  const run = agent.thread("t").run("go");
  for await (const item of run) if (item.kind === "event" && item.event.type === "ModelCallStarted") break;
  const [lease] = await store.side.list("lease");
  const other = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), store });
  await dying.crashed;
  // As if the owner were only slow.
  await store.side.put("lease", lease?.key ?? "", { until: Date.now() + 60_000 });
  expect(await other.thread("t").info()).toMatchObject({ status: "running", runId: run.runId });
  await expect(other.thread("t").run("mine").result).rejects.toMatchObject({
    name: "ThreadBusyError",
    owner: lease?.key,
  });
  await store.side.put("lease", lease?.key ?? "", { until: Date.now() - 1 });
  expect((await other.thread("t").run("mine").result).status).toBe("completed");
});
