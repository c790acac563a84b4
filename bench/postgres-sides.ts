import { type ChainHead, chainStart, sealEvents } from "../events/hash-chain.ts";
import { openPostgres } from "../events/log/postgres.ts";
import { createPostgresPool, parsePostgresUrl } from "../events/log/postgres-driver.ts";
import { type LogSide, sideOf } from "./log-side.ts";
import { rate } from "./rate.ts";

export async function openLogSide(url: string): Promise<LogSide> {
  return sideOf((await openPostgres(url)).log);
}

const insert = (schema: string) => `
  WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(1)),
    head AS (UPDATE ${schema}.streams SET version = $2, hash = $9, last_at = $7 FROM locked WHERE id = $1 RETURNING id)
  INSERT INTO ${schema}.events
    (position, stream, version, id, type, schema, data, recorded_at, metadata, hash, previous_hash)
  SELECT $11, head.id, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM head`;

/**
 * The driver alone, with a prepared statement: the same rows in the same tables, one append a transaction under a lock.
 * It makes the JSON texts and hashes as the log does and counts the positions itself: it looks for no position, checks
 * no version, tells no listener and knows no retry.
 */
export async function openDriverSide(url: string): Promise<LogSide> {
  await (await openPostgres(url)).log.close();
  const { schema, ...address } = parsePostgresUrl(url);
  const pool = await createPostgresPool({ schema, ...address });
  const text = insert(schema);
  const streams = new Map<string, { id: string; head: ChainHead }>();
  let position = 0;
  const streamOf = async (name: string) => {
    const sql = `INSERT INTO ${schema}.streams (name, version, hash) VALUES ($1, 0, '') RETURNING id`;
    const stream = streams.get(name) ?? {
      id: (await pool.query(sql, [name])).rows[0].id,
      head: { version: 0, hash: chainStart },
    };
    streams.set(name, stream);
    return stream;
  };
  return {
    async append(name, _version, events) {
      const stream = await streamOf(name);
      return rate(events.length, async () => {
        for (const event of events) {
          const [sealed] = sealEvents(name, stream.head, [event]);
          if (!sealed) throw new Error("one event");
          const { hash, previousHash, schema: dataSchema, ...metadata } = sealed.metadata;
          stream.head = { version: sealed.version, hash };
          const { id, type, version, recordedAt } = sealed;
          const texts = [JSON.stringify(event.data), recordedAt, JSON.stringify(metadata)];
          const hashes = [Buffer.from(hash, "hex"), Buffer.from(previousHash, "hex")];
          position += 1;
          const values = [stream.id, version, id, type, dataSchema, ...texts, ...hashes, position];
          await pool.query({ name: "bare", text, values });
        }
      });
    },
    readAll: (count) =>
      rate(count, async () => {
        let read = 0;
        for (let after = 0; read < count; ) {
          const { rows } = await pool.query({
            name: "bare-read",
            text: `SELECT e.*, s.name FROM ${schema}.events e JOIN ${schema}.streams s ON s.id = e.stream
                   WHERE position > $1 ORDER BY position LIMIT 500`,
            values: [after],
          });
          if (rows.length === 0) throw new Error(`${read} of ${count} events were read`);
          read += rows.length;
          after = Number(rows.at(-1)?.position);
        }
      }),
    close: () => pool.end(),
  };
}
