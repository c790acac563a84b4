import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { interrupt } from "../../actors/interrupt.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { defineEvent } from "../../events/define-event.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { crashingStore } from "./crashing-store.ts";
import { dataOf, eventsOf, orphanCalls, transcript, typesOf } from "./recorded-events.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { callsTools } from "./simple-tools.ts";

/** A tool that counts its runs, and the calls that it ran for. */
function countingTool(idempotent: boolean) {
  const ran: string[] = [];
  const tool = defineTool({
    name: "count",
    description: "counts",
    schema: z.object({}),
    idempotent,
    run: (_args, { callId }) => {
      ran.push(callId);
      return `run ${ran.length}`;
    },
  });
  return { tool, ran };
}

/** Its hooks do nothing, but they stand between the batches. */
const quiet = createMiddleware({ name: "quiet", beforeModel: () => undefined, afterModel: () => undefined });

/** Batches of a run with one tool call, when hooks stand between them. */
const batches = [
  "RunStarted",
  "ModelCallStarted",
  "ModelResponded",
  "ToolCallStarted",
  "ToolCallCompleted",
  "ModelCallStarted (second)",
  "ModelResponded (second)",
] as const;

async function crashAfter(
  appends: number,
  idempotent: boolean,
  middleware = [quiet],
): Promise<{ store: Store; ran: string[] }> {
  const store = await openStore("memory:");
  const dying = crashingStore(store, appends);
  const { tool, ran } = countingTool(idempotent);
  const model = new ScriptedModel({ answers: [callsTools(["count", {}, "c1"]), "done"] });
  createAgent({ model, tools: [tool], store: dying, middleware })
    .thread("t")
    .run("go");
  await dying.crashed;
  return { store, ran };
}

/** Answers as the model would, from what it sees. */
const model = () =>
  new ScriptedModel({
    answers: (messages) =>
      messages.at(-1)?.getType() === "human" ? callsTools(["count", {}, "c1"]) : "done",
  });

describe.each(batches.map((name, index) => [name, index + 1] as const))(
  "a crash after %s",
  (name, appends) => {
    test("close: the run is recorded as failed, and the thread goes on", async () => {
      const { store, ran } = await crashAfter(appends, false);
      const before = await eventsOf({ events: () => flat(store) });
      const { tool, ran: ranAgain } = countingTool(false);
      const agent = createAgent({ model: model(), tools: [tool], store });
      const thread = agent.thread("t");
      expect(await thread.info()).toMatchObject({ status: "failed" });
      expect(await dataOf(thread, "RunFailed")).toMatchObject([{ error: { name: "RunAbandonedError" } }]);
      expect((await eventsOf(thread)).slice(0, before.length)).toEqual(before);
      expect(orphanCalls((await thread.state()).messages)).toEqual([]);
      const reasons = (await dataOf<{ reason: string }>(thread, "ToolCallAbandoned")).map(
        ({ reason }) => reason,
      );
      expect(reasons).toEqual(
        name === "ToolCallStarted" ? ["outcome unknown"] : name === "ModelResponded" ? ["not-run"] : [],
      );
      expect(ranAgain).toEqual([]);
      expect(ran.length).toBe(appends >= 4 ? 1 : 0);
      expect((await thread.run("again").result).status).toBe("completed");
    });

    test.each([false, true])("continue: it goes on from there (idempotent tool: %s)", async (idempotent) => {
      const { store, ran } = await crashAfter(appends, idempotent);
      const { tool, ran: ranAgain } = countingTool(idempotent);
      const agent = createAgent({ model: model(), tools: [tool], store, recovery: "continue" });
      const thread = agent.thread("t");
      const run = await thread.openRun();
      const result = await run?.result;
      expect(result?.status).toBe("completed");
      const types = await typesOf(thread);
      expect(types.filter((type) => type === "RunStarted")).toHaveLength(1);
      expect(types.filter((type) => type === "RunTakenOver")).toHaveLength(1);
      expect(types.at(-1)).toBe("RunCompleted");
      expect(orphanCalls(result?.state.messages)).toEqual([]);

      const outcomeUnknown = name === "ToolCallStarted" && !idempotent;
      expect([...ran, ...ranAgain]).toEqual(name === "ToolCallStarted" && idempotent ? ["c1", "c1"] : ["c1"]);
      expect(transcript(result?.state.messages)[2]).toContain(
        outcomeUnknown ? "outcome is unknown" : "run 1",
      );
      const started = await dataOf<{ callId: string }>(thread, "ModelCallStarted");
      const asked = name.startsWith("ModelCallStarted") ? 3 : 2;
      expect(started).toHaveLength(asked);
      expect(new Set(started.map(({ callId }) => callId)).size).toBe(2);
      expect(await thread.stateAt(result?.version ?? 0)).toEqual(result?.state);
    });
  },
);

describe.each([
  ["RunStarted", 1, "not called"],
  ["ModelCallStarted", 2, "not called"],
  ["ModelResponded ToolCallStarted", 3, "unknown"],
  ["ToolCallCompleted ModelCallStarted", 4, "done"],
] as const)("without hooks, a crash after %s", (_batch, appends, tool) => {
  test("it goes on from there, and no tool that completed runs again", async () => {
    const { store, ran } = await crashAfter(appends, false, []);
    const { tool: counting, ran: ranAgain } = countingTool(false);
    const agent = createAgent({ model: model(), tools: [counting], store, recovery: "continue" });
    const run = await agent.thread("t").openRun();
    const result = await run?.result;
    expect(result?.status).toBe("completed");
    expect(ran).toEqual(tool === "not called" ? [] : ["c1"]);
    expect(ranAgain).toEqual(tool === "not called" ? ["c1"] : []);
    expect(transcript(result?.state.messages)[2]).toContain(
      tool === "unknown" ? "outcome is unknown" : "run 1",
    );
    expect(orphanCalls(result?.state.messages)).toEqual([]);
  });
});

async function* flat(store: Store) {
  for await (const page of store.log.read("thread-t")) yield* page;
}

describe("what a crash leaves", () => {
  test("a run whose answer was under way: an approved call is reported as unknown, not made again", async () => {
    const store = await openStore("memory:");
    const done: string[] = [];
    const pay = defineTool({
      name: "pay",
      description: "pays",
      schema: z.object({}),
      run: () => interrupt("approval", null),
      onAnswer: () => {
        done.push("paid");
        return "paid";
      },
    });
    const answers = [callsTools(["pay", {}]), "done"];
    const first = createAgent({ model: new ScriptedModel({ answers }), tools: [pay], store });
    await first.thread("t").run("pay").result;
    // The answer and the start of the call are recorded, its result is not.
    const dying = crashingStore(store, 2);
    const second = createAgent({
      model: new ScriptedModel({ answers: ["done"] }),
      tools: [pay],
      store: dying,
    });
    second.thread("t").resume({ all: "yes" });
    await dying.crashed;
    const third = createAgent({
      model: new ScriptedModel({ answers: ["done"] }),
      tools: [pay],
      store,
      recovery: "continue",
    });
    const result = await (await third.thread("t").openRun())?.result;
    expect(result?.status).toBe("completed");
    expect(done).toEqual(["paid"]);
    expect(await dataOf(third.thread("t"), "ToolCallAbandoned")).toMatchObject([
      { reason: "outcome unknown" },
    ]);
  });

  test("an answer whose call was not started yet: the call is made", async () => {
    const store = await openStore("memory:");
    const done: string[] = [];
    const pay = defineTool({
      name: "pay",
      description: "pays",
      schema: z.object({}),
      run: () => interrupt("approval", null),
      onAnswer: (answer) => {
        done.push(String(answer));
        return "paid";
      },
    });
    const answers = [callsTools(["pay", {}]), "done"];
    await createAgent({ model: new ScriptedModel({ answers }), tools: [pay], store })
      .thread("t")
      .run("pay").result;
    const dying = crashingStore(store, 1);
    createAgent({ model: new ScriptedModel({ answers: ["done"] }), tools: [pay], store: dying })
      .thread("t")
      .resume({ all: "yes" });
    await dying.crashed;
    const last = createAgent({
      model: new ScriptedModel({ answers: ["done"] }),
      tools: [pay],
      store,
      recovery: "continue",
    });
    expect((await (await last.thread("t").openRun())?.result)?.status).toBe("completed");
    expect(done).toEqual(["yes"]);
  });

  test("a request to cancel: the run is closed as cancelled, also by the policy to continue", async () => {
    const store = await openStore("memory:");
    const dying = crashingStore(store, 3);
    const model = new ScriptedModel({ answers: ["never"], latencyMs: 60_000 });
    const run = createAgent({ model, store: dying }).thread("t").run("go");
    for await (const item of run) if (item.kind === "event" && item.event.type === "ModelCallStarted") break;
    run.cancel("enough").catch(() => undefined);
    await dying.crashed;
    const next = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), store, recovery: "continue" });
    expect(await next.thread("t").info()).toMatchObject({ status: "cancelled" });
    expect((await typesOf(next.thread("t"))).slice(-2)).toEqual(["RunCancelRequested", "RunCancelled"]);
    expect(await dataOf(next.thread("t"), "RunCancelled")).toMatchObject([{ reason: "enough" }]);
  });

  test("what middlewares had acquired is given back", async () => {
    const store = await openStore("memory:");
    const Held = defineEvent({ type: "Held", schema: z.object({ id: z.string() }) });
    const released: unknown[] = [];
    const holder = createMiddleware({
      name: "holder",
      events: [Held],
      reducers: { held: { initial: null, on: { Held: (_held: unknown, { id }: { id: string }) => id } } },
      beforeAgent: () => Held({ id: "box-1" }),
      release: (state) => void released.push(state.held),
    });
    const dying = crashingStore(store, 2);
    createAgent({ model: new ScriptedModel({ answers: ["hi"] }), middleware: [holder], store: dying })
      .thread("t")
      .run("go");
    await dying.crashed;
    const agent = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), middleware: [holder], store });
    await agent.thread("t").info();
    expect(released).toEqual(["box-1"]);
  });
});
