import type { Json } from "../events/json.ts";
import type { PostgresDatabase } from "../events/log/postgres.ts";
import type { PostgresQuery, PostgresRow } from "../events/log/postgres-session.ts";
import { conditionsOf, fromColumn, toColumn } from "./postgres-projection-queries.ts";
import {
  type NewTable,
  ProjectionConflict,
  type ProjectionStore,
  ProjectionTableMissingError,
  type SkippedEvent,
  type StoredRow,
  type TableInfo,
  type TableState,
} from "./projection-store.ts";
import { tableColumns, tableInfo } from "./table-info.ts";

interface KnownTable {
  readonly id: string;
  readonly info: TableInfo;
}

const tableOf = (row: PostgresRow): KnownTable => ({ id: String(row[0]), info: tableInfo(row) });

const rowOf = ([key, value, order, search]: PostgresRow): StoredRow => ({
  key: fromColumn(String(key)),
  value: JSON.parse(String(value)) as Json,
  order: fromColumn(String(order)),
  search: fromColumn(String(search)),
});

/** A table was dropped after it was looked up: its projection has another one by now. */
function isDropped(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return cause?.code === "42P01";
}

/** Both see one state of the tables, however long they look. */
const snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/** Rows of one statement at most: its parameters are held in memory on both sides. */
const rowsPerStatement = 5000;

/**
 * Projection rows in the schema that holds the log, shared by all machines: one of them feeds a projection, all read it.
 * The rows of each table are in a table of their own, so that a replaced one is dropped at once.
 */
export function createPostgresProjectionStore({ session, schema }: PostgresDatabase): ProjectionStore {
  const tables = `${schema}.projection_tables`;
  const skippedTable = `${schema}.projection_skipped`;
  const rowTable = (id: string) => `${schema}.projection_rows_${id}`;
  const write = "BEGIN";
  // What is lost is applied again from the log, rows and checkpoint alike, so it waits for no sync.
  const writeRows = "BEGIN; SET LOCAL synchronous_commit = off";

  const known = async (query: PostgresQuery, table: string): Promise<KnownTable | undefined> => {
    const at = table.lastIndexOf("@");
    const [row] =
      at < 0
        ? await query(`SELECT ${tableColumns} FROM ${tables} WHERE name = $1 AND state = 'live'`, [table])
        : await query(`SELECT ${tableColumns} FROM ${tables} WHERE name = $1 AND build = $2`, [
            table.slice(0, at),
            Number(table.slice(table.lastIndexOf("/") + 1)),
          ]);
    return row && tableOf(row);
  };
  const find = async (query: PostgresQuery, table: string): Promise<KnownTable> => {
    const found = await known(query, table);
    if (!found) throw new ProjectionTableMissingError(table);
    return found;
  };
  /** Whoever makes, switches or drops tables does so alone. */
  const alone = (query: PostgresQuery) =>
    query("SELECT pg_advisory_xact_lock($1::regclass::oid::bigint)", [tables]);

  /** Finds a table and reads its rows, both as of one moment. */
  const reading = async <Result>(
    table: string,
    work: (query: PostgresQuery, found: KnownTable) => Promise<Result>,
  ): Promise<Result> => {
    for (;;) {
      try {
        return await session.transaction(snapshot, async (query) => work(query, await find(query, table)));
      } catch (error) {
        if (!isDropped(error)) throw error;
      }
    }
  };

  const putRows = async (query: PostgresQuery, id: string, rows: readonly StoredRow[]) => {
    for (let start = 0; start < rows.length; start += rowsPerStatement) {
      const some = rows.slice(start, start + rowsPerStatement);
      await query(
        `INSERT INTO ${rowTable(id)} (key, value, ord, search)
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, ord = excluded.ord, search = excluded.search`,
        [
          some.map(({ key }) => toColumn(key)),
          some.map(({ value }) => JSON.stringify(value)),
          some.map(({ order }) => toColumn(order)),
          some.map(({ search }) => toColumn(search)),
        ],
      );
    }
  };

  const make = async (
    query: PostgresQuery,
    { name, version, from, rows }: NewTable,
    state: TableState,
  ): Promise<TableInfo> => {
    const [row] = await query(
      `INSERT INTO ${tables} (name, version, build, state, checkpoint, begins_after)
       SELECT $1, $2, coalesce(max(build), 0) + 1, $3, $4, $4 FROM ${tables} WHERE name = $1 RETURNING ${tableColumns}`,
      [name, version, state, from ?? null],
    );
    if (!row) throw new ProjectionTableMissingError(name);
    const { id, info } = tableOf(row);
    const rowsName = rowTable(id);
    await query(
      `CREATE TABLE ${rowsName} (
         key text COLLATE "C" PRIMARY KEY, value text NOT NULL, ord text COLLATE "C" NOT NULL, search text NOT NULL)`,
    );
    await query(`CREATE INDEX ON ${rowsName} (ord, key)`);
    await putRows(query, id, rows);
    return info;
  };

  const setState = (query: PostgresQuery, id: string, state: TableState) =>
    query(`UPDATE ${tables} SET state = $2 WHERE id = $1`, [id, state]);

  return {
    kind: "postgres",
    async tables(name) {
      const text = `SELECT ${tableColumns} FROM ${tables} WHERE $1::text IS NULL OR name = $1 ORDER BY name, build`;
      return (await session.query("read", text, [name ?? null])).map((row) => tableOf(row).info);
    },
    async live(name) {
      const found = await known((text, values) => session.query("read", text, values), name);
      return found?.info;
    },
    build: (table) =>
      session.transaction(write, async (query) => {
        await alone(query);
        return make(query, table, table.state ?? "building");
      }),
    open: (table) =>
      session.transaction(write, async (query) => {
        await alone(query);
        return (await known(query, table.name))?.info ?? (await make(query, table, "live"));
      }),
    get: (table, keys) =>
      reading(table, async (query, { id }) => {
        const rows = await query(`SELECT key, value FROM ${rowTable(id)} WHERE key = ANY($1)`, [
          keys.map(toColumn),
        ]);
        const byKey = new Map(
          rows.map(([key, value]) => [fromColumn(String(key)), JSON.parse(String(value)) as Json]),
        );
        const found = new Map<string, Json>();
        for (const key of keys) {
          const value = byKey.get(key);
          if (value !== undefined) found.set(key, value);
        }
        return found;
      }),
    list: (table, query = {}) =>
      reading(table, async (ask, { id }) => {
        const { sql, values } = conditionsOf(query, 1);
        const text = `SELECT r.key, r.value, r.ord, r.search FROM ${rowTable(id)} AS r ${sql}
          ORDER BY r.ord DESC, r.key DESC LIMIT $1`;
        return (await ask(text, [query.limit ?? null, ...values])).map(rowOf);
      }),
    count: (table, query = {}) =>
      reading(table, async (ask, { id }) => {
        const { sql, values } = conditionsOf(query);
        const [row] = await ask(`SELECT count(*) FROM ${rowTable(id)} AS r ${sql}`, values);
        return Number(row?.[0] ?? 0);
      }),
    commit: (table, change) =>
      session.transaction(writeRows, async (query) => {
        const found = await known(query, table);
        const [row] = found
          ? await query(
              `UPDATE ${tables} SET checkpoint = $2, events = events + $3, revision = revision + 1
               WHERE id = $1 AND revision = $4 AND state <> 'retired' RETURNING revision`,
              [found.id, change.checkpoint ?? null, change.events, change.expectedRevision],
            )
          : [];
        if (!found || !row) throw new ProjectionConflict(table);
        await putRows(query, found.id, change.put);
        if (change.delete.length > 0) {
          await query(`DELETE FROM ${rowTable(found.id)} WHERE key = ANY($1)`, [change.delete.map(toColumn)]);
        }
        for (const record of change.skipped) {
          await query(`INSERT INTO ${skippedTable} (table_id, record) VALUES ($1, $2)`, [
            found.id,
            JSON.stringify(record),
          ]);
        }
        return Number(row[0]);
      }),
    skipped: (table) =>
      reading(table, async (query, { id }) => {
        const rows = await query(`SELECT record FROM ${skippedTable} WHERE table_id = $1 ORDER BY id`, [id]);
        return rows.map(([record]) => JSON.parse(String(record)) as SkippedEvent);
      }),
    switchTo: (table, revision) =>
      session.transaction(write, async (query) => {
        await alone(query);
        const next = await known(query, table);
        if (next?.info.state !== "building") throw new ProjectionConflict(table);
        // Held against commits until the switch is done.
        const [held] = await query(`SELECT revision FROM ${tables} WHERE id = $1 FOR UPDATE`, [next.id]);
        if (Number(held?.[0]) !== revision) throw new ProjectionConflict(table);
        const live = await known(query, next.info.name);
        if (live) await query(`SELECT FROM ${tables} WHERE id = $1 FOR UPDATE`, [live.id]);
        const before = await known(query, next.info.name);
        const ahead = (before?.info.checkpoint ?? "") > (next.info.checkpoint ?? "");
        if (before && before.info.version === next.info.version && ahead) return false;
        if (before) await setState(query, before.id, "retired");
        await setState(query, next.id, "live");
        return true;
      }),
    compare: (leftName, rightName, limit) =>
      reading(leftName, async (query, left) => {
        const right = await find(query, rightName);
        const differing = `FROM ${rowTable(left.id)} a FULL JOIN ${rowTable(right.id)} b ON a.key = b.key
          WHERE (a.value, a.ord, a.search) IS DISTINCT FROM (b.value, b.ord, b.search)`;
        const parse = (value: string | null | undefined) =>
          value === null || value === undefined ? undefined : (JSON.parse(value) as Json);
        const rows = await query(
          `SELECT coalesce(a.key, b.key) AS key, a.value, b.value ${differing} ORDER BY coalesce(a.key, b.key) LIMIT $1`,
          [limit],
        );
        const [count] = await query(`SELECT count(*) ${differing}`);
        return {
          left: left.info,
          right: right.info,
          differing: Number(count?.[0] ?? 0),
          differences: rows.map(([key, a, b]) => ({
            key: fromColumn(String(key)),
            left: parse(a),
            right: parse(b),
          })),
        };
      }),
    drop: (table) =>
      session.transaction(write, async (query) => {
        await alone(query);
        const found = await known(query, table);
        if (!found) return;
        await query(`DROP TABLE ${rowTable(found.id)}`);
        await query(`DELETE FROM ${tables} WHERE id = $1`, [found.id]);
      }),
    async purge() {
      const ids = await session.query("read", `SELECT id FROM ${tables}`);
      // Written anew without the deleted rows: the old files are removed.
      for (const [id] of ids) await session.query("once", `VACUUM (FULL) ${rowTable(String(id))}`);
      await session.query("once", `VACUUM (FULL) ${skippedTable}`);
    },
    // The connections are the log's.
    async close() {},
  };
}
