import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { loadLangGraph } from "../sides/langgraph-packages.ts";
import { createScriptedModel } from "../work.ts";
import { type Claim, callsOnce, ownModel } from "./claim.ts";

const definition = { name: "charge", description: "charges a card", schema: z.object({}) };
const outcome = (before: number, after: number): string =>
  `the tool had run ${before} time; after the replay: ${after}`;

export const replay: Claim = {
  situation: "replay from the point before the tool ran",
  async ours() {
    let charges = 0;
    const run = () => {
      charges += 1;
      return "charged";
    };
    const tools = [defineTool({ ...definition, run })];
    const agent = createAgent({ model: ownModel(callsOnce("charge")), tools, store: "memory:" });
    const thread = agent.thread("t");
    const { version } = await thread.run("go").result;
    const before = charges;
    for (let at = 1; at <= version; at++) await thread.stateAt(at);
    await agent.close();
    return outcome(before, charges);
  },
  async theirs() {
    const packages = await loadLangGraph();
    const { langchain, langgraph } = packages;
    let charges = 0;
    const charge = langchain.tool(() => {
      charges += 1;
      return "charged";
    }, definition);
    const model = createScriptedModel(packages, callsOnce("charge"));
    const agent = langchain.createAgent({
      model,
      tools: [charge],
      checkpointer: new langgraph.MemorySaver(),
    });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke({ messages: [{ role: "user", content: "go" }] }, config);
    const before = charges;
    for await (const row of agent.getStateHistory(config)) {
      if (row.next[0] !== "tools") continue;
      await agent.invoke(null, row.config);
      break;
    }
    return outcome(before, charges);
  },
};
