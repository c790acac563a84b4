import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import Table from "cli-table3";
import { z } from "zod";
import type { Agent } from "../actors/agent-contract.ts";
import { createAgent } from "../actors/create-agent.ts";
import { toLangChainList } from "../actors/messages/to-langchain.ts";
import { defineTool } from "../actors/tools/define-tool.ts";
import type { Message } from "../events/message.ts";

/*
 * What a turn with one tool call costs besides the model, at turn 10 and at turn 1,000 of a thread. The model answers at
 * once; what LangChain itself takes to call it with the same messages is measured beside it and taken off. Times are CPU
 * times of the process, the best of several rounds, in which both lengths take turns.
 */
const turnsPerRound = 20;
const rounds = 8;
const longThreadTurns = Number(process.argv[2] ?? 1_000);
/** Milliseconds of CPU. */
const target = 3;

/** Calls the tool for each message of the user, then answers. */
class InstantModel extends BaseChatModel {
  override _llmType(): string {
    return "instant";
  }
  override bindTools() {
    return this;
  }
  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const asked = messages.at(-1)?.getType() === "human";
    const message = asked
      ? new AIMessage({ content: "", tool_calls: [{ id: "call", name: "add", args: { a: 1, b: 2 } }] })
      : new AIMessage("The sum is three. ".repeat(12));
    return { generations: [{ text: "", message }] };
  }
}

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  schema: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => String(a + b),
});

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function turns(agent: Agent, threadId: string, count: number): Promise<void> {
  const thread = agent.thread(threadId);
  for (let turn = 0; turn < count; turn++) {
    const { status, error } = await thread.run(`What is 1 + 2? ${"Think well. ".repeat(8)}`).result;
    if (status !== "completed") throw new Error(`The run ${status}: ${error?.message}`);
  }
}

/** What LangChain takes to call the model as often as `count` turns do, with the messages of a thread. */
async function modelAlone(agent: Agent, threadId: string, count: number): Promise<number> {
  const model = new InstantModel({});
  const { messages } = await agent.thread(threadId).state();
  const instances = [...toLangChainList(messages as readonly Message[])];
  return cpuOf(async () => {
    for (let call = 0; call < 2 * count; call++) await model.invoke(instances);
  });
}

async function bench(table: Table.Table, name: string, store: string): Promise<void> {
  const agent = createAgent({ model: new InstantModel({}), tools: [add], store });
  await turns(agent, "warm-up", 300);
  await turns(agent, "long", longThreadTurns);
  const best = { short: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };
  const model = { short: Number.POSITIVE_INFINITY, long: Number.POSITIVE_INFINITY };
  for (let round = 0; round < rounds; round++) {
    const short = `short-${round}`;
    best.short = Math.min(best.short, await cpuOf(() => turns(agent, short, turnsPerRound)));
    model.short = Math.min(model.short, await modelAlone(agent, short, turnsPerRound));
    best.long = Math.min(best.long, await cpuOf(() => turns(agent, "long", turnsPerRound)));
    model.long = Math.min(model.long, await modelAlone(agent, "long", turnsPerRound));
  }
  const perTurn = (ms: number) => (ms / turnsPerRound).toFixed(2);
  for (const [length, at] of [
    ["short", `turn 1 to ${turnsPerRound}`],
    ["long", `turn ${longThreadTurns} and on`],
  ] as const) {
    const overhead = best[length] - model[length];
    table.push([name, at, perTurn(best[length]), perTurn(model[length]), perTurn(overhead), `<= ${target}`]);
  }
  await agent.close();
}

const folder = await mkdtemp(join(tmpdir(), "bench-turn-"));
const table = new Table({
  head: ["store", "turns", "whole turn, ms CPU", "LangChain's model calls alone", "overhead", "target"],
});
await bench(table, "memory", "memory:");
await bench(table, "sqlite, synchronous=FULL", `sqlite:${join(folder, "threads.db")}`);
await rm(folder, { recursive: true, force: true });
console.log(table.toString());
