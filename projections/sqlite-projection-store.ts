import { chmod, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { Json } from "../events/json.ts";
import {
  loadSqliteDriver,
  type SqliteDatabase,
  type SqliteStatement,
  type SqlRow,
} from "../events/log/sqlite-driver.ts";
import { translateSqliteError } from "../events/log/sqlite-errors.ts";
import {
  type NewTable,
  ProjectionConflict,
  type ProjectionStore,
  ProjectionTableMissingError,
  type StoredRow,
  type TableInfo,
  type TableState,
} from "./projection-store.ts";
import { conditionsOf, createRowTable, prepareProjectionFile, rowTable } from "./sqlite-projection-schema.ts";
import { tableColumns, tableInfo } from "./table-info.ts";

/** Another process reads the file, so old copies of its pages could not be taken away. */
export class PurgeIncompleteError extends Error {
  override readonly name = "PurgeIncompleteError";
  constructor(readonly path: string) {
    super(
      `${path} is being read by another process, so deleted rows may still be in its write-ahead log. Close the readers and purge again.`,
    );
  }
}

interface KnownTable {
  readonly id: number;
  readonly info: TableInfo;
}

const tableOf = (row: SqlRow): KnownTable => ({ id: Number(row[0]), info: tableInfo(row) });

const rowOf = (row: SqlRow): StoredRow => ({
  key: String(row[0]),
  value: JSON.parse(String(row[1])) as Json,
  order: String(row[2]),
  search: String(row[3]),
});

/**
 * Projection rows in a SQLite file of their own. The file can be deleted: it is built again from the log.
 *
 * @throws {LogFormatError} @throws {LogUnavailableError}
 * @example
 * const store = await openSqliteProjectionStore(".threadfold/threads.projections.db");
 */
export async function openSqliteProjectionStore(path: string): Promise<ProjectionStore> {
  const driver = await loadSqliteDriver();
  let database: SqliteDatabase;
  try {
    await mkdir(dirname(path), { recursive: true });
    database = driver.open(path);
    // Rows hold content in plain text; the files beside it take over its mode.
    await chmod(path, 0o600);
    prepareProjectionFile(database, path);
  } catch (error) {
    throw translateSqliteError(error, path);
  }
  return createStore(database, path);
}

/** A full disk ends a transaction by itself: what is told is why. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // There is none any more.
  }
}

function createStore(database: SqliteDatabase, path: string): ProjectionStore {
  const statements = new Map<string, SqliteStatement>();
  const prepare = (sql: string): SqliteStatement => {
    let statement = statements.get(sql);
    if (!statement) {
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };

  const transaction = <Result>(mode: "DEFERRED" | "IMMEDIATE", work: () => Result): Result => {
    try {
      database.exec(`BEGIN ${mode}`);
      try {
        const result = work();
        database.exec("COMMIT");
        return result;
      } catch (error) {
        rollBack(database);
        throw error;
      }
    } catch (error) {
      throw translateSqliteError(error, path);
    }
  };

  const known = (table: string): KnownTable | undefined => {
    const at = table.lastIndexOf("@");
    const row =
      at < 0
        ? prepare(`SELECT ${tableColumns} FROM tables WHERE name = ? AND state = 'live'`).get(table)
        : prepare(`SELECT ${tableColumns} FROM tables WHERE name = ? AND build = ?`).get(
            table.slice(0, at),
            Number(table.slice(table.lastIndexOf("/") + 1)),
          );
    return row && tableOf(row);
  };
  const find = (table: string): KnownTable => {
    const found = known(table);
    if (!found) throw new ProjectionTableMissingError(table);
    return found;
  };

  const putRows = (id: number, rows: readonly StoredRow[]) => {
    const put = prepare(`INSERT INTO ${rowTable(id)} (key, value, ord, search) VALUES (?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value, ord = excluded.ord, search = excluded.search`);
    for (const { key, value, order, search } of rows) put.run(key, JSON.stringify(value), order, search);
  };

  const make = ({ name, version, from, rows }: NewTable, state: TableState): TableInfo => {
    const last = prepare("SELECT max(build) FROM tables WHERE name = ?").get(name)?.[0];
    const row = prepare(
      `INSERT INTO tables (name, version, build, state, checkpoint, begins_after) VALUES (?, ?, ?, ?, ?, ?) RETURNING ${tableColumns}`,
    ).get(name, version, Number(last ?? 0) + 1, state, from ?? null, from ?? null);
    if (!row) throw new ProjectionTableMissingError(name);
    const made = tableOf(row);
    createRowTable(database, made.id);
    putRows(made.id, rows);
    return made.info;
  };

  const setState = (id: number, state: TableState) =>
    prepare("UPDATE tables SET state = ? WHERE id = ?").run(state, id);

  return {
    kind: "sqlite",
    async tables(name) {
      const rows =
        name === undefined
          ? prepare(`SELECT ${tableColumns} FROM tables ORDER BY name, build`).all()
          : prepare(`SELECT ${tableColumns} FROM tables WHERE name = ? ORDER BY build`).all(name);
      return rows.map((row) => tableOf(row).info);
    },
    live: async (name) => known(name)?.info,
    build: async (table) => transaction("IMMEDIATE", () => make(table, table.state ?? "building")),
    open: async (table) => transaction("IMMEDIATE", () => known(table.name)?.info ?? make(table, "live")),
    async get(table, keys) {
      return transaction("DEFERRED", () => {
        const select = prepare(`SELECT value FROM ${rowTable(find(table).id)} WHERE key = ?`);
        const found = new Map<string, Json>();
        for (const key of keys) {
          const value = select.get(key)?.[0];
          if (value !== undefined) found.set(key, JSON.parse(String(value)) as Json);
        }
        return found;
      });
    },
    async list(table, query = {}) {
      return transaction("DEFERRED", () => {
        const { sql, values } = conditionsOf(query);
        const from = `SELECT r.key, r.value, r.ord, r.search FROM ${rowTable(find(table).id)} AS r`;
        const rows = prepare(`${from} ${sql} ORDER BY r.ord DESC, r.key DESC LIMIT ?`).all(
          ...values,
          query.limit ?? -1,
        );
        return rows.map(rowOf);
      });
    },
    async count(table, query = {}) {
      return transaction("DEFERRED", () => {
        const { sql, values } = conditionsOf(query);
        const row = prepare(`SELECT count(*) FROM ${rowTable(find(table).id)} AS r ${sql}`).get(...values);
        return Number(row?.[0] ?? 0);
      });
    },
    async commit(table, change) {
      return transaction("IMMEDIATE", () => {
        const found = known(table);
        const row =
          found &&
          prepare(
            `UPDATE tables SET checkpoint = ?, events = events + ?, revision = revision + 1
             WHERE id = ? AND revision = ? AND state <> 'retired' RETURNING revision`,
          ).get(change.checkpoint ?? null, change.events, found.id, change.expectedRevision);
        if (!found || !row) throw new ProjectionConflict(table);
        putRows(found.id, change.put);
        const remove = prepare(`DELETE FROM ${rowTable(found.id)} WHERE key = ?`);
        for (const key of change.delete) remove.run(key);
        const skip = prepare("INSERT INTO skipped (table_id, record) VALUES (?, ?)");
        for (const record of change.skipped) skip.run(found.id, JSON.stringify(record));
        return Number(row[0]);
      });
    },
    async skipped(table) {
      return transaction("DEFERRED", () =>
        prepare("SELECT record FROM skipped WHERE table_id = ? ORDER BY id")
          .all(find(table).id)
          .map((row) => JSON.parse(String(row[0]))),
      );
    },
    async switchTo(table, revision) {
      return transaction("IMMEDIATE", () => {
        const next = known(table);
        if (next?.info.state !== "building" || next.info.revision !== revision)
          throw new ProjectionConflict(table);
        const before = known(next.info.name);
        const ahead = (before?.info.checkpoint ?? "") > (next.info.checkpoint ?? "");
        if (before && before.info.version === next.info.version && ahead) return false;
        if (before) setState(before.id, "retired");
        setState(next.id, "live");
        return true;
      });
    },
    async compare(leftName, rightName, limit) {
      return transaction("DEFERRED", () => {
        const left = find(leftName);
        const right = find(rightName);
        const differing = `FROM (SELECT key FROM ${rowTable(left.id)} UNION SELECT key FROM ${rowTable(right.id)}) AS keys
          LEFT JOIN ${rowTable(left.id)} AS a ON a.key = keys.key
          LEFT JOIN ${rowTable(right.id)} AS b ON b.key = keys.key
          WHERE a.value IS NOT b.value OR a.ord IS NOT b.ord OR a.search IS NOT b.search`;
        const parse = (value: unknown) => (value === null ? undefined : (JSON.parse(String(value)) as Json));
        const rows = database
          .prepare(`SELECT keys.key, a.value, b.value ${differing} ORDER BY keys.key LIMIT ?`)
          .all(limit);
        return {
          left: left.info,
          right: right.info,
          differing: Number(database.prepare(`SELECT count(*) ${differing}`).get()?.[0] ?? 0),
          differences: rows.map(([key, a, b]) => ({ key: String(key), left: parse(a), right: parse(b) })),
        };
      });
    },
    async drop(table) {
      transaction("IMMEDIATE", () => {
        const found = known(table);
        if (!found) return;
        statements.clear();
        database.exec(`DROP TABLE ${rowTable(found.id)}`);
        prepare("DELETE FROM skipped WHERE table_id = ?").run(found.id);
        prepare("DELETE FROM tables WHERE id = ?").run(found.id);
      });
    },
    async purge() {
      try {
        statements.clear();
        database.exec("VACUUM");
        const checkpoint = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
        if (checkpoint?.[0] !== 0) throw new PurgeIncompleteError(path);
      } catch (error) {
        throw translateSqliteError(error, path);
      }
    },
    async close() {
      statements.clear();
      database.close();
    },
  };
}
