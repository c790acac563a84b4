import { openSync, writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { AIMessage } from "@langchain/core/messages";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { createWorker } from "../../actors/worker.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { openStore } from "../../events/open-store.ts";
import { openProjections } from "../../projections/open-projections.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";
import { clusterProjections, type WorkerSettings } from "./cluster-settings.ts";

// One worker of a cluster, until it is killed or told to stop. What it was told that it recorded and which tools it ran
// it notes in files: they are checked against the log afterwards.

const settings = JSON.parse(process.argv[2] ?? "{}") as WorkerSettings;
const acknowledged = openSync(settings.acknowledgedFile, "a");
const ran = openSync(settings.toolFile, "a");
const random = (maxMs: number) => pause(Math.random() * maxMs);

/** Notes each event after the store has said that it is recorded. The first one shows that this process is at work. */
function noting(log: EventLog): EventLog {
  let isAtWork = false;
  return {
    ...log,
    async append(stream, events, options) {
      const result = await log.append(stream, events, options);
      const lines = result.events.map(({ version, id }) => `${stream} ${version} ${id}\n`);
      writeSync(acknowledged, lines.join(""));
      if (!isAtWork) process.stdout.write("at work\n");
      isAtWork = true;
      return result;
    },
  };
}

const note = defineTool({
  name: "note",
  description: "leaves a line when it begins and one when it is done",
  schema: z.object({}),
  run: async (_args, { threadId, callId }) => {
    writeSync(ran, `began ${threadId} ${callId}\n`);
    await random(settings.toolMs);
    writeSync(ran, `done ${threadId} ${callId}\n`);
    return "noted";
  },
});

/** Calls the tool so many times for each input, under ids that say which call it is: done again, it would show. */
const model = new ScriptedModel({
  answers: async (messages) => {
    await random(settings.modelMs);
    const input = messages.findLastIndex((message) => message.getType() === "human");
    const calls = messages.slice(input + 1).filter((message) => message.getType() === "tool").length;
    if (calls >= settings.toolCalls) return "done";
    const id = `${messages[input]?.content}-${calls}`;
    return new AIMessage({ content: "", tool_calls: [{ id, name: "note", args: {}, type: "tool_call" }] });
  },
});

const opened = await openStore(settings.url);
const store = { ...opened, log: noting(opened.log) };
const { leaseMs, concurrency } = settings;
const agent = createAgent({ model, tools: [note], store, recovery: "continue", leaseMs });
const projections = await openProjections(store, { projections: clusterProjections, leaseMs });
const worker = createWorker({ agent, concurrency, leaseMs, pollMs: 100, maxAttempts: 1000 });

const stop = async () => {
  await worker.stop();
  await agent.close();
  await projections.close();
  await opened.close();
  process.exit(0);
};
process.once("SIGTERM", () => void stop());
// Whoever started it is gone.
process.stdin.once("end", () => process.exit(1)).resume();
