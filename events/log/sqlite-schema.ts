import { LogFormatError } from "./event-log.ts";
import type { SqliteDatabase } from "./sqlite-driver.ts";

/** "TFLD", in the header of the file. */
const applicationId = 0x54464c44;
/** Version of the tables below. */
const storeVersion = 1;

/** Words with fixed numbers, so that the partial index can name them. */
export const lineageWords = { ThreadForked: 1, ThreadRewound: 2 } as const;
export const lineageCondition = `type IN (${Object.values(lineageWords).join(",")})`;

/*
 * Compact on purpose; the shapes of the columns are in sqlite-rows.ts. There is no column for the previous hash (it is
 * the hash of the row before), no index on ids (a retry compares the ids at the versions it names), and no copy of a
 * stream's head (its last row is the head), so that an append touches as few pages as possible.
 */
const tables = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
  CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
  CREATE TABLE runs (id INTEGER PRIMARY KEY, run TEXT NOT NULL);
  CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    deleted_version INTEGER,
    deleted_hash BLOB
  );
  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL,
    version INTEGER NOT NULL,
    type INTEGER NOT NULL,
    schema INTEGER NOT NULL,
    by INTEGER NOT NULL,
    id NOT NULL,
    at NOT NULL,
    run INTEGER,
    step INTEGER,
    cause,
    correlation TEXT,
    trace TEXT,
    hash BLOB NOT NULL,
    data TEXT NOT NULL
  );
  CREATE UNIQUE INDEX events_by_version ON events (stream, version);
  CREATE INDEX events_of_lineage ON events (stream, version) WHERE ${lineageCondition};
  CREATE TABLE side (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (kind, key)
  );
`;

function numberOf(database: SqliteDatabase, sql: string): number {
  return Number(database.prepare(sql).get()?.[0]);
}

/**
 * True for a Threadfold store of this version, false for an empty file.
 *
 * @throws {LogFormatError} a foreign database, or a store of a newer version. The file is left as it was.
 */
export function recognise(database: SqliteDatabase, path: string): boolean {
  const application = numberOf(database, "PRAGMA application_id");
  const version = numberOf(database, "PRAGMA user_version");
  if (application === applicationId) {
    if (version > storeVersion) {
      throw new LogFormatError(
        `${path} has store version ${version}; this threadfold knows up to ${storeVersion}. Upgrade threadfold to open it.`,
      );
    }
    return true;
  }
  const objects = numberOf(database, "SELECT count(*) FROM sqlite_schema");
  if (application === 0 && version === 0 && objects === 0) return false;
  throw new LogFormatError(`${path} is a SQLite database, but no Threadfold store. Choose another file.`);
}

/** Makes the tables of a new store. Does nothing when another process made them meanwhile. */
export function createTables(database: SqliteDatabase, path: string): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    if (!recognise(database, path)) {
      database.exec(tables);
      const addWord = database.prepare("INSERT INTO words (id, word) VALUES (?, ?)");
      for (const [word, id] of Object.entries(lineageWords)) addWord.run(id, word);
      database.prepare("INSERT INTO meta (key, value) VALUES ('erased_through', 0)").run();
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${storeVersion}`);
    }
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}
