import type { SqliteDatabase, SqliteStatement } from "./sqlite-driver.ts";

/** Prepares each SQL text once. */
export function createStatements(database: SqliteDatabase): (sql: string) => SqliteStatement {
  const statements = new Map<string, SqliteStatement>();
  return (sql) => {
    let statement = statements.get(sql);
    if (!statement) {
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  };
}
