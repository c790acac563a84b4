import { sha256 as digest } from "../hash-chain.ts";
import { bytesOf, hexOf } from "../log/postgres-rows.ts";
import type { PostgresSession } from "../log/postgres-session.ts";
import { BlobDamagedError, BlobMissingError, type BlobStore, needsRefresh } from "./blob-store.ts";

const digestForm = /^[0-9a-f]{64}$/;
const blobsPerPage = 1000;

/**
 * Blobs in a table of the database that holds the log, shared by all who open it. Bytes are verified whenever they are
 * read.
 */
export function createPostgresBlobs(session: PostgresSession, schema: string): BlobStore {
  const table = `${schema}.blobs`;
  const timeOf = async (sha256: string): Promise<Date | undefined> => {
    const text = `SELECT extract(epoch FROM written_at) FROM ${table} WHERE sha256 = $1`;
    const [row] = await session.query("read", text, [bytesOf(sha256)]);
    return row && new Date(Number(row[0]) * 1000);
  };
  return {
    has: async (sha256) => digestForm.test(sha256) && (await timeOf(sha256)) !== undefined,
    async put(content, mimeType) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      const sha256 = digest(bytes);
      const writtenAt = await timeOf(sha256);
      if (writtenAt === undefined || needsRefresh(writtenAt)) {
        const text = `
          INSERT INTO ${table} (sha256, content) VALUES ($1, $2)
          ON CONFLICT (sha256) DO UPDATE SET written_at = EXCLUDED.written_at`;
        await session.query("repeatable", text, [bytesOf(sha256), Buffer.from(bytes)]);
      }
      return { sha256, mimeType, size: bytes.length };
    },
    async get(sha256) {
      if (!digestForm.test(sha256)) throw new BlobMissingError(sha256);
      const text = `SELECT content FROM ${table} WHERE sha256 = $1`;
      const [row] = await session.query("read", text, [bytesOf(sha256)]);
      if (!row) throw new BlobMissingError(sha256);
      const bytes = new Uint8Array(bytesOf(hexOf(row[0])));
      if (digest(bytes) !== sha256) throw new BlobDamagedError(sha256);
      return bytes;
    },
    async delete(sha256, { writtenBefore } = {}) {
      if (!digestForm.test(sha256)) return true;
      const isOld = writtenBefore === undefined ? "" : " AND written_at < $2::timestamptz";
      const values = writtenBefore === undefined ? [] : [writtenBefore];
      await session.query("repeatable", `DELETE FROM ${table} WHERE sha256 = $1${isOld}`, [
        bytesOf(sha256),
        ...values,
      ]);
      return writtenBefore === undefined || (await timeOf(sha256)) === undefined;
    },
    async *list() {
      const text = `
        SELECT sha256, octet_length(content), extract(epoch FROM written_at) FROM ${table}
        WHERE sha256 > $1 ORDER BY sha256 LIMIT ${blobsPerPage}`;
      for (let after = ""; ; ) {
        const rows = await session.query("read", text, [bytesOf(after)]);
        for (const [sha256, size, seconds] of rows) {
          const writtenAt = new Date(Number(seconds) * 1000).toISOString();
          yield { sha256: hexOf(sha256), size: Number(size), writtenAt };
        }
        if (rows.length < blobsPerPage) return;
        after = hexOf(rows.at(-1)?.[0]);
      }
    },
  };
}
