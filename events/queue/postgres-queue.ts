import type { Json } from "../json.ts";
import type { PostgresRow, PostgresSession } from "../log/postgres-session.ts";
import { storableJson } from "../storable-json.ts";
import { checkQueuedRun, type QueueEntry, type RunQueue } from "./run-queue.ts";

/** Times are the server's: the clocks of the workers need not agree. */
const columns = `q.run, q.thread, q.agent, q.request, q.after_version, q.queued_at, q.attempts, q.owner,
  CASE WHEN q.reason IS NOT NULL THEN 'parked' WHEN q.until > clock_timestamp() THEN 'claimed' ELSE 'waiting' END,
  q.reason`;

function entryOf(row: PostgresRow): QueueEntry {
  const [runId, threadId, agent, request, afterVersion, queuedAt, attempts, owner, state, reason] = row;
  return {
    runId: String(runId),
    threadId: String(threadId),
    agent: String(agent),
    request: JSON.parse(String(request)) as Json,
    afterVersion: Number(afterVersion),
    queuedAt: String(queuedAt),
    attempts: Number(attempts),
    state: state as QueueEntry["state"],
    owner: state === "claimed" ? String(owner) : undefined,
    reason: reason ?? undefined,
  };
}

/**
 * Queued runs in a table beside the events. Workers that look for runs at the same time pass over the rows that another
 * one is taking (`SKIP LOCKED`), so none waits for another.
 */
export function createPostgresQueue(session: PostgresSession, schema: string): RunQueue {
  const table = `${schema}.queue`;
  const until = (parameter: string) => `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`;
  // What workers say of their claims waits for no sync: a claim that is lost is given again, and the log knows the run.
  const relaxed = `WITH relaxed AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))`;

  return {
    async add(run) {
      checkQueuedRun(run);
      const { runId, threadId, agent, afterVersion, queuedAt } = run;
      const request = JSON.stringify(storableJson(run.request));
      await session.query(
        "repeatable",
        `INSERT INTO ${table} (run, thread, agent, request, after_version, queued_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (run) DO NOTHING`,
        [runId, threadId, agent, request, afterVersion, queuedAt],
      );
    },
    async claim({ owner, agent, leaseMs, limit }) {
      if (limit <= 0) return [];
      const rows = await session.query(
        "once",
        `${relaxed}, found AS MATERIALIZED (
           SELECT c.place FROM relaxed, ${table} c
           WHERE c.reason IS NULL AND c.agent = $2 AND c.until <= clock_timestamp() AND NOT EXISTS (
             SELECT FROM ${table} e WHERE e.thread = c.thread AND e.place < c.place AND e.reason IS NULL)
           ORDER BY c.place LIMIT $4 FOR UPDATE OF c SKIP LOCKED)
         UPDATE ${table} q SET owner = $1, until = ${until("$3")}, attempts = q.attempts + 1
         FROM found WHERE q.place = found.place RETURNING ${columns}, q.place`,
        [owner, agent, leaseMs, limit],
      );
      return [...rows]
        .sort((a, b) => Number(a.at(-1)) - Number(b.at(-1)))
        .map(entryOf)
        .map((entry) => ({ ...entry, attempt: entry.attempts }));
    },
    async renew(owner, runIds, leaseMs) {
      if (runIds.length === 0) return [];
      const rows = await session.query(
        "repeatable",
        `${relaxed} UPDATE ${table} q SET until = ${until("$3")} FROM relaxed
         WHERE q.run = ANY($2) AND q.owner = $1 AND q.reason IS NULL RETURNING q.run`,
        [owner, runIds, leaseMs],
      );
      const held = new Set(rows.map(([runId]) => runId));
      return runIds.filter((runId) => held.has(runId));
    },
    async finish(owner, runId) {
      const text = `${relaxed} DELETE FROM ${table} q USING relaxed WHERE q.run = $2 AND q.owner = $1`;
      await session.query("repeatable", text, [owner, runId]);
    },
    async release(owner, runId) {
      await session.query(
        "repeatable",
        `UPDATE ${table} SET owner = NULL, until = '-infinity', attempts = greatest(0, attempts - 1)
         WHERE run = $2 AND owner = $1`,
        [owner, runId],
      );
    },
    async park(owner, runId, reason) {
      await session.query(
        "repeatable",
        `UPDATE ${table} SET owner = NULL, until = '-infinity', reason = $3 WHERE run = $2 AND owner = $1`,
        [owner, runId, reason.replaceAll("\u0000", "\ufffd")],
      );
    },
    async list(limit) {
      const text = `SELECT ${columns} FROM ${table} q ORDER BY q.place LIMIT $1`;
      return (await session.query("read", text, [limit])).map(entryOf);
    },
    async retry(runId) {
      const text = `UPDATE ${table} SET reason = NULL, attempts = 0 WHERE run = $1 AND reason IS NOT NULL RETURNING 1`;
      return (await session.query("repeatable", text, [runId])).length > 0;
    },
    async withdraw(runId) {
      const text = `DELETE FROM ${table} WHERE run = $1 AND until <= clock_timestamp() RETURNING 1`;
      return (await session.query("repeatable", text, [runId])).length > 0;
    },
  };
}
