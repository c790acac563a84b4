import { createRequire, isBuiltin } from "node:module";

/** What SQLite gives and takes for one column. */
export type SqlValue = null | number | string | Uint8Array;

/** A row as an array, in the order of the selected columns. */
export type SqlRow = readonly SqlValue[];

/** The part of `node:sqlite`'s `StatementSync` that the log uses, with rows as arrays. */
export interface SqliteStatement {
  run(...parameters: SqlValue[]): unknown;
  get(...parameters: SqlValue[]): SqlRow | undefined;
  all(...parameters: SqlValue[]): SqlRow[];
}

interface ArrayStatement extends SqliteStatement {
  setReturnArrays(enabled: boolean): void;
}

/** The part of `node:sqlite`'s `DatabaseSync` that the log uses. */
export interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  readonly isTransaction: boolean;
  close(): void;
}

interface SqliteModule {
  readonly DatabaseSync: new (
    path: string,
    options?: { readonly readOnly?: boolean },
  ) => Omit<SqliteDatabase, "prepare"> & { prepare(sql: string): ArrayStatement };
  readonly StatementSync: { readonly prototype: object };
}

/** Opens a SQLite file with one of the two drivers that share this interface. */
export interface SqliteDriver {
  readonly name: "node:sqlite" | "@photostructure/sqlite";
  open(path: string, options?: { readonly readOnly?: boolean }): SqliteDatabase;
}

// Required and not imported, which takes a third of the time: the package and its loader are CommonJS underneath.
const require = createRequire(import.meta.url);

function loadBuiltIn(): SqliteModule | undefined {
  if (!isBuiltin("node:sqlite")) return undefined;
  const module = require("node:sqlite") as SqliteModule;
  // Before rows could be had as arrays (22.16), the package is the faster of the two.
  return "setReturnArrays" in module.StatementSync.prototype ? module : undefined;
}

let loaded: SqliteDriver | undefined;

function load(): SqliteDriver {
  const builtIn = loadBuiltIn();
  const module = builtIn ?? (require("@photostructure/sqlite") as SqliteModule);
  return {
    name: builtIn ? "node:sqlite" : "@photostructure/sqlite",
    open(path, options = {}) {
      const database = new module.DatabaseSync(path, options);
      return {
        get isTransaction() {
          return database.isTransaction;
        },
        exec: (sql) => database.exec(sql),
        close: () => database.close(),
        prepare(sql) {
          const statement = database.prepare(sql);
          statement.setReturnArrays(true);
          return statement;
        },
      };
    },
  };
}

/** The module built into Node where it is complete, otherwise the package with the same interface. Loaded once. */
export async function loadSqliteDriver(): Promise<SqliteDriver> {
  loaded ??= load();
  return loaded;
}
