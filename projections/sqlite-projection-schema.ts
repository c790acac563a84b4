import { LogFormatError } from "../events/log/event-log.ts";
import type { SqliteDatabase, SqlValue } from "../events/log/sqlite-driver.ts";
import { foldCase, type RowMatch, type RowQuery } from "./projection-store.ts";

/** "TFPR", in the header of the file. */
const applicationId = 0x54465052;
/** Version of the tables below. */
const schemaVersion = 1;

const metaTables = `
  CREATE TABLE tables (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    build INTEGER NOT NULL,
    state TEXT NOT NULL,
    checkpoint TEXT,
    begins_after TEXT,
    events INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0,
    UNIQUE (name, build)
  );
  CREATE UNIQUE INDEX one_live_table ON tables (name) WHERE state = 'live';
  CREATE TABLE skipped (
    id INTEGER PRIMARY KEY,
    table_id INTEGER NOT NULL,
    record TEXT NOT NULL
  );
`;

function numberOf(database: SqliteDatabase, sql: string): number {
  return Number(database.prepare(sql).get()?.[0]);
}

/**
 * Makes the tables of a new file and checks those of an old one.
 * @throws {LogFormatError} a foreign database, or a file of a newer version
 */
export function prepareProjectionFile(database: SqliteDatabase, path: string): void {
  // Deleted rows are overwritten, so that erased content does not stay in free pages.
  database.exec(
    "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON",
  );
  database.exec("BEGIN IMMEDIATE");
  try {
    const application = numberOf(database, "PRAGMA application_id");
    const version = numberOf(database, "PRAGMA user_version");
    const objects = numberOf(database, "SELECT count(*) FROM sqlite_schema");
    if (application === 0 && version === 0 && objects === 0) {
      database.exec(metaTables);
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}`);
    } else if (application !== applicationId || version > schemaVersion) {
      throw new LogFormatError(
        `${path} does not hold projections of this version of threadfold. It can be built again from the log: move the file away and start again.`,
      );
    }
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

export function rowTable(id: number): string {
  return `rows_${id}`;
}

export function createRowTable(database: SqliteDatabase, id: number): void {
  const name = rowTable(id);
  database.exec(`
    CREATE TABLE ${name} (key TEXT PRIMARY KEY, value TEXT NOT NULL, ord TEXT NOT NULL, search TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX ${name}_by_order ON ${name} (ord, key);
  `);
}

interface Condition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A condition on one member. Its key is a value, not part of a path: SQLite's paths cannot quote every key. */
function matchCondition({ path, equals }: RowMatch): Condition {
  const parents = path.slice(0, -1);
  const key = path.at(-1) ?? "";
  const parent = `$${parents.map((name) => `."${name}"`).join("")}`;
  const member = "SELECT 1 FROM json_each(r.value, ?) AS member WHERE member.key = ? AND";
  if (equals === null) return { sql: `NOT EXISTS (${member} member.type <> 'null')`, values: [parent, key] };
  if (typeof equals === "boolean") {
    return { sql: `EXISTS (${member} member.type = ?)`, values: [parent, key, String(equals)] };
  }
  return {
    sql: `EXISTS (${member} member.type IN ('text', 'integer', 'real') AND member.atom = ?)`,
    values: [parent, key, equals],
  };
}

/** The WHERE clause of a query over rows `r`. */
export function conditionsOf(query: RowQuery): Condition {
  const { prefix, search, match = [], after } = query;
  const conditions: Condition[] = match.map(matchCondition);
  if (prefix)
    conditions.push({
      sql: "r.key >= ? AND substr(r.key, 1, length(?)) = ?",
      values: [prefix, prefix, prefix],
    });
  if (search) conditions.push({ sql: "instr(r.search, ?) > 0", values: [foldCase(search)] });
  if (after) conditions.push({ sql: "(r.ord, r.key) < (?, ?)", values: [after.order, after.key] });
  return {
    sql: conditions.length === 0 ? "" : `WHERE ${conditions.map(({ sql }) => sql).join(" AND ")}`,
    values: conditions.flatMap(({ values }) => values),
  };
}
