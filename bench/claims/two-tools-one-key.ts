import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { todosMiddleware } from "../../actors/middleware/todos.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { loadLangGraph } from "../sides/langgraph-packages.ts";
import { createScriptedModel } from "../work.ts";
import { type Claim, callsOnce, contentsOf, errorLine, ownModel } from "./claim.ts";

const names = ["plan", "review"] as const;
const todosOf = (name: string) => [{ content: name, status: "completed" as const }];
const outcome = (messages: unknown, todos: unknown): string =>
  `${contentsOf(messages, "tool").length} of 2 results kept, todos: ${JSON.stringify(todos)}`;

export const twoToolsOneKey: Claim = {
  situation: "two parallel tools update one key of the state",
  async ours() {
    const tools = names.map((name) =>
      defineTool({
        name,
        description: name,
        schema: z.object({}),
        run: () => ({ content: name, update: { todos: todosOf(name) } }),
      }),
    );
    const agent = createAgent({
      model: ownModel(callsOnce(...names)),
      tools,
      middleware: [todosMiddleware()],
      store: "memory:",
    });
    const { status, state } = await agent.thread("t").run("go").result;
    await agent.close();
    return `${status}; ${outcome(state.messages, state.todos)}`;
  },
  async theirs() {
    const packages = await loadLangGraph();
    const { langchain, langgraph } = packages;
    const tools = names.map((name) =>
      langchain.tool(
        (_args, runtime) => {
          const { toolCallId, toolCall } = runtime as { toolCallId?: string; toolCall?: { id: string } };
          const message = new langchain.ToolMessage({
            content: name,
            tool_call_id: toolCallId ?? toolCall?.id,
          });
          return new langgraph.Command({ update: { todos: todosOf(name), messages: [message] } });
        },
        { name, description: name, schema: z.object({}) },
      ),
    );
    const agent = langchain.createAgent({
      model: createScriptedModel(packages, callsOnce(...names)),
      tools,
      stateSchema: z.object({ todos: z.array(z.any()).optional() }),
      checkpointer: new langgraph.MemorySaver(),
    });
    const config = { configurable: { thread_id: "t" } };
    const failed = await agent
      .invoke({ messages: [{ role: "user", content: "go" }] }, config)
      .then(() => "completed", errorLine);
    const { values } = await agent.getState(config);
    return `${failed}; ${outcome(values.messages, values.todos)}`;
  },
};
