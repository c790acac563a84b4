import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Agent, AgentOptions } from "../../actors/agent-contract.ts";
import { ForeignAgentError } from "../../actors/agent-internals.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { deferred } from "../../actors/deferred.ts";
import { interrupt } from "../../actors/interrupt.ts";
import { newEvent } from "../../actors/new-event.ts";
import { queueRun } from "../../actors/queued-request.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { createWorker, type WorkedRun, type Worker, type WorkerOptions } from "../../actors/worker.ts";
import { threadStream } from "../../events/envelope.ts";
import type { Json } from "../../events/json.ts";
import { LogUnavailableError } from "../../events/log/event-log.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { eventually } from "../eventually.ts";
import { dataOf, transcript, typesOf } from "./recorded-events.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { callsTools } from "./simple-tools.ts";

let folder: string;
let stores: Store[];
let workers: Worker[];
let agents: Agent[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-worker-"));
  const url = `sqlite:${join(folder, "threads.db")}`;
  stores = [await openStore(url), await openStore(url)];
  workers = [];
  agents = [];
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop({ graceMs: 0 })));
  await Promise.all(agents.map((agent) => agent.close()));
  for (const store of stores) await store.close();
  await rm(folder, { recursive: true, force: true });
});

function storeOf(index: 0 | 1): Store {
  const store = stores[index];
  if (!store) throw new Error("no store");
  return store;
}

/** An agent on one of the two handles of the file, as if it were another process. */
function agentOn(index: 0 | 1, options: Partial<AgentOptions> = {}): Agent {
  const agent = createAgent({
    model: new ScriptedModel({ answers: ["ok"] }),
    store: storeOf(index),
    recovery: "continue",
    leaseMs: 3000,
    ...options,
  });
  agents.push(agent);
  return agent;
}

/** A worker, and what it is through with. */
function workerOf(
  agent: Agent,
  options: Partial<WorkerOptions> = {},
): { worker: Worker; worked: WorkedRun[] } {
  const worked: WorkedRun[] = [];
  const worker = createWorker({
    agent,
    leaseMs: 3000,
    pollMs: 10,
    onRun: (run) => worked.push(run),
    ...options,
  });
  workers.push(worker);
  return { worker, worked };
}

/** A tool that waits until it is let go, whatever happens to its run. */
function gate() {
  const began = deferred<void>();
  const opened = deferred<string>();
  let runs = 0;
  const tool = defineTool({
    name: "wait",
    description: "waits",
    schema: z.object({}),
    run: () => {
      runs += 1;
      began.resolve();
      return opened.promise;
    },
  });
  return { tool, began: began.promise, open: () => opened.resolve("went on"), runs: () => runs };
}

const waits = () => new ScriptedModel({ answers: [callsTools(["wait", {}]), "done"] });

describe("a worker", () => {
  test("runs what was queued, before it was there and after, under the ids that were given out", async () => {
    const first = await queueRun(storeOf(0), { input: "one" });
    const agent = agentOn(1);
    const { worker, worked } = workerOf(agent);
    const second = await queueRun(
      storeOf(0),
      { threadId: "t", input: { messages: "two" } },
      { runId: "mine" },
    );
    expect(second).toEqual({ runId: "mine", threadId: "t" });
    await eventually(() => worked.length).toBe(2);
    expect(
      worked.map(({ runId, threadId, attempt, outcome }) => [runId, threadId, attempt, outcome]),
    ).toEqual([
      [first.runId, first.threadId, 1, "completed"],
      ["mine", "t", 1, "completed"],
    ]);
    expect(
      transcript(
        await agent
          .thread("t")
          .state()
          .then(({ messages }) => messages),
      ),
    ).toEqual(["human: two", "ai: ok"]);
    await worker.whenIdle();
    expect(await storeOf(0).queue.list(10)).toEqual([]);
  });

  test("runs of one thread follow each other in the order they were queued, those of others run beside them", async () => {
    const { tool, began, open } = gate();
    const model = new ScriptedModel({
      answers: (messages) => (messages.at(-1)?.content === "wait" ? callsTools(["wait", {}]) : "ok"),
    });
    for (const input of ["wait", "b", "c"]) await queueRun(storeOf(0), { threadId: "t", input });
    await queueRun(storeOf(0), { threadId: "u", input: "beside" });
    const agent = agentOn(0, { model, tools: [tool] });
    const { worker, worked } = workerOf(agent);
    await began;
    await eventually(() => worked.map(({ threadId }) => threadId)).toEqual(["u"]);
    expect(worker.size).toBe(1);
    open();
    await worker.whenIdle();
    const { messages } = await agent.thread("t").state();
    expect(transcript(messages).filter((line) => line.startsWith("human"))).toEqual([
      "human: wait",
      "human: b",
      "human: c",
    ]);
  });

  test("works on as many runs at the same time as it may", async () => {
    let most = 0;
    let now = 0;
    const model = new ScriptedModel({
      answers: async () => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setTimeout(resolve, 20));
        now -= 1;
        return "ok";
      },
    });
    for (let index = 0; index < 9; index++)
      await queueRun(storeOf(0), { threadId: `t-${index}`, input: "go" });
    const { worker, worked } = workerOf(agentOn(0, { model }), { concurrency: 3 });
    await eventually(() => worked.length).toBe(9);
    expect(most).toBe(3);
    await worker.whenIdle();
  });

  test("is idle when the queue is worked off: a run that a dead worker had is waited for, a parked one is not", async () => {
    const agent = agentOn(0);
    const { queue } = storeOf(1);
    const claim = { owner: "dead", agent: agent.name, leaseMs: 700, limit: 1 };
    const parked = await queueRun(storeOf(0), { threadId: "p", input: "go" });
    await queue.claim(claim);
    await queue.park("dead", parked.runId, "cannot be run");
    await queueRun(storeOf(0), { threadId: "t", input: "one" });
    await queueRun(storeOf(0), { threadId: "t", input: "two" });
    await queue.claim(claim);
    const { worker, worked } = workerOf(agent);
    await worker.whenIdle();
    expect(worked.map(({ threadId, attempt }) => [threadId, attempt])).toEqual([
      ["t", 2],
      ["t", 1],
    ]);
    expect(await queue.list(10)).toMatchObject([{ runId: parked.runId, state: "parked" }]);
  });

  test("takes only the runs of its agent", async () => {
    const other = await queueRun(storeOf(0), { threadId: "t", input: "go" }, { agent: "other" });
    const { worker } = workerOf(agentOn(0));
    await worker.whenIdle();
    expect(await storeOf(0).queue.list(10)).toMatchObject([{ runId: other.runId, state: "waiting" }]);
    const { worked } = workerOf(agentOn(1, { name: "other" }));
    await eventually(() => worked.map(({ runId }) => runId)).toEqual([other.runId]);
  });

  test("answers to a question are queued as well, and context and metadata reach the run", async () => {
    const ask = defineTool({
      name: "ask",
      description: "asks",
      schema: z.object({}),
      run: () => interrupt("question", "how many?"),
      onAnswer: (answer, _args, { context }) => `${answer} for ${context.user}`,
    });
    const agent = agentOn(0, {
      model: new ScriptedModel({ answers: [callsTools(["ask", {}]), "done"] }),
      tools: [ask],
      contextSchema: z.object({ user: z.string() }),
    });
    const { worked } = workerOf(agent);
    const options = { context: { user: "ada" }, metadata: { from: "shop" } };
    await queueRun(storeOf(1), { threadId: "t", input: "go" }, options);
    await eventually(() => worked.map(({ outcome }) => outcome)).toEqual(["interrupted"]);
    await queueRun(storeOf(1), { threadId: "t", answers: { all: 3 } }, options);
    await eventually(() => worked.map(({ outcome }) => outcome)).toEqual(["interrupted", "completed"]);
    const { messages } = await agent.thread("t").state();
    expect(transcript(messages)).toContain("tool: 3 for ada");
    expect(await dataOf(agent.thread("t"), "RunStarted")).toMatchObject([
      { metadata: { from: "shop" } },
      { metadata: { from: "shop" } },
    ]);
  });

  test("waits for a run that was started on the thread without the queue", async () => {
    const { tool, began, open } = gate();
    const direct = agentOn(0, { model: waits(), tools: [tool] });
    const run = direct.thread("t").run("direct");
    await began;
    await queueRun(storeOf(1), { threadId: "t", input: "queued" });
    const { worked } = workerOf(agentOn(1, { tools: [tool] }));
    await eventually(async () => (await storeOf(1).queue.list(1))[0]?.state).toBe("claimed");
    open();
    expect((await run.result).status).toBe("completed");
    await eventually(() => worked.map(({ outcome }) => outcome)).toEqual(["completed"]);
    expect(await typesOf(direct.thread("t"))).not.toContain("RunTakenOver");
  });

  test("a run that cannot be started is set aside with the reason, and the thread goes on", async () => {
    const agent = agentOn(0, { contextSchema: z.object({ user: z.string() }) });
    const { worked } = workerOf(agent);
    await queueRun(storeOf(1), { threadId: "t", input: "no user" });
    await queueRun(storeOf(1), { threadId: "t", input: "go" }, { context: { user: "ada" } });
    await eventually(() => worked.length).toBe(2);
    expect(worked[0]).toMatchObject({ outcome: "parked", reason: expect.stringContaining("user") });
    expect(worked[1]).toMatchObject({ outcome: "completed" });
    expect(await storeOf(1).queue.list(10)).toMatchObject([{ state: "parked", reason: worked[0]?.reason }]);
  });

  test("a request of a later version is set aside", async () => {
    const run = { runId: "r", threadId: "t", agent: "agent", afterVersion: 0, queuedAt: "now" };
    await storeOf(0).queue.add({ ...run, request: { input: "hi", speed: "fast" } });
    const { worked } = workerOf(agentOn(0));
    await eventually(() => worked).toMatchObject([{ outcome: "parked", reason: /newer version/ }]);
  });

  test("an object that was not made by createAgent is refused", () => {
    expect(() => createWorker({ agent: { ...agentOn(0) } })).toThrow(ForeignAgentError);
  });
});

describe("two workers", () => {
  test("a run id that is queued again, even after it has run, runs once", async () => {
    const agent = agentOn(0);
    const { worked } = workerOf(agent);
    const { worked: worked2 } = workerOf(agentOn(1));
    for (let times = 1; times <= 3; times++) {
      await queueRun(storeOf(0), { threadId: "t", input: "once" }, { runId: "r" });
      await eventually(() => worked.length + worked2.length).toBe(times);
    }
    expect(await dataOf(agent.thread("t"), "RunStarted")).toHaveLength(1);
  });

  test("that hold the same claim start the run once: the log decides", async () => {
    const agents2 = [agentOn(0), agentOn(1)] as const;
    const claims = storeOf(0);
    for (let index = 0; index < 20; index++) {
      const threadId = `t-${index}`;
      await queueRun(claims, { threadId, input: "go" });
    }
    // A claim that lasts no time is nobody's: both take everything.
    const [one, two] = agents2.map((agent) =>
      workerOf(agent, { leaseMs: 1, maxAttempts: 1000, concurrency: 20 }),
    );
    await one?.worker.whenIdle();
    await two?.worker.whenIdle();
    for (let index = 0; index < 20; index++) {
      const types = await typesOf(agents2[0].thread(`t-${index}`));
      expect(types.filter((type) => type === "RunStarted")).toHaveLength(1);
      expect(types.filter((type) => type === "RunCompleted")).toHaveLength(1);
    }
  });

  test("the run of a worker that died is taken over, and its completed tools do not run again", async () => {
    const dead = gate();
    const answers = [callsTools(["note", {}]), callsTools(["wait", {}]), "done"];
    let notes = 0;
    const note = defineTool({
      name: "note",
      description: "notes",
      schema: z.object({}),
      run: () => `noted ${++notes}`,
    });
    const dying = agentOn(0, { model: new ScriptedModel({ answers }), tools: [note, dead.tool] });
    const first = workerOf(dying, { leaseMs: 100_000 });
    await queueRun(storeOf(1), { threadId: "t", input: "go" }, { runId: "r" });
    await dead.began;
    // As if its process had stopped: neither claim nor lease is renewed, and nothing that it does is recorded.
    const gone = () => Promise.reject(new LogUnavailableError("gone"));
    const { log, side, queue } = storeOf(0);
    Object.assign(log, { append: gone });
    Object.assign(side, { put: gone });
    Object.assign(queue, { claim: gone, renew: gone, release: gone });
    await storeOf(1).queue.renew(first.worker.id, ["r"], 1);

    const alive = gate();
    const next = agentOn(1, { model: new ScriptedModel({ answers: ["done"] }), tools: [note, alive.tool] });
    const { worked } = workerOf(next);
    await eventually(() => worked).toMatchObject([{ runId: "r", attempt: 2, outcome: "completed" }]);
    expect(notes).toBe(1);
    expect(alive.runs()).toBe(0);
    const types = await typesOf(next.thread("t"));
    expect(
      types.filter((type) => ["RunStarted", "RunTakenOver", "ToolCallAbandoned"].includes(type)),
    ).toEqual(["RunStarted", "RunTakenOver", "ToolCallAbandoned"]);
    dead.open();
  });

  test("a run that ends one worker after another is set aside and closed", async () => {
    await queueRun(storeOf(0), { threadId: "t", input: "go" }, { runId: "r" });
    const drafts: { readonly type: string; readonly data: Json }[] = [
      { type: "ThreadCreated", data: {} },
      { type: "RunStarted", data: { runId: "r", owner: "dead" } },
    ];
    const started = drafts.map((draft) =>
      newEvent(draft, {
        schema: 1,
        by: "runtime",
        recordedAt: "2026-11-30T12:00:00.000Z",
        cause: undefined,
        runId: "r",
        step: 0,
      }),
    );
    await storeOf(0).log.append(threadStream("t"), started, { expectedVersion: 0 });
    for (let attempt = 0; attempt < 2; attempt++) {
      await storeOf(0).queue.claim({ owner: `dead-${attempt}`, agent: "agent", leaseMs: 1, limit: 1 });
      await eventually(async () => (await storeOf(0).queue.list(1))[0]?.state).toBe("waiting");
    }
    const agent = agentOn(0);
    const reason = "2 workers did not finish it";
    const { worked } = workerOf(agent, { maxAttempts: 2 });
    await eventually(() => worked).toMatchObject([{ outcome: "parked", reason }]);
    await eventually(() => dataOf(agent.thread("t"), "RunCancelled")).toMatchObject([{ runId: "r", reason }]);
  });

  test("a run that was claimed while its worker was told to stop is given back", async () => {
    const { queue } = storeOf(0);
    const { claim } = queue;
    const asked = deferred<void>();
    const answer = deferred<void>();
    Object.assign(queue, {
      async claim(...given: Parameters<typeof claim>) {
        const claimed = await claim(...given);
        asked.resolve();
        await answer.promise;
        return claimed;
      },
    });
    await queueRun(storeOf(1), { threadId: "t", input: "go" }, { runId: "r" });
    const { worker, worked } = workerOf(agentOn(0));
    await asked.promise;
    const stopped = worker.stop();
    answer.resolve();
    await stopped;
    expect(worked).toEqual([]);
    expect(await storeOf(1).queue.list(1)).toMatchObject([{ runId: "r", state: "waiting", attempts: 0 }]);
  });
});

test.each(["有效的", "a b", "x".repeat(300), "a\u0000"])(
  "no run is queued for %j, which no thread can be called",
  async (threadId) => {
    await expect(queueRun(storeOf(0), { threadId, input: "go" })).rejects.toMatchObject({
      name: "InvalidNameError",
    });
    expect(await storeOf(0).queue.list(1)).toEqual([]);
  },
);

describe("a worker that stops", () => {
  test("takes no more runs and lets the one at hand end", async () => {
    const { tool, began, open } = gate();
    await queueRun(storeOf(0), { threadId: "t", input: "go" });
    const { worker, worked } = workerOf(agentOn(0, { model: waits(), tools: [tool] }), { concurrency: 1 });
    await began;
    const later = await queueRun(storeOf(0), { threadId: "u", input: "later" });
    const stopped = worker.stop({ graceMs: 10_000 });
    open();
    await stopped;
    expect(worked.map(({ outcome }) => outcome)).toEqual(["completed"]);
    expect(await storeOf(0).queue.list(10)).toMatchObject([{ runId: later.runId, state: "waiting" }]);
  });

  test("gives a run back that does not end in time; another worker goes on with it at once", async () => {
    const held = gate();
    const stopping = agentOn(0, { model: waits(), tools: [held.tool], leaseMs: 100_000 });
    await queueRun(storeOf(0), { threadId: "t", input: "go" }, { runId: "r" });
    const { worker, worked } = workerOf(stopping, { leaseMs: 100_000 });
    await held.began;
    await worker.stop({ graceMs: 10 });
    expect(worked).toMatchObject([{ runId: "r", outcome: "returned" }]);
    await stopping.close();
    const next = agentOn(1, { model: new ScriptedModel({ answers: ["went on"] }), tools: [held.tool] });
    const { worked: worked2 } = workerOf(next);
    await eventually(() => worked2).toMatchObject([{ runId: "r", attempt: 1, outcome: "completed" }]);
    expect(await typesOf(next.thread("t"))).toContain("RunTakenOver");
    expect(held.runs()).toBe(1);
    held.open();
  });

  test("cancels the run that does not end in time when its agent continues none", async () => {
    const held = gate();
    const agent = agentOn(0, { model: waits(), tools: [held.tool], recovery: "close" });
    await queueRun(storeOf(0), { threadId: "t", input: "go" });
    const { worker, worked } = workerOf(agent);
    await held.began;
    await worker.stop({ graceMs: 10 });
    expect(worked).toMatchObject([{ outcome: "cancelled" }]);
    expect(await dataOf(agent.thread("t"), "RunCancelled")).toMatchObject([
      { reason: "the worker was stopped" },
    ]);
    held.open();
  });
});

test("a worker that was too busy to renew a claim does not run the same run twice itself", async () => {
  const { tool, began, open, runs } = gate();
  await queueRun(storeOf(0), { threadId: "t", input: "go" }, { runId: "r" });
  const { worker, worked } = workerOf(agentOn(0, { model: waits(), tools: [tool] }));
  await began;
  // As if its renewals had come too late.
  await storeOf(1).queue.renew(worker.id, ["r"], 1);
  await eventually(async () => (await storeOf(1).queue.list(1))[0]?.attempts).toBe(2);
  open();
  await eventually(() => worked).toMatchObject([{ runId: "r", outcome: "completed" }]);
  expect(runs()).toBe(1);
  expect(worker.size).toBe(0);
});

/** Lets a handle of the store fail from its first append of a type on, for as long as is said, and once more. */
function goesAway(store: Store, type: string, isBack: () => boolean): { readonly refused: () => number } {
  const { append } = store.log;
  let away = false;
  let refused = 0;
  Object.assign(store.log, {
    append: async (...given: Parameters<typeof append>) => {
      away ||= refused === 0 && given[1].some((event) => event.type === type);
      if (!away) return append(...given);
      refused += 1;
      away = !isBack();
      throw new LogUnavailableError("away");
    },
  });
  return { refused: () => refused };
}

describe("a run whose store goes away in the middle", () => {
  test.each(["RunStarted", "ToolCallStarted", "ToolCallCompleted", "RunCompleted"])(
    "goes on when the store is back: lost at %s",
    async (type) => {
      const { tool, open, runs } = gate();
      open();
      await queueRun(storeOf(1), { threadId: "t", input: "go" }, { runId: "r" });
      let times = 0;
      const away = goesAway(storeOf(0), type, () => ++times > 3);
      const errors: unknown[] = [];
      const model = new ScriptedModel({
        answers: async (messages) =>
          messages.at(-1)?.getType() === "human" ? callsTools(["wait", {}]) : new AIMessage("done"),
      });
      const agent = agentOn(0, { model, tools: [tool] });
      const { worked } = workerOf(agent, { onError: (error) => errors.push(error) });
      await eventually(() => worked).toMatchObject([{ runId: "r", attempt: 1, outcome: "completed" }]);
      expect(away.refused()).toBeGreaterThan(3);
      expect(errors.length).toBeGreaterThan(0);
      expect(runs()).toBe(1);
      const types = await typesOf(agent.thread("t"));
      expect(types).not.toContain("RunFailed");
      expect(types.filter((one) => one === "RunStarted")).toHaveLength(1);
      expect(await storeOf(1).queue.list(1)).toEqual([]);
    },
  );

  test("fails when its agent continues none", async () => {
    const { tool, open } = gate();
    open();
    await queueRun(storeOf(1), { threadId: "t", input: "go" });
    goesAway(storeOf(0), "ToolCallCompleted", () => true);
    const agent = agentOn(0, { model: waits(), tools: [tool], recovery: "close" });
    const { worked } = workerOf(agent);
    await eventually(() => worked).toMatchObject([{ outcome: "failed" }]);
    expect(await dataOf(agent.thread("t"), "RunFailed")).toMatchObject([
      { error: { name: "LogUnavailableError" } },
    ]);
  });

  test("that no worker has fails, stays open, and goes on before the next run of the thread", async () => {
    const agent = agentOn(0, { model: new ScriptedModel({ answers: ["one", "two", "three"] }) });
    goesAway(storeOf(0), "RunCompleted", () => true);
    const thread = agent.thread("t");
    expect(await thread.run("go").result).toMatchObject({
      status: "failed",
      error: { name: "LogUnavailableError" },
    });
    expect((await thread.info()).status).toBe("running");
    const { status } = await thread.run("again", { whenBusy: "enqueue" }).result;
    expect(status).toBe("completed");
    const types = await typesOf(thread);
    expect(types.filter((type) => type === "RunCompleted")).toHaveLength(2);
  });
});

test("a worker whose store is away says so, and goes on when it is back", async () => {
  const { queue } = storeOf(0);
  const { claim } = queue;
  const errors: unknown[] = [];
  let away = true;
  Object.assign(queue, {
    claim: (...given: Parameters<typeof claim>) =>
      away ? Promise.reject(new LogUnavailableError("away")) : claim(...given),
  });
  await queueRun(storeOf(1), { threadId: "t", input: "go" });
  const { worked } = workerOf(agentOn(0), { onError: (error) => errors.push(error) });
  await eventually(() => errors.length).toBeGreaterThan(1);
  away = false;
  await eventually(() => worked.map(({ outcome }) => outcome)).toEqual(["completed"]);
});
