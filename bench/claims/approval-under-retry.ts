import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { interrupt } from "../../actors/interrupt.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { loadLangGraph } from "../sides/langgraph-packages.ts";
import { createScriptedModel } from "../work.ts";
import { type Claim, callsOnce, ownModel } from "./claim.ts";

const tries = 3;
const question = { question: "May I?" };
const outcome = (ran: number, asked: number): string =>
  `the tool ran ${ran} times, the human was asked ${asked} times`;

export const approvalUnderRetry: Claim = {
  situation: "a tool that asks a human, under a retry of tools",
  async ours() {
    let ran = 0;
    const ask = defineTool({
      name: "ask",
      description: "asks",
      schema: z.object({}),
      run: () => {
        ran += 1;
        return interrupt("question", question);
      },
    });
    const retry = createMiddleware({
      name: "retry",
      async wrapToolCall(request, handler) {
        for (let attempt = 1; ; attempt++) {
          try {
            return await handler(request);
          } catch (error) {
            if (attempt === tries) throw error;
          }
        }
      },
    });
    const model = ownModel(callsOnce("ask"));
    const agent = createAgent({ model, tools: [ask], middleware: [retry], store: "memory:" });
    const { interrupts } = await agent.thread("t").run("go").result;
    await agent.close();
    return outcome(ran, interrupts.length);
  },
  async theirs() {
    const packages = await loadLangGraph();
    const { langchain, langgraph } = packages;
    let ran = 0;
    const ask = langchain.tool(
      () => {
        ran += 1;
        return String(langgraph.interrupt(question));
      },
      { name: "ask", description: "asks", schema: z.object({}) },
    );
    const agent = langchain.createAgent({
      model: createScriptedModel(packages, callsOnce("ask")),
      tools: [ask],
      middleware: [langchain.toolRetryMiddleware({ maxRetries: tries - 1, initialDelayMs: 1 })],
      checkpointer: new langgraph.MemorySaver(),
    });
    const config = { configurable: { thread_id: "t" } };
    const { __interrupt__ = [] } = await agent.invoke(
      { messages: [{ role: "user", content: "go" }] },
      config,
    );
    return outcome(ran, __interrupt__.length);
  },
};
