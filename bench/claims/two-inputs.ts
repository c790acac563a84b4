import { createAgent } from "../../actors/create-agent.ts";
import { loadLangGraph } from "../sides/langgraph-packages.ts";
import { createScriptedModel } from "../work.ts";
import { type Answer, type Claim, contentsOf, errorLine, ownModel } from "./claim.ts";

const echo: Answer = (messages) => ({ content: `You said ${messages.at(-1)?.text}` });
const inputs = ["first", "second"] as const;

const outcome = (messages: unknown, refused: readonly string[]): string => {
  const kept = contentsOf(messages, "human");
  const lost = inputs.length - kept.length - refused.length;
  return `${kept.length} of 2 inputs kept, ${refused.length} refused (${refused[0] ?? "none"}), ${lost} lost in silence`;
};

export const twoInputs: Claim = {
  situation: "two inputs at once on one thread",
  async ours() {
    const agent = createAgent({ model: ownModel(echo), store: "memory:", whenBusy: "enqueue" });
    const thread = agent.thread("t");
    const results = await Promise.allSettled(inputs.map((input) => thread.run(input).result));
    const refused = results.flatMap((one) => (one.status === "rejected" ? [errorLine(one.reason)] : []));
    const { messages } = await thread.state();
    await agent.close();
    return outcome(messages, refused);
  },
  async theirs() {
    const packages = await loadLangGraph();
    const { langchain, langgraph } = packages;
    const model = createScriptedModel(packages, echo);
    const agent = langchain.createAgent({ model, tools: [], checkpointer: new langgraph.MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    const invoke = (content: string) => agent.invoke({ messages: [{ role: "user", content }] }, config);
    const results = await Promise.allSettled(inputs.map(invoke));
    const refused = results.flatMap((one) => (one.status === "rejected" ? [errorLine(one.reason)] : []));
    const { values } = await agent.getState(config);
    return outcome(values.messages, refused);
  },
};
