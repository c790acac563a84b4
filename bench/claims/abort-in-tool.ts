import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { loadLangGraph } from "../sides/langgraph-packages.ts";
import { createScriptedModel } from "../work.ts";
import { type Answer, type Claim, orphanCalls, ownModel } from "./claim.ts";

/** Calls the tool for the first input; counts what is wrong with the request for the second. */
function script() {
  let orphans = 0;
  const answer: Answer = (messages) => {
    orphans = orphanCalls(messages);
    const isFirst = messages.filter((message) => message.getType() === "human").length === 1;
    return isFirst ? { tool_calls: [{ id: "call-1", name: "wait", args: {} }] } : { content: "done" };
  };
  return { answer, outcome: () => `the next model request has ${orphans} tool calls without a result` };
}

const never = (signal: AbortSignal | undefined): Promise<string> =>
  new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });

export const abortInTool: Claim = {
  situation: "abort in a tool, then a new input",
  async ours() {
    const { answer, outcome } = script();
    const stop = new AbortController();
    const wait = defineTool({
      name: "wait",
      description: "waits",
      schema: z.object({}),
      run: (_args, { signal }) => {
        setImmediate(() => stop.abort());
        return never(signal);
      },
    });
    const agent = createAgent({ model: ownModel(answer), tools: [wait], store: "memory:" });
    const thread = agent.thread("t");
    await thread.run("first", { signal: stop.signal }).result;
    await thread.run("second").result;
    await agent.close();
    return outcome();
  },
  async theirs() {
    const packages = await loadLangGraph();
    const { langchain, langgraph } = packages;
    const { answer, outcome } = script();
    const stop = new AbortController();
    const run = (_args: unknown, runtime: unknown) => {
      setImmediate(() => stop.abort());
      return never((runtime as { signal?: AbortSignal }).signal);
    };
    const wait = langchain.tool(run, { name: "wait", description: "waits", schema: z.object({}) });
    const model = createScriptedModel(packages, answer);
    const agent = langchain.createAgent({ model, tools: [wait], checkpointer: new langgraph.MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    const input = (content: string) => ({ messages: [{ role: "user", content }] });
    await agent.invoke(input("first"), { ...config, signal: stop.signal }).catch(() => undefined);
    await agent.invoke(input("second"), config);
    return outcome();
  },
};
