import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { z } from "zod";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";
import { type ServedPage, servePage } from "./served-page.ts";

const usage = (input: number, output: number) => ({
  usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output },
});

const search = defineTool({
  name: "search",
  description: "Searches prices of tea",
  schema: z.object({ query: z.string() }),
  async run({ query }) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    if (query === "oolong") throw new Error("The shop <b>did not</b> answer.");
    return `${query}: 12 EUR. ${"A long list of teas. ".repeat(60)}`;
  },
});

/** Changes what the model reads, and nothing in the thread: a reminder, a cut answer, a message that stays private. */
const editors = [
  createMiddleware({
    name: "reminder",
    wrapModelCall: (request, handler) =>
      handler({
        ...request,
        messages: [...request.messages, new HumanMessage({ content: "Answer in one sentence." })],
      }),
  }),
  createMiddleware({
    name: "shorter",
    wrapModelCall: (request, handler) =>
      handler({
        ...request,
        messages: request.messages.map((message) =>
          message instanceof ToolMessage && String(message.content).length > 100
            ? new ToolMessage({
                id: message.id ?? "",
                content: `${String(message.content).slice(0, 20)}…`,
                tool_call_id: message.tool_call_id,
              })
            : message,
        ),
      }),
  }),
  createMiddleware({
    name: "privacy",
    wrapModelCall: (request, handler) =>
      handler({
        ...request,
        messages: request.messages.filter(({ content }) => !String(content).startsWith("secret")),
      }),
  }),
];

/**
 * A thread of two runs whose model answers as it is written here: two searches of which one fails, then an answer; with
 * tokens, prices, and middlewares that change what the model reads.
 */
export async function serveScriptedThread(): Promise<
  ServedPage & { readonly thread: string; readonly head: number }
> {
  const call = (query: string, id: string) => ({
    name: "search",
    args: { query },
    id,
    type: "tool_call" as const,
  });
  const model = new ScriptedModel({
    name: "scripted",
    latencyMs: 15,
    answers: [
      new AIMessage({
        content: "I look both up.",
        tool_calls: [call("sencha", "c1"), call("oolong", "c2")],
        ...usage(1_200, 80),
      }),
      new AIMessage({ content: "Sencha costs 12 EUR. <script>alert(1)</script>", ...usage(1_900, 40) }),
      new AIMessage({ content: "You are welcome.", ...usage(2_000, 8) }),
    ],
  });
  const served = await servePage({
    agent: {
      model,
      preset: "none",
      systemPrompt: "You know everything about tea.",
      tools: [search],
      middleware: editors,
    },
    server: {
      prices: { currency: "EUR", models: { "*": { inputPerMillion: 2, outputPerMillion: 8 } } },
    },
  });
  const thread = served.agent.thread("tea");
  await thread.update({
    messages: [{ id: "private", type: "human", content: "secret: my budget is 20 EUR" }],
  });
  await thread.run("What do sencha and oolong cost?").result;
  const { version: head } = await thread.run("Thank you.").result;
  return { ...served, thread: "tea", head };
}
