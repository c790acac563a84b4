import type { Json } from "../events/json.ts";

/** A row as a store keeps it. */
export interface StoredRow {
  readonly key: string;
  readonly value: Json;
  /** Rows are listed by this text, largest first, then by key, largest first. */
  readonly order: string;
  /** Case-folded text that `search` looks into. */
  readonly search: string;
}

/** A member of a row, by path, must equal a value. */
export interface RowMatch {
  readonly path: readonly string[];
  readonly equals: string | number | boolean | null;
}

export interface RowQuery {
  /** Rows whose key starts so. */
  readonly prefix?: string;
  /** Rows whose search text holds this text, whatever its case. */
  readonly search?: string;
  /** Rows that match all of these. */
  readonly match?: readonly RowMatch[];
  /** Rows after this one, in the order of the list. */
  readonly after?: { readonly order: string; readonly key: string };
  readonly limit?: number;
}

/** An event that a projection passed over because its handler failed. */
export interface SkippedEvent {
  readonly position: string;
  readonly eventId: string;
  readonly stream: string;
  readonly version: number;
  readonly type: string;
  readonly error: string;
}

/**
 * `live`: readers get it; `building`: a rebuild beside it; `comparing`: built to be compared with it, never to serve;
 * `retired`: replaced, waits to be dropped.
 */
export type TableState = "live" | "building" | "comparing" | "retired";

export interface TableInfo {
  /** `<name>@<version>/<build>` */
  readonly table: string;
  readonly name: string;
  readonly version: number;
  readonly build: number;
  readonly state: TableState;
  /** Position of the last event in the rows; undefined before the first. */
  readonly checkpoint: string | undefined;
  /** Events in the rows. */
  readonly events: number;
  /** Counts the commits; a commit names the one it builds on. */
  readonly revision: number;
  /** Position after which the table began; undefined: the beginning of the log. */
  readonly from: string | undefined;
}

/** What one transaction changes: rows and checkpoint together, or nothing. */
export interface TableChange {
  readonly put: readonly StoredRow[];
  readonly delete: readonly string[];
  readonly checkpoint: string | undefined;
  /** Events in this change. */
  readonly events: number;
  readonly skipped: readonly SkippedEvent[];
  /** Revision of the table that the change builds on. */
  readonly expectedRevision: number;
}

export interface NewTable {
  /** Default `building`. */
  readonly state?: "building" | "comparing";
  readonly name: string;
  readonly version: number;
  readonly from?: string | undefined;
  /** Rows before any event. */
  readonly rows: readonly StoredRow[];
}

/** A row that two tables disagree on; undefined: the table does not have it. */
export interface RowDifference {
  readonly key: string;
  readonly left: Json | undefined;
  readonly right: Json | undefined;
}

export interface TableComparison {
  readonly left: TableInfo;
  readonly right: TableInfo;
  /** Keys that differ, all of them. */
  readonly differing: number;
  /** The first of them. */
  readonly differences: readonly RowDifference[];
}

/** Somebody else committed to the table: another owner, or it was replaced. Read its checkpoint again. */
export class ProjectionConflict extends Error {
  override readonly name = "ProjectionConflict";
  constructor(readonly table: string) {
    super(
      `Projection table ${table} was changed or replaced by another process. Read its checkpoint and go on from there.`,
    );
  }
}

/** No table of that name. */
export class ProjectionTableMissingError extends Error {
  override readonly name = "ProjectionTableMissingError";
  constructor(readonly table: string) {
    super(
      `There are no rows of "${table}" yet. Build them from the log: threadfold rebuild ${table}, or start the projection.`,
    );
  }
}

/**
 * Where projections keep their rows and checkpoints. Nothing in it is the truth: it can be deleted and built again
 * from the log. `table` is the exact name of a table, or the name of a projection, which stands for its live table.
 * One contract suite (`test/projections/projection-store.contract.ts`) holds for all.
 */
export interface ProjectionStore {
  readonly kind: string;
  /** All tables, or those of one projection. */
  tables(name?: string): Promise<readonly TableInfo[]>;
  /** The live table of a projection. */
  live(name: string): Promise<TableInfo | undefined>;
  /** Makes a table to rebuild into. */
  build(table: NewTable): Promise<TableInfo>;
  /** Makes the live table of a projection that has none; gives the one that is there. */
  open(table: NewTable): Promise<TableInfo>;
  /** Values by key; keys without a row are left out. @throws {ProjectionTableMissingError} */
  get(table: string, keys: readonly string[]): Promise<ReadonlyMap<string, Json>>;
  /** @throws {ProjectionTableMissingError} */
  list(table: string, query?: RowQuery): Promise<readonly StoredRow[]>;
  /** @throws {ProjectionTableMissingError} */
  count(table: string, query?: Omit<RowQuery, "after" | "limit">): Promise<number>;
  /** One transaction. Gives the new revision. @throws {ProjectionConflict} */
  commit(table: string, change: TableChange): Promise<number>;
  skipped(table: string): Promise<readonly SkippedEvent[]>;
  /**
   * Makes a built table the live one of its projection and retires the one before, in one transaction. False: the
   * live table of the same version has gone further; build on.
   * @throws {ProjectionConflict} the table is not at `revision`
   */
  switchTo(table: string, revision: number): Promise<boolean>;
  /** Rows of two tables, seen in one snapshot; `limit` differences at most. */
  compare(left: string, right: string, limit: number): Promise<TableComparison>;
  drop(table: string): Promise<void>;
  /** Leaves no byte of deleted rows in the store's files. */
  purge(): Promise<void>;
  close(): Promise<void>;
}

/** The form of a text that searches compare: case-folded and in one Unicode form. */
export function foldCase(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** `<name>@<version>/<build>` */
export function tableName(name: string, version: number, build: number): string {
  return `${name}@${version}/${build}`;
}
