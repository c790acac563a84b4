import { fc } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Run } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { deferred } from "../../actors/deferred.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { dataOf, orphanCalls, transcript, typesOf } from "./recorded-events.ts";
import { batchLines, recordingStore } from "./recording-store.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { add, callsTools } from "./simple-tools.ts";

/** A tool that waits until the run is cancelled, and says when it began. */
function waitingTool(name = "wait") {
  const began = deferred<void>();
  const tool = defineTool({
    name,
    description: "waits",
    schema: z.object({}),
    run: (_args, { signal }) => {
      began.resolve();
      return new Promise<string>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
    },
  });
  return { tool, began: began.promise };
}

/** Resolves when the run has recorded an event of a type. */
async function recorded(run: Run, type: string): Promise<void> {
  for await (const item of run) if (item.kind === "event" && item.event.type === type) return;
  throw new Error(`The run ended without ${type}.`);
}

describe("cancel", () => {
  test("is requested, then recorded with a result for each open call", async () => {
    const { tool, began } = waitingTool();
    const store = await recordingStore();
    const model = new ScriptedModel({ answers: [callsTools(["wait", {}]), "never"] });
    const agent = createAgent({ model, tools: [tool], store });
    const run = agent.thread("t").run("go");
    await began;
    await run.cancel("no longer needed");
    const result = await run.result;
    expect(result.status).toBe("cancelled");
    expect(batchLines(store).slice(-3)).toEqual([
      "ModelResponded ToolCallStarted",
      "RunCancelRequested",
      "ToolCallAbandoned RunCancelled",
    ]);
    expect(orphanCalls(result.state.messages)).toEqual([]);
    expect(await dataOf(agent.thread("t"), "RunCancelled")).toMatchObject([{ reason: "no longer needed" }]);
    expect(await agent.thread("t").info()).toMatchObject({ status: "cancelled" });
  });

  test("a model call is aborted, and the thread takes the next message", async () => {
    const model = new ScriptedModel({ answers: ["late", "again"], latencyMs: 60_000 });
    const agent = createAgent({ model, store: "memory:" });
    const thread = agent.thread("t");
    const run = thread.run("one");
    await recorded(run, "ModelCallStarted");
    await run.cancel();
    expect((await run.result).status).toBe("cancelled");
    expect((await typesOf(thread)).slice(-3)).toEqual([
      "RunCancelRequested",
      "ModelCallFailed",
      "RunCancelled",
    ]);
    const next = thread.run("two");
    await recorded(next, "ModelCallStarted");
    await agent.close();
    expect((await next.result).status).toBe("cancelled");
  });

  test("a tool that ignores the signal is given up, and its late result is not recorded", async () => {
    const began = deferred<void>();
    const late = deferred<string>();
    const stubborn = defineTool({
      name: "stubborn",
      description: "does not listen",
      schema: z.object({}),
      run: () => {
        began.resolve();
        return late.promise;
      },
    });
    const model = new ScriptedModel({ answers: [callsTools(["stubborn", {}])] });
    const agent = createAgent({ model, tools: [stubborn], store: "memory:" });
    const thread = agent.thread("t");
    const run = thread.run("go");
    await began.promise;
    await run.cancel();
    const before = await typesOf(thread);
    late.resolve("too late");
    await new Promise((resolve) => setImmediate(resolve));
    expect(before.at(-1)).toBe("RunCancelled");
    expect(await typesOf(thread)).toEqual(before);
  });

  test("what a parallel tool finished before stays", async () => {
    const { tool, began } = waitingTool();
    const model = new ScriptedModel({ answers: [callsTools(["add", { a: 2, b: 2 }], ["wait", {}])] });
    const agent = createAgent({ model, tools: [add, tool], store: "memory:" });
    const run = agent.thread("t").run("go");
    await Promise.all([began, recorded(run, "ToolCallCompleted")]);
    await run.cancel();
    const { state } = await run.result;
    expect(transcript(state.messages)[2]).toBe("tool: 4");
    expect(orphanCalls(state.messages)).toEqual([]);
  });

  test("the caller's signal cancels", async () => {
    const { tool, began } = waitingTool();
    const model = new ScriptedModel({ answers: [callsTools(["wait", {}])] });
    const agent = createAgent({ model, tools: [tool], store: "memory:" });
    const controller = new AbortController();
    const run = agent.thread("t").run("go", { signal: controller.signal });
    await began;
    controller.abort();
    expect((await run.result).status).toBe("cancelled");
  });

  test("a signal that is aborted already starts nothing", async () => {
    const agent = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), store: "memory:" });
    const thread = agent.thread("t");
    await expect(thread.run("go", { signal: AbortSignal.abort() }).result).rejects.toThrow(/abort/i);
    expect((await thread.info()).version).toBe(0);
  });

  test("what was acquired is released", async () => {
    const { tool, began } = waitingTool();
    const ends: string[] = [];
    const holder = createMiddleware({
      name: "holder",
      afterAgent: () => void ends.push("afterAgent"),
      release: () => void ends.push("release"),
    });
    const model = new ScriptedModel({ answers: [callsTools(["wait", {}])] });
    const agent = createAgent({ model, tools: [tool], middleware: [holder], store: "memory:" });
    const run = agent.thread("t").run("go");
    await began;
    await run.cancel();
    expect(ends).toEqual(["release"]);
  });

  test("a run that has ended stays as it ended", async () => {
    const agent = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), store: "memory:" });
    const run = agent.thread("t").run("go");
    await run.result;
    await run.cancel();
    expect((await typesOf(agent.thread("t"))).at(-1)).toBe("RunCompleted");
  });

  test("without an open run it does nothing", async () => {
    const agent = createAgent({ model: new ScriptedModel({ answers: ["hi"] }), store: "memory:" });
    await agent.thread("t").cancel();
    expect((await agent.thread("t").info()).version).toBe(0);
  });
});

test("whenever a cancel comes, the run has one end, no call without a result, and folds", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 10 }), fc.boolean(), async (after, parallel) => {
      const answers = parallel
        ? [callsTools(["add", { a: 1, b: 1 }], ["add", { a: 2, b: 2 }, "second"]), "done"]
        : [callsTools(["add", { a: 1, b: 1 }]), "done"];
      const agent = createAgent({ model: new ScriptedModel({ answers }), tools: [add], store: "memory:" });
      const thread = agent.thread("t");
      const run = thread.run("go");
      let seen = 0;
      let cancelled: Promise<void> | undefined;
      for await (const item of run) {
        if (item.kind !== "event") continue;
        seen += 1;
        if (seen === after) cancelled = run.cancel();
      }
      await cancelled;
      const result = await run.result;
      const types = await typesOf(thread);
      const ends = types.filter((type) => /^Run(Completed|Cancelled|Failed)$/.test(type));
      expect(ends).toHaveLength(1);
      expect(orphanCalls(result.state.messages)).toEqual([]);
      expect(await thread.stateAt(result.version)).toEqual(result.state);
      await agent.close();
    }),
    { numRuns: 40 },
  );
});
