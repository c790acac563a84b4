import { join } from "node:path";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { loadSqliteDriver } from "../../events/log/sqlite-driver.ts";
import { createModel, type LangChainCore, messagesOfTurn, questionOf, toolResult } from "../work.ts";
import type { Side, SideOptions } from "./side.ts";

/** Gives the messages of a turn one by one; what comes after a message happens before it is appended. */
type TurnMessages = (threadId: string, turn: number, runId: string) => AsyncIterable<unknown>;

/**
 * The least that anything with a log can do: one table of (thread, version, JSON), one durable commit at each append
 * boundary of a turn, and the messages pushed into a list. No model, no hashes, no schemas, no runtime.
 */
export function openBare(options: SideOptions): Promise<Side> {
  return openTable(options, async function* (_, turn, runId) {
    yield* messagesOfTurn(turn, runId);
  });
}

/** The same table under the same turn as the others run: the model is called through LangChain, the tool is run. */
export function openPrototype(options: SideOptions): Promise<Side> {
  const model = createModel({ BaseChatModel, AIMessage } as unknown as LangChainCore, options.latencyMs);
  const conversations = new Map<string, BaseMessage[]>();
  const answer = async (conversation: BaseMessage[], id: string) => {
    const message = (await model.invoke(conversation)) as AIMessage;
    conversation.push(message);
    const { content, tool_calls, usage_metadata } = message;
    return { id, type: "ai", content, tool_calls, usage_metadata };
  };
  return openTable(options, async function* (threadId, turn, runId) {
    const conversation = conversations.get(threadId) ?? [];
    conversations.set(threadId, conversation);
    const content = questionOf(turn);
    conversation.push(new HumanMessage({ content, id: `${runId}-1` }));
    yield { id: `${runId}-1`, type: "human", content };
    const calling = await answer(conversation, `${runId}-2`);
    yield calling;
    const [call] = calling.tool_calls ?? [];
    const result = {
      id: `${runId}-3`,
      content: toolResult,
      tool_call_id: call?.id ?? "",
      name: call?.name ?? "",
    };
    conversation.push(new ToolMessage(result));
    yield { ...result, type: "tool", status: "success" };
    yield await answer(conversation, `${runId}-4`);
  });
}

async function openTable({ folder }: SideOptions, messagesOf: TurnMessages): Promise<Side> {
  const { open } = await loadSqliteDriver();
  const database = open(join(folder, "bare.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec(
    "CREATE TABLE events (thread TEXT, version INTEGER, data TEXT, PRIMARY KEY (thread, version)) WITHOUT ROWID",
  );
  const insert = database.prepare("INSERT INTO events VALUES (?, ?, ?)");
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const select = database.prepare("SELECT data FROM events WHERE thread = ? ORDER BY version");
  const versions = new Map<string, number>();
  const states = new Map<string, unknown[]>();

  const append = (threadId: string, events: readonly { readonly message?: unknown }[]) => {
    let version = versions.get(threadId) ?? 0;
    const messages = states.get(threadId) ?? [];
    begin.run();
    for (const event of events) {
      version += 1;
      insert.run(threadId, version, JSON.stringify(event));
      if (event.message) messages.push(event.message);
    }
    commit.run();
    versions.set(threadId, version);
    states.set(threadId, messages);
  };
  const refold = (threadId: string): number => {
    const events = select.all(threadId).map(([data]) => JSON.parse(String(data)) as { message?: unknown });
    return events.filter(({ message }) => message).length;
  };
  return {
    async turn(threadId, turn) {
      let count = 0;
      for await (const message of messagesOf(threadId, turn, `${threadId}-${turn}`)) {
        count += 1;
        // A mark that the model or the tool is called, or that the turn has ended; the question waits for no call.
        append(threadId, count === 1 ? [{ message }] : [{ message }, {}]);
        if (count === 1) append(threadId, [{}]);
      }
    },
    stateNow: async (threadId) => states.get(threadId)?.length ?? 0,
    timesOfStates: async (threadId, shares) =>
      shares.map(() => {
        const start = performance.now();
        refold(threadId);
        return performance.now() - start;
      }),
    tenRows: async (threadId) => Math.min(10, refold(threadId)),
    async close() {
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      database.close();
    },
  };
}
