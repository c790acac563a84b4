import { join } from "node:path";
import { z } from "zod";
import { createModel, questionOf, toolResult } from "../work.ts";
import { type Checkpointer, type Config, type GraphSnapshot, loadLangGraph } from "./langgraph-packages.ts";
import { type Side, type SideOptions, timeOf } from "./side.ts";

export interface LangGraphOptions extends SideOptions {
  readonly durability: "async" | "exit";
  /** Left out: SQLite in the folder. */
  readonly postgresUrl?: string | undefined;
}

/** LangChain's `createAgent` with the SQLite or PostgreSQL saver, as its documentation sets it up. */
export async function openLangGraph(options: LangGraphOptions): Promise<Side> {
  const { folder, latencyMs, durability, postgresUrl } = options;
  const packages = await loadLangGraph();
  const { langchain, sqlite, postgres } = packages;
  const checkpointer: Checkpointer = postgresUrl
    ? postgres.PostgresSaver.fromConnString(postgresUrl)
    : sqlite.SqliteSaver.fromConnString(join(folder, "checkpoints.db"));
  await checkpointer.setup?.();
  const schema = z.object({ query: z.string() });
  const lookup = langchain.tool(() => toolResult, {
    name: "lookup",
    description: "Looks something up",
    schema,
  });
  const agent = langchain.createAgent({
    model: createModel(packages, latencyMs),
    tools: [lookup],
    checkpointer,
  });
  const config = (threadId: string): Config => ({ configurable: { thread_id: threadId }, durability });
  return {
    async turn(threadId, turn) {
      await agent.invoke({ messages: [{ role: "user", content: questionOf(turn) }] }, config(threadId));
    },
    async stateNow(threadId) {
      const { values } = await agent.getState(config(threadId));
      return values.messages?.length ?? 0;
    },
    async timesOfStates(threadId, shares) {
      // Their savers find a past state by its id, and only the history tells ids: to list them is not timed.
      const ids = await checkpointIds(checkpointer, config(threadId));
      const times: number[] = [];
      for (const share of shares) {
        const checkpoint_id = ids[Math.min(ids.length - 1, Math.floor(ids.length * share))] ?? "";
        const at: Config = { configurable: { thread_id: threadId, checkpoint_id } };
        times.push(await timeOf(() => agent.getState(at)));
      }
      return times;
    },
    async tenRows(threadId) {
      const rows: GraphSnapshot[] = [];
      for await (const row of agent.getStateHistory(config(threadId), { limit: 10 })) rows.push(row);
      return rows.length;
    },
    async close() {
      checkpointer.db?.pragma("wal_checkpoint(TRUNCATE)");
      checkpointer.db?.close();
      await checkpointer.end?.();
    },
  };
}

/** Oldest first. Read from the table where that can be done, which costs nothing of the states. */
async function checkpointIds(checkpointer: Checkpointer, config: Config): Promise<readonly string[]> {
  const { db } = checkpointer as { db?: { prepare(sql: string): { all(id: string): { id: string }[] } } };
  if (!db) return [];
  const sql =
    "SELECT checkpoint_id AS id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY checkpoint_id";
  return db
    .prepare(sql)
    .all(config.configurable.thread_id)
    .map(({ id }) => id);
}
