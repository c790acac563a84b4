import type { Json } from "../events/json.ts";
import type { AnyProjection, Rows } from "./define-projection.ts";
import { foldCase, type ProjectionStore, type StoredRow } from "./projection-store.ts";

/** Thrown into a handler that asked for a row which is not in memory yet; the handler is called again with it. */
class RowNotLoaded extends Error {}

const absent: unique symbol = Symbol("absent");
type Held = Json | typeof absent;

interface Entry {
  readonly key: string;
  value: Held;
  /** Not committed yet. */
  changed: boolean;
}

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
  const held = new Map<string, Entry>();
  const changed = new Set<Entry>();
  const listed = new Set<string>();
  /** Entries of the event at hand as they were before; undefined: there was none. */
  const undo: { entry: Entry; value: Held | undefined; changed: boolean }[] = [];
  let complete = empty;
  const missingKeys = new Set<string>();
  const missingPrefixes = new Set<string>();

  const isListed = (prefix: string) => complete || [...listed].some((one) => prefix.startsWith(one));

  const write = (key: string, value: Held) => {
    let entry = held.get(key);
    if (entry) {
      undo.push({ entry, value: entry.value, changed: entry.changed });
      entry.value = value;
    } else {
      entry = { key, value, changed: false };
      undo.push({ entry, value: undefined, changed: false });
      held.set(key, entry);
    }
    if (entry.changed) return;
    entry.changed = true;
    changed.add(entry);
  };

  const rows: Rows<unknown> = {
    get(key) {
      const entry = held.get(key);
      if (entry) return entry.value === absent ? undefined : entry.value;
      if (complete) return undefined;
      missingKeys.add(key);
      throw new RowNotLoaded();
    },
    put(key, row) {
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
      for (const { key, value } of held.values()) {
        if (value !== absent && key.startsWith(prefix)) found.push({ key, row: value });
      }
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
  };

  const take = (key: string, value: Held) => {
    if (!held.has(key)) held.set(key, { key, value, changed: false });
  };

  return {
    rows,
    begin() {
      undo.length = 0;
    },
    rollback() {
      for (const { entry, value, changed: before } of undo.reverse()) {
        entry.changed = before;
        if (!before) changed.delete(entry);
        if (value === undefined) held.delete(entry.key);
        else entry.value = value;
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
      for (const key of keys) take(key, loaded.get(key) ?? absent);
      for (const prefix of prefixes) {
        for (const { key, value } of await store.list(table, { prefix })) take(key, value);
        listed.add(prefix);
      }
    },
    changes() {
      const put: StoredRow[] = [];
      const gone: string[] = [];
      for (const { key, value } of changed) {
        if (value === absent) {
          gone.push(key);
          continue;
        }
        // A row that is changed in place later would not be written again.
        if (typeof value === "object" && value !== null) Object.freeze(value);
        const search = foldCase(projection.searchTextOf(value));
        put.push({ key, value, order: projection.orderOf(value, key), search });
      }
      return { put, delete: gone };
    },
    committed() {
      for (const entry of changed) entry.changed = false;
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
