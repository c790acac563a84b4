import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { humanApprovalMiddleware } from "../../actors/middleware/human-approval.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import type { Json } from "../../events/json.ts";
import { loadLangGraph } from "../sides/langgraph-packages.ts";
import { createScriptedModel } from "../work.ts";
import { type Claim, callsOnce, contentsOf, ownModel } from "./claim.ts";

const names = ["pay", "mail"] as const;
const interruptOn = { pay: true, mail: true };
const decisions: Json[] = [{ type: "approve" }, { type: "reject", message: "no mail" }];
const outcome = (ran: readonly string[], messages: unknown): string =>
  `ran: ${ran.join(", ") || "nothing"}; results: ${contentsOf(messages, "tool").join(" | ") || "none"}`;

export const approveAndReject: Claim = {
  situation: "two calls wait for approval: the first is approved, the second rejected",
  async ours() {
    const ran: string[] = [];
    const tools = names.map((name) =>
      defineTool({
        name,
        description: name,
        schema: z.object({}),
        run: () => {
          ran.push(name);
          return `${name} done`;
        },
      }),
    );
    const middleware = [humanApprovalMiddleware({ interruptOn })];
    const agent = createAgent({ model: ownModel(callsOnce(...names)), tools, middleware, store: "memory:" });
    const thread = agent.thread("t");
    await thread.run("go").result;
    const { state } = await thread.resume({ all: { decisions } }).result;
    await agent.close();
    return outcome(ran, state.messages);
  },
  async theirs() {
    const packages = await loadLangGraph();
    const { langchain, langgraph } = packages;
    const ran: string[] = [];
    const tools = names.map((name) =>
      langchain.tool(
        () => {
          ran.push(name);
          return `${name} done`;
        },
        { name, description: name, schema: z.object({}) },
      ),
    );
    const agent = langchain.createAgent({
      model: createScriptedModel(packages, callsOnce(...names)),
      tools,
      middleware: [langchain.humanInTheLoopMiddleware({ interruptOn })],
      checkpointer: new langgraph.MemorySaver(),
    });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke({ messages: [{ role: "user", content: "go" }] }, config);
    const { messages } = await agent.invoke(new langgraph.Command({ resume: { decisions } }), config);
    return outcome(ran, messages);
  },
};
