import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { Agent, AgentOptions } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { deferred } from "../../actors/deferred.ts";
import { newEvent } from "../../actors/new-event.ts";
import { ThreadBusyError } from "../../actors/thread-busy.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { findBrokenLink } from "../../events/hash-chain.ts";
import type { Json } from "../../events/json.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { dataOf, eventsOf, orphanCalls, transcript, typesOf } from "./recorded-events.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { add, callsTools } from "./simple-tools.ts";

let folder: string;
let stores: Store[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "two-writers-"));
  const url = `sqlite:${join(folder, "threads.db")}`;
  stores = [await openStore(url), await openStore(url)];
});

afterEach(async () => {
  for (const store of stores) await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** An agent on one of the two handles of the file, as if it were another process. */
function agentOn(index: 0 | 1, options: Partial<AgentOptions> = {}): Agent {
  const store = stores[index];
  if (!store) throw new Error("no store");
  return createAgent({ model: new ScriptedModel({ answers: ["ok"] }), store, ...options });
}

/** A tool that waits until it is let go. */
function gate() {
  const began = deferred<void>();
  const opened = deferred<string>();
  const tool = defineTool({
    name: "wait",
    description: "waits",
    schema: z.object({}),
    run: (_args, { signal }) => {
      began.resolve();
      signal.addEventListener("abort", () => opened.reject(signal.reason));
      return opened.promise;
    },
  });
  opened.promise.catch(() => undefined);
  return { tool, began: began.promise, open: () => opened.resolve("went on") };
}

const waits = () => new ScriptedModel({ answers: [callsTools(["wait", {}]), "done"] });

/** Appends what another program would append. */
async function appendFromOutside(index: 0 | 1, type: string, data: Json): Promise<void> {
  const event = newEvent({ type, data }, { schema: 1, by: "client", recordedAt: new Date().toISOString() });
  await stores[index]?.log.append("thread-t", [event], { expectedVersion: "any" });
}

async function expectSound(agent: Agent): Promise<void> {
  const events = await eventsOf(agent.thread("t"));
  expect(findBrokenLink(events)).toBeUndefined();
  expect(events.map(({ version }) => version)).toEqual(events.map((_, index) => index + 1));
  expect(orphanCalls((await agent.thread("t").state()).messages)).toEqual([]);
}

describe("two processes, one thread", () => {
  test("runs at once: one has the thread, the other is told", async () => {
    const a = gate();
    const first = agentOn(0, { model: waits(), tools: [a.tool] });
    const second = agentOn(1);
    const run = first.thread("t").run("one");
    await a.began;
    const refused = second.thread("t").run("two");
    await expect(refused.result).rejects.toThrow(ThreadBusyError);
    await expect(refused.result).rejects.toMatchObject({ runId: run.runId });
    a.open();
    expect((await run.result).status).toBe("completed");
    expect((await second.thread("t").run("two").result).status).toBe("completed");
    await expectSound(second);
  });

  test("runs at once, in line: both run, one after the other", async () => {
    const inputs = ["one", "two", "three", "four", "five", "six"];
    const agents = [agentOn(0, { whenBusy: "enqueue" }), agentOn(1, { whenBusy: "enqueue" })] as const;
    const runs = inputs.map((input, index) => agents[index % 2 === 0 ? 0 : 1].thread("t").run(input));
    const results = await Promise.all(runs.map((run) => run.result));
    expect(results.map(({ status }) => status)).toEqual(inputs.map(() => "completed"));
    const lines = transcript((await agents[0].thread("t").state()).messages);
    expect(lines.filter((line) => line.startsWith("human")).sort()).toEqual(
      inputs.map((input) => `human: ${input}`).sort(),
    );
    expect(lines.map((line) => line.split(":")[0])).toEqual(inputs.flatMap(() => ["human", "ai"]));
    await expectSound(agents[1]);
  });

  test("an event from outside in the middle of a run: the run goes on top of it", async () => {
    const a = gate();
    const agent = agentOn(0, { model: waits(), tools: [a.tool, add] });
    const run = agent.thread("t").run("one");
    await a.began;
    await appendFromOutside(1, "TitleSet", { title: "mine", origin: "user" });
    a.open();
    const result = await run.result;
    expect(result.status).toBe("completed");
    const types = await typesOf(agent.thread("t"));
    expect(types.indexOf("TitleSet")).toBe(types.indexOf("ToolCallStarted") + 1);
    expect(types.filter((type) => type === "ToolCallCompleted")).toHaveLength(1);
    await expectSound(agent);
  });

  test("a request to cancel from another process stops the run", async () => {
    const a = gate();
    const first = agentOn(0, { model: waits(), tools: [a.tool], leaseMs: 3_000 });
    const run = first.thread("t").run("one");
    await a.began;
    await agentOn(1).thread("t").cancel("from afar");
    expect((await run.result).status).toBe("cancelled");
    expect(await dataOf(first.thread("t"), "RunCancelled")).toMatchObject([{ reason: "from afar" }]);
    await expectSound(first);
  });

  test("whenBusy interrupt cancels the run of another process", async () => {
    const a = gate();
    const first = agentOn(0, { model: waits(), tools: [a.tool], leaseMs: 3_000 });
    const run = first.thread("t").run("one");
    await a.began;
    const next = await agentOn(1, { whenBusy: "interrupt" }).thread("t").run("two").result;
    expect((await run.result).status).toBe("cancelled");
    expect(next.status).toBe("completed");
    await expectSound(first);
  });

  test("a run that was taken over records nothing more and says so", async () => {
    const a = gate();
    const first = agentOn(0, { model: waits(), tools: [a.tool] });
    const run = first.thread("t").run("one");
    await a.began;
    const [lease] = (await stores[1]?.side.list("lease")) ?? [];
    await stores[1]?.side.delete("lease", lease?.key ?? "");
    const second = agentOn(1);
    expect(await second.thread("t").info()).toMatchObject({ status: "failed" });
    const before = await typesOf(second.thread("t"));
    a.open();
    const result = await run.result;
    expect(result).toMatchObject({ status: "failed", error: { name: "RunLostError" } });
    expect(await typesOf(second.thread("t"))).toEqual(before);
    expect((await first.thread("t").run("again").result).status).toBe("completed");
    await expectSound(first);
  });

  test("an agent whose run was taken over closes in peace", async () => {
    const a = gate();
    const first = agentOn(0, { model: waits(), tools: [a.tool] });
    const run = first.thread("t").run("one");
    await a.began;
    for (const { key } of (await stores[1]?.side.list("lease")) ?? [])
      await stores[1]?.side.delete("lease", key);
    expect(await agentOn(1).thread("t").info()).toMatchObject({ status: "failed" });
    await first.close();
    a.open();
    expect((await run.result).error?.name).toBe("RunLostError");
  });

  test("when several find a run without an owner, one of them takes it", async () => {
    const a = gate();
    const first = agentOn(0, { model: waits(), tools: [a.tool] });
    const lost = first.thread("t").run("one");
    await a.began;
    for (const { key } of (await stores[0]?.side.list("lease")) ?? [])
      await stores[0]?.side.delete("lease", key);
    const model = () => new ScriptedModel({ answers: ["went on"] });
    const finders = ([0, 1, 0, 1] as const).map((index) =>
      agentOn(index, { model: model(), tools: [a.tool], recovery: "continue" }),
    );
    await Promise.all(finders.map((agent) => agent.thread("t").info()));
    await vi.waitFor(async () => {
      expect(await finders[0]?.thread("t").info()).toMatchObject({ status: "idle" });
    });
    const types = await typesOf(first.thread("t"));
    expect(types.filter((type) => type === "RunTakenOver")).toHaveLength(1);
    expect(types.filter((type) => type === "RunCompleted")).toHaveLength(1);
    a.open();
    expect((await lost.result).error?.name).toBe("RunLostError");
  });

  test("a run at a version that has passed is refused", async () => {
    const agent = agentOn(0);
    const { version } = await agent.thread("t").run("one").result;
    await agentOn(1).thread("t").run("two").result;
    const stale = agent.thread("t").run("three", { expectedVersion: version });
    await expect(stale.result).rejects.toMatchObject({ name: "VersionConflict", expected: version });
  });
});
