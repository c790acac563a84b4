import { bytesOf, hexOf } from "../log/postgres-rows.ts";
import type { PostgresSession } from "../log/postgres-session.ts";
import { KeyConflictError, KeyDestroyedError, type KeyStore, type StoredKey } from "./key-store.ts";

/** Content keys in a table beside the log; whether any was ever made is asked when the store is opened. */
export interface PostgresKeyStore extends KeyStore {
  isUsed(): Promise<boolean>;
}

/**
 * Content keys in a table of the database that holds the log, for several machines. Whoever can copy the whole database
 * has keys and content; a destroyed key stays in old backups and in the server's write-ahead log until those are gone.
 */
export function createPostgresKeyStore(session: PostgresSession, schema: string): PostgresKeyStore {
  const table = `${schema}.keys`;
  const read = async (id: string): Promise<StoredKey> => {
    const [row] = await session.query("read", `SELECT key FROM ${table} WHERE id = $1`, [id]);
    if (!row) return undefined;
    return row[0] === null ? "destroyed" : new Uint8Array(bytesOf(hexOf(row[0])));
  };
  return {
    kind: "postgres",
    read,
    async isUsed() {
      const [row] = await session.query("read", `SELECT EXISTS (SELECT FROM ${table})`);
      return row?.[0] === "t";
    },
    async create(id, key) {
      const text = `INSERT INTO ${table} (id, key) VALUES ($1, $2) ON CONFLICT DO NOTHING`;
      await session.query("repeatable", text, [id, Buffer.from(key)]);
      const stored = await read(id);
      if (stored === "destroyed") throw new KeyDestroyedError(id);
      if (stored === undefined) throw new KeyConflictError(id);
      return stored;
    },
    async replace(id, current, next) {
      const text = `UPDATE ${table} SET key = $3 WHERE id = $1 AND key IN ($2, $3) RETURNING true`;
      const values = [id, Buffer.from(current), Buffer.from(next)];
      if ((await session.query("repeatable", text, values)).length === 0) throw new KeyConflictError(id);
    },
    async destroy(id) {
      const text = `INSERT INTO ${table} (id, key) VALUES ($1, NULL) ON CONFLICT (id) DO UPDATE SET key = NULL`;
      await session.query("repeatable", text, [id]);
    },
  };
}
