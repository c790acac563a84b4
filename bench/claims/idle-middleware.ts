import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { loadLangGraph } from "../sides/langgraph-packages.ts";
import { createScriptedModel } from "../work.ts";
import { type Claim, callsOnce, errorLine, ownModel } from "./claim.ts";

const definition = { name: "look", description: "looks", schema: z.object({}) };
const hooks = {
  beforeAgent: () => undefined,
  beforeModel: () => undefined,
  afterModel: () => undefined,
  afterAgent: () => undefined,
};
const counts = [0, 4] as const;

export const idleMiddleware: Claim = {
  situation: "four middlewares whose hooks do nothing, one one-tool turn",
  async ours() {
    const events: number[] = [];
    for (const count of counts) {
      const middleware = Array.from({ length: count }, (_, n) =>
        createMiddleware({ name: `idle-${n}`, ...hooks }),
      );
      const tools = [defineTool({ ...definition, run: () => "found" })];
      const agent = createAgent({ model: ownModel(callsOnce("look")), tools, middleware, store: "memory:" });
      events.push((await agent.thread("t").run("go").result).version);
      await agent.close();
    }
    return `${events[1]} events (${events[0]} without them)`;
  },
  async theirs() {
    const packages = await loadLangGraph();
    const { langchain, langgraph } = packages;
    const rows: number[] = [];
    let atDefaultLimit = "";
    for (const count of counts) {
      const middleware = Array.from({ length: count }, (_, n) =>
        langchain.createMiddleware({ name: `idle-${n}`, ...hooks }),
      );
      const agent = langchain.createAgent({
        model: createScriptedModel(packages, callsOnce("look")),
        tools: [langchain.tool(() => "found", definition)],
        middleware,
        checkpointer: new langgraph.MemorySaver(),
      });
      const input = { messages: [{ role: "user", content: "go" }] };
      const config = { configurable: { thread_id: "t" } };
      await agent.invoke(input, { ...config, recursionLimit: 100 });
      let found = 0;
      for await (const _row of agent.getStateHistory(config)) found += 1;
      rows.push(found);
      atDefaultLimit = await agent
        .invoke(input, { configurable: { thread_id: "u" }, recursionLimit: 25 })
        .then(() => "completes", errorLine);
    }
    return `${rows[1]} checkpoints (${rows[0]} without them); at LangGraph's limit of 25 steps: ${atDefaultLimit}`;
  },
};
