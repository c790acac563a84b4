import { createAgent } from "../../actors/create-agent.ts";
import { loadLangGraph } from "../sides/langgraph-packages.ts";
import { createScriptedModel } from "../work.ts";
import { type Answer, type Claim, contentsOf, ownModel } from "./claim.ts";

const echo: Answer = (messages) => ({ content: `echo ${messages.at(-1)?.text}` });
const wanted = "one, ALT, three";
const outcome = (messages: unknown): string => {
  const inputs = contentsOf(messages, "human").join(", ");
  return `the forked branch has ${inputs}${inputs === wanted ? "" : ` instead of ${wanted}`}`;
};

export const forkAndContinue: Claim = {
  situation: "fork after the first of two inputs, then two inputs on the branch (theirs on PostgreSQL)",
  async ours() {
    const agent = createAgent({ model: ownModel(echo), store: "memory:" });
    const thread = agent.thread("t");
    const { version } = await thread.run("one").result;
    await thread.run("two").result;
    const fork = await thread.fork({ at: version });
    await fork.run("ALT").result;
    await fork.run("three").result;
    const { messages } = await fork.state();
    await agent.close();
    return outcome(messages);
  },
  async theirs() {
    const url = process.env.BENCH_POSTGRES_URL;
    if (!url) return "not run: BENCH_POSTGRES_URL names no PostgreSQL";
    const packages = await loadLangGraph();
    const checkpointer = packages.postgres.PostgresSaver.fromConnString(url);
    await checkpointer.setup?.();
    const model = createScriptedModel(packages, echo);
    const agent = packages.langchain.createAgent({ model, tools: [], checkpointer });
    const config = { configurable: { thread_id: crypto.randomUUID() } };
    const input = (content: string) => ({ messages: [{ role: "user", content }] });
    await agent.invoke(input("one"), config);
    const { config: first } = await agent.getState(config);
    await agent.invoke(input("two"), config);
    await agent.invoke(input("ALT"), first);
    await agent.invoke(input("three"), config);
    const { values } = await agent.getState(config);
    await checkpointer.end?.();
    return outcome(values.messages);
  },
};
