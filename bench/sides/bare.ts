import { join } from "node:path";
import { loadSqliteDriver } from "../../events/log/sqlite-driver.ts";
import { messagesOfTurn } from "../work.ts";
import type { Side, SideOptions } from "./side.ts";

/**
 * The least that anything with a log can do: one table of (thread, version, JSON), one durable commit at each append
 * boundary of a turn, and the messages pushed into a list. No model, no hashes, no schemas, no runtime.
 */
export async function openBare({ folder }: SideOptions): Promise<Side> {
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
      const runId = `${threadId}-${turn}`;
      const [human, calling, result, answer] = messagesOfTurn(turn, runId);
      append(threadId, [{ message: human }]);
      append(threadId, [{}]);
      append(threadId, [{ message: calling }, {}]);
      append(threadId, [{ message: result }, {}]);
      append(threadId, [{ message: answer }, {}]);
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
