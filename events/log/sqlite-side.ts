import type { Json } from "../json.ts";
import { storableJson } from "../storable-json.ts";
import { checkRecordName, SideConflict, type SideRecord, type SideStore } from "./side-store.ts";
import type { SqliteDatabase } from "./sqlite-driver.ts";
import type { Writer } from "./sqlite-writer.ts";

/**
 * Side records in a table beside the events. Their writes join the transaction of the appends of the same macrotask,
 * and wait for no sync of their own.
 *
 * @param reading runs a read with the errors of the store
 */
export function createSqliteSide(
  database: SqliteDatabase,
  writer: Writer,
  reading: <Result>(read: () => Result) => Result,
): SideStore {
  const select = database.prepare("SELECT key, value, revision FROM side WHERE kind = ? AND key = ?");
  const selectMany = database.prepare(
    "SELECT key, value, revision FROM side WHERE kind = ? AND key > ? AND key >= ? AND key < ? ORDER BY key LIMIT ?",
  );
  const upsert = database.prepare(`
    INSERT INTO side (kind, key, revision, value) VALUES (?, ?, 1, ?)
    ON CONFLICT (kind, key) DO UPDATE SET revision = revision + 1, value = excluded.value
    RETURNING revision`);
  const remove = database.prepare("DELETE FROM side WHERE kind = ? AND key = ?");
  const toRecord = (row: readonly unknown[]): SideRecord => ({
    key: row[0] as string,
    value: JSON.parse(row[1] as string) as Json,
    revision: row[2] as number,
  });

  return {
    async get(kind, key) {
      checkRecordName(kind, key);
      const row = reading(() => select.get(kind, key));
      return row && toRecord(row);
    },
    async put(kind, key, value, { ifRevision } = {}) {
      checkRecordName(kind, key);
      const text = JSON.stringify(storableJson(value));
      return writer.submit({
        durable: false,
        run() {
          if (ifRevision !== undefined && ifRevision !== (select.get(kind, key)?.[2] ?? 0)) {
            throw new SideConflict(kind, key);
          }
          return upsert.get(kind, key, text)?.[0] as number;
        },
      });
    },
    async delete(kind, key) {
      checkRecordName(kind, key);
      await writer.submit({ durable: false, run: () => remove.run(kind, key) });
    },
    async list(kind, { prefix = "", after = "", limit = -1 } = {}) {
      return reading(() => selectMany.all(kind, after, prefix, `${prefix}\u{10FFFF}`, limit)).map(toRecord);
    },
  };
}
