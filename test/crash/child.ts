import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { AIMessage } from "@langchain/core/messages";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";

// Runs turns on a few threads until it is killed. Says on stdout which events were acknowledged, one JSON a line.

const [store = "", sideFile = "", recovery = "close"] = process.argv.slice(2);

/** A call that is made leaves a line in this file, durable before the tool goes on. */
const side = openSync(sideFile, "a");
const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 4));

const note = defineTool({
  name: "note",
  description: "leaves a line",
  schema: z.object({ text: z.string() }),
  run: async ({ text }, { threadId, callId }) => {
    await pause();
    writeSync(side, `${threadId} ${callId}\n`);
    fsyncSync(side);
    await pause();
    return `noted ${text}`;
  },
});

const model = new ScriptedModel({
  answers: async (messages) => {
    await pause();
    const last = messages.at(-1);
    if (last?.getType() !== "human") return `done with ${messages.length} messages`;
    const calls = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, (_, index) => ({
      id: `${last.content}-${index}`,
      name: "note",
      args: { text: String(last.content) },
      type: "tool_call" as const,
    }));
    return new AIMessage({ content: "", tool_calls: calls });
  },
});

const agent = createAgent({
  model,
  tools: [note],
  store,
  recovery: recovery === "continue" ? "continue" : "close",
  whenBusy: "enqueue",
  leaseMs: 150,
});

function say(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

async function work(threadId: string): Promise<void> {
  const thread = agent.thread(threadId);
  for (let turn = 0; ; turn++) {
    const run = thread.run(`${process.pid}-${turn}-${Date.now()}`);
    for await (const item of run) {
      if (item.kind !== "event") continue;
      const { stream, version, id, metadata } = item.event;
      say({ stream, version, id, hash: metadata.hash });
    }
    const { status, error } = await run.result;
    // A process that was too busy to renew its lease may lose a run to another one, and is told.
    if (status !== "completed" && error?.name !== "RunLostError") say({ unexpected: status, error });
  }
}

process.on("exit", () => closeSync(side));
await Promise.all(["a", "b", "c"].map(work));
