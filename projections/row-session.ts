import type { Json } from "../events/json.ts";
import type { AnyProjection, Rows } from "./define-projection.ts";
import { foldCase, type ProjectionStore, type StoredRow } from "./projection-store.ts";

/** Thrown into a handler that asked for a row which is not in memory yet; the handler is called again with it. */
class RowNotLoaded extends Error {}

const absent: unique symbol = Symbol("absent");
type Held = Json | typeof absent;

/** Rows that may stay in memory between commits. */
const maxHeldRows = 50_000;

/** Rows of one table as handlers see them: loaded on demand, changed in memory, written by a commit. */
export interface RowSession {
  readonly rows: Rows<unknown>;
  /** Begins the changes of one event. */
  begin(): void;
  /** Forgets the changes since `begin`. */
  rollback(): void;
  /** True when the handler asked for rows that have to be loaded first. */
  readonly missing: boolean;
  load(): Promise<void>;
  /** Changes since the last `committed`. */
  changes(): { put: StoredRow[]; delete: string[] };
  committed(): void;
}

/**
 * @param table exact name of the table that rows are read from; undefined: there are none yet
 */
export function createRowSession(
  projection: AnyProjection,
  store: ProjectionStore,
  table: string | undefined,
  empty: boolean,
): RowSession {
  const held = new Map<string, Held>();
  const changed = new Map<string, Held>();
  const listed = new Set<string>();
  const undo: { key: string; held: Held | undefined; changed: Held | undefined }[] = [];
  let complete = empty;
  const missingKeys = new Set<string>();
  const missingPrefixes = new Set<string>();

  const isListed = (prefix: string) => complete || [...listed].some((one) => prefix.startsWith(one));

  const write = (key: string, value: Held) => {
    undo.push({ key, held: held.get(key), changed: changed.get(key) });
    held.set(key, value);
    changed.set(key, value);
  };

  const rows: Rows<unknown> = {
    get(key) {
      const value = held.get(key);
      if (value !== undefined) return value === absent ? undefined : value;
      if (complete) return undefined;
      missingKeys.add(key);
      throw new RowNotLoaded();
    },
    put(key, row) {
      if (typeof row === "object" && row !== null) Object.freeze(row);
      write(key, row as Json);
    },
    delete(key) {
      write(key, absent);
    },
    list(prefix) {
      if (!isListed(prefix)) {
        missingPrefixes.add(prefix);
        throw new RowNotLoaded();
      }
      const found: { key: string; row: unknown }[] = [];
      for (const [key, row] of held) if (row !== absent && key.startsWith(prefix)) found.push({ key, row });
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
  };

  return {
    rows,
    begin() {
      undo.length = 0;
    },
    rollback() {
      for (const { key, held: heldBefore, changed: changedBefore } of undo.reverse()) {
        if (heldBefore === undefined) held.delete(key);
        else held.set(key, heldBefore);
        if (changedBefore === undefined) changed.delete(key);
        else changed.set(key, changedBefore);
      }
      undo.length = 0;
    },
    get missing() {
      return missingKeys.size > 0 || missingPrefixes.size > 0;
    },
    async load() {
      if (table === undefined) return;
      const keys = [...missingKeys];
      const prefixes = [...missingPrefixes];
      missingKeys.clear();
      missingPrefixes.clear();
      const loaded = await store.get(table, keys);
      for (const key of keys) if (!held.has(key)) held.set(key, loaded.get(key) ?? absent);
      for (const prefix of prefixes) {
        for (const { key, value } of await store.list(table, { prefix })) {
          if (!held.has(key)) held.set(key, value);
        }
        listed.add(prefix);
      }
    },
    changes() {
      const put: StoredRow[] = [];
      const gone: string[] = [];
      for (const [key, value] of changed) {
        if (value === absent) gone.push(key);
        else {
          const search = foldCase(projection.searchTextOf(value));
          put.push({ key, value, order: projection.orderOf(value, key), search });
        }
      }
      return { put, delete: gone };
    },
    committed() {
      changed.clear();
      undo.length = 0;
      if (held.size <= maxHeldRows) return;
      held.clear();
      listed.clear();
      complete = false;
    },
  };
}

/** Rows that the projection's `init` writes. */
export function initialRows(projection: AnyProjection, store: ProjectionStore): StoredRow[] {
  const session = createRowSession(projection, store, undefined, true);
  projection.init?.(session.rows);
  return session.changes().put;
}
