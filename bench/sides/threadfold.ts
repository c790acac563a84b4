import { join } from "node:path";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { openStore } from "../../events/open-store.ts";
import { createStateReader } from "../../projections/state-at.ts";
import { createModel, type LangChainCore, questionOf, toolResult } from "../work.ts";
import { type Side, type SideOptions, timeOf } from "./side.ts";

/** Threadfold with everything on: hash chain, schema validation, fold before append; `synchronous` as named. */
export async function openThreadfold(
  { folder, latencyMs }: SideOptions,
  synchronous: "full" | "normal",
): Promise<Side> {
  const store = await openStore(`sqlite:${join(folder, "threads.db")}`, { synchronous });
  const lookup = defineTool({
    name: "lookup",
    description: "Looks something up",
    schema: z.object({ query: z.string() }),
    run: () => toolResult,
  });
  const core = { BaseChatModel, AIMessage } as unknown as LangChainCore;
  const model = createModel(core, latencyMs) as unknown as BaseChatModel;
  const agent = createAgent({ model, tools: [lookup], store });
  /** A reader that remembers nothing yet, as after a restart. */
  const freshReader = () => createStateReader({ ...store, reducer: agent.reducer, registry: agent.registry });
  return {
    async turn(threadId, turn) {
      const { status, error } = await agent.thread(threadId).run(questionOf(turn)).result;
      if (status !== "completed") throw new Error(`The run ${status}: ${error?.message}`);
    },
    async stateNow(threadId) {
      const { messages } = await agent.thread(threadId).state();
      return (messages as unknown[]).length;
    },
    async timesOfStates(threadId, shares) {
      const { version } = await agent.thread(threadId).info();
      const times: number[] = [];
      for (const share of shares) {
        const reader = freshReader();
        times.push(await timeOf(() => reader.stateAt(threadId, Math.max(1, Math.round(version * share)))));
      }
      return times;
    },
    async tenRows(threadId) {
      const reader = freshReader();
      const rows = await reader.history(threadId, { limit: 10 });
      for (const row of rows) await row.values();
      return rows.length;
    },
    async close() {
      await agent.close();
      await store.close();
    },
  };
}
