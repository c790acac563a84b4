import type { Json } from "../json.ts";
import type { SqliteDatabase, SqliteStatement, SqlRow } from "../log/sqlite-driver.ts";
import type { Writer } from "../log/sqlite-writer.ts";
import { storableJson } from "../storable-json.ts";
import {
  type ClaimedRun,
  checkQueuedRun,
  type QueueEntry,
  type QueueState,
  type RunQueue,
} from "./run-queue.ts";

const table = `
  CREATE TABLE IF NOT EXISTS queue (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL UNIQUE,
    thread TEXT NOT NULL,
    agent TEXT NOT NULL,
    request TEXT NOT NULL,
    after_version INTEGER NOT NULL,
    queued_at TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    until REAL NOT NULL DEFAULT 0,
    reason TEXT
  );
  CREATE INDEX IF NOT EXISTS queue_by_thread ON queue (thread, place);
`;

const columns = "run, thread, agent, request, after_version, queued_at, attempts, owner, until, reason";

/** The first of its thread that is not parked, and nobody's. */
const claimable = `
  q.reason IS NULL AND q.agent = ? AND q.until <= ? AND NOT EXISTS (
    SELECT 1 FROM queue e WHERE e.thread = q.thread AND e.place < q.place AND e.reason IS NULL)`;

interface Statements {
  readonly add: SqliteStatement;
  readonly look: SqliteStatement;
  readonly find: SqliteStatement;
  readonly claim: SqliteStatement;
  readonly renew: SqliteStatement;
  readonly finish: SqliteStatement;
  readonly release: SqliteStatement;
  readonly park: SqliteStatement;
  readonly list: SqliteStatement;
  readonly retry: SqliteStatement;
  readonly withdraw: SqliteStatement;
}

function entryOf(row: SqlRow, now: number): QueueEntry {
  const [runId, threadId, agent, request, afterVersion, queuedAt, attempts, owner, until, reason] = row;
  const claimed = reason === null && Number(until) > now;
  const state: QueueState = reason !== null ? "parked" : claimed ? "claimed" : "waiting";
  return {
    runId: String(runId),
    threadId: String(threadId),
    agent: String(agent),
    request: JSON.parse(String(request)) as Json,
    afterVersion: Number(afterVersion),
    queuedAt: String(queuedAt),
    attempts: Number(attempts),
    state,
    owner: claimed ? String(owner) : undefined,
    reason: reason === null ? undefined : String(reason),
  };
}

/**
 * Queued runs in a table beside the events, made when the first run is queued. Their writes join the transaction of the
 * appends of the same macrotask.
 *
 * @param reading runs a read with the errors of the store
 */
export function createSqliteQueue(
  database: SqliteDatabase,
  writer: Writer,
  reading: <Result>(read: () => Result) => Result,
): RunQueue {
  let prepared: Statements | undefined;

  const prepare = (): Statements => {
    prepared ??= {
      add: database.prepare(
        "INSERT INTO queue (run, thread, agent, request, after_version, queued_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      ),
      look: database.prepare(`SELECT 1 FROM queue q WHERE ${claimable} LIMIT 1`),
      find: database.prepare(`SELECT run FROM queue q WHERE ${claimable} ORDER BY q.place LIMIT ?`),
      claim: database.prepare(
        `UPDATE queue SET owner = ?, until = ?, attempts = attempts + 1 WHERE run = ? RETURNING ${columns}`,
      ),
      renew: database.prepare(
        "UPDATE queue SET until = ? WHERE run = ? AND owner = ? AND reason IS NULL RETURNING 1",
      ),
      finish: database.prepare("DELETE FROM queue WHERE run = ? AND owner = ?"),
      release: database.prepare(
        "UPDATE queue SET owner = NULL, until = 0, attempts = max(0, attempts - 1) WHERE run = ? AND owner = ?",
      ),
      park: database.prepare(
        "UPDATE queue SET owner = NULL, until = 0, reason = ? WHERE run = ? AND owner = ?",
      ),
      list: database.prepare(`SELECT ${columns} FROM queue ORDER BY place LIMIT ?`),
      retry: database.prepare(
        "UPDATE queue SET reason = NULL, attempts = 0 WHERE run = ? AND reason IS NOT NULL RETURNING 1",
      ),
      withdraw: database.prepare("DELETE FROM queue WHERE run = ? AND until <= ? RETURNING 1"),
    };
    return prepared;
  };
  let isMade = false;
  const isThere = () =>
    isMade || database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'queue'").get() !== undefined;
  /** A store in which nothing was ever queued is not written to. */
  const readOr = <Result>(nothing: Result, read: (at: Statements) => Result): Result =>
    reading(() => (isThere() ? read(prepare()) : nothing));
  const write = async <Result>(run: (at: Statements) => Result, durable = true): Promise<Result> => {
    const result = await writer.submit({
      durable,
      run() {
        // Until its transaction is committed, the table may be rolled back with others.
        if (!isMade) database.exec(table);
        return run(prepare());
      },
    });
    isMade = true;
    return result;
  };

  return {
    async add(run) {
      checkQueuedRun(run);
      const { runId, threadId, agent, afterVersion, queuedAt } = run;
      const request = JSON.stringify(storableJson(run.request));
      await write(({ add }) => add.run(runId, threadId, agent, request, afterVersion, queuedAt));
    },
    async claim({ owner, agent, leaseMs, limit }) {
      // Looking takes no lock: workers that find nothing are in nobody's way.
      if (limit <= 0 || !readOr(undefined, ({ look }) => look.get(agent, Date.now()))) return [];
      // A claim that is lost is given again.
      return write(({ find, claim }) => {
        const now = Date.now();
        return find.all(agent, now, limit).flatMap(([run]): ClaimedRun[] => {
          const row = claim.get(owner, now + leaseMs, run ?? null);
          const entry = row && entryOf(row, now);
          return entry ? [{ ...entry, attempt: entry.attempts }] : [];
        });
      }, false);
    },
    async renew(owner, runIds, leaseMs) {
      if (runIds.length === 0) return [];
      return write(({ renew }) => {
        const until = Date.now() + leaseMs;
        return runIds.filter((runId) => renew.get(until, runId, owner) !== undefined);
      }, false);
    },
    async finish(owner, runId) {
      // A run that is given again after a power cut is found in the log.
      await write(({ finish }) => finish.run(runId, owner), false);
    },
    async release(owner, runId) {
      await write(({ release }) => release.run(runId, owner), false);
    },
    async park(owner, runId, reason) {
      await write(({ park }) => park.run(reason, runId, owner));
    },
    async list(limit) {
      const now = Date.now();
      return readOr<SqlRow[]>([], ({ list }) => list.all(limit)).map((row) => entryOf(row, now));
    },
    retry: (runId) => write(({ retry }) => retry.get(runId) !== undefined),
    withdraw: (runId) => write(({ withdraw }) => withdraw.get(runId, Date.now()) !== undefined),
  };
}
