import { appendFileSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { loadLangGraph } from "../sides/langgraph-packages.ts";
import { createScriptedModel } from "../work.ts";
import { callsOnce, contentsOf, ownModel } from "./claim.ts";

/*
 * The process that is killed inside a tool, and the one that goes on after it. The tool leaves a line in a file, which
 * is what a payment would be; the first time it then waits for ever.
 */
const [product, phase, folder = ""] = process.argv.slice(2);
const effects = join(folder, "effects");
const definition = { name: "charge", description: "charges a card", schema: z.object({}) };

function charge(): Promise<string> | string {
  appendFileSync(effects, "charged\n");
  if (phase === "resume") return "charged";
  writeSync(1, "in the tool\n");
  // Something must keep the process alive until it is killed.
  return new Promise(() => setInterval(() => undefined, 1_000));
}

const answer = callsOnce("charge");
let messages: unknown = [];
if (product === "threadfold") {
  const agent = createAgent({
    model: ownModel(answer),
    tools: [defineTool({ ...definition, run: charge })],
    store: `sqlite:${join(folder, "threads.db")}`,
    recovery: "continue",
    leaseMs: 500,
  });
  const thread = agent.thread("t");
  if (phase === "run") await thread.run("go").result;
  // The lease of the process that was killed runs out first.
  let status = (await thread.info()).status;
  while (status === "running") {
    await (await thread.openRun())?.result;
    await new Promise((resolve) => setTimeout(resolve, 100));
    status = (await thread.info()).status;
  }
  ({ messages } = await thread.state());
  await agent.close();
} else {
  const packages = await loadLangGraph();
  const { langchain, sqlite } = packages;
  const agent = langchain.createAgent({
    model: createScriptedModel(packages, answer),
    tools: [langchain.tool(charge, definition)],
    checkpointer: sqlite.SqliteSaver.fromConnString(join(folder, "checkpoints.db")),
  });
  const config = {
    configurable: { thread_id: "t" },
    durability: product === "langgraph-exit" ? ("exit" as const) : ("async" as const),
  };
  const input = phase === "run" ? { messages: [{ role: "user", content: "go" }] } : null;
  ({ messages } = await agent
    .invoke(input, config)
    .catch((): { messages: readonly never[] } => ({ messages: [] })));
}
const charges = readFileSync(effects, "utf8").split("\n").length - 1;
const questions = contentsOf(messages, "human").length;
console.log(JSON.stringify({ charges, questions, results: contentsOf(messages, "tool") }));
