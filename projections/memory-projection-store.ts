import type { Json } from "../events/json.ts";
import {
  foldCase,
  type NewTable,
  ProjectionConflict,
  type ProjectionStore,
  ProjectionTableMissingError,
  type RowDifference,
  type RowMatch,
  type RowQuery,
  type SkippedEvent,
  type StoredRow,
  type TableInfo,
  type TableState,
  tableName,
} from "./projection-store.ts";

interface MemoryTable {
  info: TableInfo;
  readonly rows: Map<string, StoredRow>;
  readonly skipped: SkippedEvent[];
}

function memberAt(value: Json, path: readonly string[]): unknown {
  let member: unknown = value;
  for (const key of path) {
    if (typeof member !== "object" || member === null || !Object.hasOwn(member, key)) return undefined;
    member = (member as Record<string, unknown>)[key];
  }
  return member;
}

function matches(row: StoredRow, match: readonly RowMatch[]): boolean {
  return match.every(({ path, equals }) => (memberAt(row.value, path) ?? null) === equals);
}

function isAfter(row: StoredRow, after: { order: string; key: string }): boolean {
  return row.order === after.order ? row.key < after.key : row.order < after.order;
}

function select(rows: Iterable<StoredRow>, query: RowQuery): StoredRow[] {
  const { prefix = "", search = "", match = [], after, limit = Number.POSITIVE_INFINITY } = query;
  const text = foldCase(search);
  const found = [...rows].filter(
    (row) =>
      row.key.startsWith(prefix) &&
      row.search.includes(text) &&
      matches(row, match) &&
      (!after || isAfter(row, after)),
  );
  found.sort((a, b) => (isAfter(a, b) ? 1 : -1));
  return found.slice(0, limit);
}

/** Projection rows in memory: for tests, for memory stores and for projections that are built at every start. */
export function createMemoryProjectionStore(): ProjectionStore {
  const tables = new Map<string, MemoryTable>();

  const liveOf = (name: string) =>
    [...tables.values()].find(({ info }) => info.name === name && info.state === "live");
  const find = (table: string): MemoryTable => {
    const found = table.includes("@") ? tables.get(table) : liveOf(table);
    if (!found) throw new ProjectionTableMissingError(table);
    return found;
  };
  const make = ({ name, version, from, rows }: NewTable, state: TableState): TableInfo => {
    const builds = [...tables.values()]
      .filter(({ info }) => info.name === name)
      .map(({ info }) => info.build);
    const build = Math.max(0, ...builds) + 1;
    const table = tableName(name, version, build);
    const info = { table, name, version, build, state, checkpoint: from, events: 0, revision: 0, from };
    tables.set(table, { info, rows: new Map(rows.map((row) => [row.key, row])), skipped: [] });
    return info;
  };

  return {
    kind: "memory",
    tables: async (name) =>
      [...tables.values()].map(({ info }) => info).filter((info) => name === undefined || info.name === name),
    live: async (name) => liveOf(name)?.info,
    build: async (table) => make(table, table.state ?? "building"),
    open: async (table) => liveOf(table.name)?.info ?? make(table, "live"),
    async get(table, keys) {
      const { rows } = find(table);
      const found = new Map<string, Json>();
      for (const key of keys) {
        const row = rows.get(key);
        if (row) found.set(key, row.value);
      }
      return found;
    },
    list: async (table, query = {}) => select(find(table).rows.values(), query),
    count: async (table, query = {}) => select(find(table).rows.values(), query).length,
    async commit(table, change) {
      const found = tables.get(table);
      if (!found || found.info.state === "retired" || found.info.revision !== change.expectedRevision) {
        throw new ProjectionConflict(table);
      }
      for (const row of change.put) found.rows.set(row.key, structuredClone(row));
      for (const key of change.delete) found.rows.delete(key);
      found.skipped.push(...change.skipped);
      found.info = {
        ...found.info,
        checkpoint: change.checkpoint,
        events: found.info.events + change.events,
        revision: found.info.revision + 1,
      };
      return found.info.revision;
    },
    skipped: async (table) => find(table).skipped,
    async switchTo(table, revision) {
      const next = tables.get(table);
      if (next?.info.state !== "building" || next.info.revision !== revision) {
        throw new ProjectionConflict(table);
      }
      const before = liveOf(next.info.name);
      if (
        before &&
        before.info.version === next.info.version &&
        (before.info.checkpoint ?? "") > (next.info.checkpoint ?? "")
      ) {
        return false;
      }
      if (before) before.info = { ...before.info, state: "retired" };
      next.info = { ...next.info, state: "live" };
      return true;
    },
    async compare(leftName, rightName, limit) {
      const left = find(leftName);
      const right = find(rightName);
      const keys = [...new Set([...left.rows.keys(), ...right.rows.keys()])].sort();
      const differences: RowDifference[] = [];
      for (const key of keys) {
        const one = left.rows.get(key);
        const other = right.rows.get(key);
        if (JSON.stringify(one) !== JSON.stringify(other))
          differences.push({ key, left: one?.value, right: other?.value });
      }
      return {
        left: left.info,
        right: right.info,
        differing: differences.length,
        differences: differences.slice(0, limit),
      };
    },
    async drop(table) {
      tables.delete(table);
    },
    async purge() {},
    async close() {},
  };
}
