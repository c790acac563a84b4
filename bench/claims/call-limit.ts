import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { modelCallLimitMiddleware } from "../../actors/middleware/model-call-limit.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { loadLangGraph } from "../sides/langgraph-packages.ts";
import { createScriptedModel } from "../work.ts";
import { type Answer, type Claim, callsOnce, ownModel } from "./claim.ts";

const definition = { name: "look", description: "looks", schema: z.object({}) };

function countingScript() {
  const answer = callsOnce("look");
  const counted = { calls: 0 };
  const counting: Answer = (messages) => {
    counted.calls += 1;
    return answer(messages);
  };
  return { counted, counting };
}

const outcome = (perRun: readonly number[]): string => `model calls in three runs: ${perRun.join(", ")}`;

export const callLimit: Claim = {
  situation: "a limit of one model call per run, three runs",
  async ours() {
    const { counted, counting } = countingScript();
    const agent = createAgent({
      model: ownModel(counting),
      tools: [defineTool({ ...definition, run: () => "found" })],
      middleware: [modelCallLimitMiddleware({ runLimit: 1 })],
      store: "memory:",
    });
    const perRun: number[] = [];
    for (const input of ["a", "b", "c"]) {
      counted.calls = 0;
      await agent.thread("t").run(input).result;
      perRun.push(counted.calls);
    }
    await agent.close();
    return outcome(perRun);
  },
  async theirs() {
    const packages = await loadLangGraph();
    const { langchain, langgraph } = packages;
    const { counted, counting } = countingScript();
    const agent = langchain.createAgent({
      model: createScriptedModel(packages, counting),
      tools: [langchain.tool(() => "found", definition)],
      middleware: [langchain.modelCallLimitMiddleware({ runLimit: 1, exitBehavior: "end" })],
      checkpointer: new langgraph.MemorySaver(),
    });
    const perRun: number[] = [];
    for (const content of ["a", "b", "c"]) {
      counted.calls = 0;
      const input = { messages: [{ role: "user", content }] };
      await agent.invoke(input, { configurable: { thread_id: "t" } }).catch(() => undefined);
      perRun.push(counted.calls);
    }
    return outcome(perRun);
  },
};
