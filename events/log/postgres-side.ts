import { storableJson } from "../storable-json.ts";
import type { PostgresRow, PostgresSession } from "./postgres-session.ts";
import { checkRecordName, SideConflict, type SideRecord, type SideStore } from "./side-store.ts";

const toRecord = ([key, value, revision]: PostgresRow): SideRecord => ({
  key: String(key),
  value: JSON.parse(String(value)),
  revision: Number(revision),
});

/** Side records in a table beside the events. Their writes wait for no sync. */
export function createPostgresSide(session: PostgresSession, schema: string): SideStore {
  const columns = "key, value, revision";
  return {
    async get(kind, key) {
      checkRecordName(kind, key);
      const text = `SELECT ${columns} FROM ${schema}.side WHERE kind = $1 AND key = $2`;
      const [row] = await session.query("read", text, [kind, key]);
      return row && toRecord(row);
    },
    async put(kind, key, value, { ifRevision } = {}) {
      checkRecordName(kind, key);
      const values = [kind, key, JSON.stringify(storableJson(value)), ifRevision ?? null];
      const [row] = await session.query("once", `SELECT ${schema}.put_side($1, $2, $3, $4)`, values);
      const revision = row?.[0];
      if (revision === null || revision === undefined) throw new SideConflict(kind, key);
      return Number(revision);
    },
    async delete(kind, key) {
      checkRecordName(kind, key);
      await session.query("repeatable", `DELETE FROM ${schema}.side WHERE kind = $1 AND key = $2`, [
        kind,
        key,
      ]);
    },
    async list(kind, { prefix = "", after = "", limit } = {}) {
      const text = `
        SELECT ${columns} FROM ${schema}.side
        WHERE kind = $1 AND key > $2 AND key >= $3 AND starts_with(key, $3) ORDER BY key LIMIT $4`;
      return (await session.query("read", text, [kind, after, prefix, limit ?? null])).map(toRecord);
    },
  };
}
