import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { queueRun } from "../../actors/queued-request.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { createWorker } from "../../actors/worker.ts";
import { openStore } from "../../events/open-store.ts";
import { verifyThread } from "../../projections/verify.ts";
import {
  hasPostgres,
  type PostgresServer,
  serverStartMs,
  startPostgres,
} from "../events/log/postgres-server.ts";
import { eventually } from "../eventually.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { callsTools } from "./simple-tools.ts";

describe.skipIf(!hasPostgres)("workers on a real PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(() => server?.stop());

  test("a server that goes away and comes back costs time: every run ends, and no tool runs twice", async () => {
    const url = server.newUrl();
    const store = await openStore(url);
    const threads = Array.from({ length: 20 }, (_, index) => `t-${index}`);
    const ran: string[] = [];
    const note = defineTool({
      name: "note",
      description: "notes",
      schema: z.object({}),
      run: async (_args, { threadId, callId }) => {
        ran.push(`${threadId} ${callId}`);
        await new Promise((resolve) => setTimeout(resolve, 30));
        return "noted";
      },
    });
    const model = new ScriptedModel({
      answers: (messages) => {
        const calls = messages.filter((message) => message.getType() === "tool").length;
        return calls < 5 ? callsTools(["note", {}, `call-${calls}`]) : "done";
      },
    });
    for (const threadId of threads) await queueRun(store, { threadId, input: "go" });
    const ended: string[] = [];
    const [one, two] = [await openStore(url), await openStore(url)];
    const workers = [one, two].map((on) => {
      const agent = createAgent({ model, tools: [note], store: on, recovery: "continue", leaseMs: 1000 });
      const worker = createWorker({
        agent,
        leaseMs: 1000,
        pollMs: 50,
        concurrency: 5,
        maxAttempts: 100,
        onRun: ({ threadId, outcome }) => {
          if (outcome !== "returned") ended.push(`${threadId} ${outcome}`);
        },
      });
      return { agent, worker };
    });
    await eventually(() => ran.length).toBeGreaterThan(10);
    await server.kill();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await server.restart();
    await eventually(() => new Set(ended).size).toBe(threads.length);
    for (const { worker, agent } of workers) {
      await worker.stop();
      await agent.close();
    }
    expect(new Set(ended)).toEqual(new Set(threads.map((threadId) => `${threadId} completed`)));
    expect(new Set(ran).size).toBe(ran.length);
    for (const threadId of threads) expect((await verifyThread(store, threadId)).problems).toEqual([]);
    for (const opened of [store, one, two]) await opened.close();
  }, 90_000);
});
