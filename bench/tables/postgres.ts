import type { Pool } from "pg";
import { chainStart, sealEvents } from "../../events/hash-chain.ts";
import { openPostgres } from "../../events/log/postgres.ts";
import { createPostgresPool, parsePostgresUrl } from "../../events/log/postgres-driver.ts";
import { hasPostgres, startPostgres } from "../../test/events/log/postgres-server.ts";
import { makeEvents } from "../bench-events.ts";
import { rate } from "../rate.ts";
import { type BenchOptions, type Measured, number } from "./table.ts";

/*
 * PostgreSQL through the log against the bare driver: the same rows in the same tables of the same server, one append a
 * transaction under the same lock. The bare side makes the JSON texts and hashes as the log does, then takes the lock
 * and inserts: it checks no version and knows no retry. Reading is all events in order, JSON parsed on both sides. The
 * sides take turns; the best of each counts. The server is started here, with fsync as it is by default.
 */
const rounds = 3;
const appends = 300;
const threads = 64;
const readEvents = 20_000;

async function appendThroughLog(url: string, writers: number): Promise<number> {
  const { log } = await openPostgres(url);
  const measured = await rate(writers * appends, async () => {
    const write = async (writer: number) => {
      for (const [version, event] of makeEvents(appends).entries()) {
        await log.append(`thread-${writer}`, [event], { expectedVersion: version });
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  });
  await log.close();
  return measured;
}

async function withTables(
  url: string,
  work: (pool: Pool, schema: string) => Promise<number>,
): Promise<number> {
  await (await openPostgres(url)).log.close();
  const address = parsePostgresUrl(url);
  const pool = await createPostgresPool(address);
  const measured = await work(pool, address.schema);
  await pool.end();
  return measured;
}

const insert = (schema: string) => `
  WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(1)),
    head AS (UPDATE ${schema}.streams SET version = $2, hash = $9, last_at = $7 FROM locked WHERE id = $1 RETURNING id)
  INSERT INTO ${schema}.events
    (position, stream, version, id, type, schema, data, recorded_at, metadata, hash, previous_hash)
  SELECT $2, head.id, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM head`;

function appendThroughDriver(url: string): Promise<number> {
  return withTables(url, async (pool, schema) => {
    const stream = await pool.query(
      `INSERT INTO ${schema}.streams (name, version, hash) VALUES ('thread-0', 0, '') RETURNING id`,
    );
    const sql = insert(schema);
    let head = { version: 0, hash: chainStart };
    return rate(appends, async () => {
      for (const event of makeEvents(appends)) {
        const [sealed] = sealEvents("thread-0", head, [event]);
        if (!sealed) throw new Error("one event");
        const { hash, previousHash, schema: dataSchema, ...metadata } = sealed.metadata;
        head = { version: sealed.version, hash };
        const { id, type, version, recordedAt } = sealed;
        const texts = [JSON.stringify(event.data), recordedAt, JSON.stringify(metadata)];
        const hashes = [Buffer.from(hash, "hex"), Buffer.from(previousHash, "hex")];
        const values = [stream.rows[0].id, version, id, type, dataSchema, ...texts, ...hashes];
        await pool.query({ name: "bare", text: sql, values });
      }
    });
  });
}

async function fill(url: string): Promise<void> {
  const { log } = await openPostgres(url);
  for (let version = 0; version < readEvents; version += 500) {
    await log.append("thread-0", makeEvents(500), { expectedVersion: version });
  }
  await log.close();
}

async function readThroughLog(url: string): Promise<number> {
  const { log } = await openPostgres(url);
  const measured = await rate(readEvents, async () => {
    let count = 0;
    for await (const page of log.readAll()) count += page.length;
    if (count !== readEvents) throw new Error(`${count} events were read`);
  });
  await log.close();
  return measured;
}

async function readThroughDriver(url: string): Promise<number> {
  return withTables(url, (pool, schema) =>
    rate(readEvents, async () => {
      let count = 0;
      for (let position = 0; count < readEvents; ) {
        const { rows } = await pool.query({
          name: "bare-read",
          text: `SELECT e.*, s.name FROM ${schema}.events e JOIN ${schema}.streams s ON s.id = e.stream
                 WHERE position > $1 ORDER BY position LIMIT 500`,
          values: [position],
        });
        count += rows.length;
        position = Number(rows.at(-1)?.position);
      }
    }),
  );
}

export async function measurePostgres({ log }: BenchOptions): Promise<Measured> {
  if (!hasPostgres) {
    log("postgres: skipped, there is no server here");
    return { tables: [], ratios: [], charts: [] };
  }
  log(
    `postgres: ${rounds} rounds of ${appends} appends by 1 and by ${threads} writers, and ${readEvents} events read`,
  );
  const server = await startPostgres([]);
  const best = { log1: 0, driver1: 0, log64: 0, readLog: 0, readDriver: 0 };
  try {
    const filled = server.newUrl();
    await fill(filled);
    for (let round = 0; round < rounds; round++) {
      best.driver1 = Math.max(best.driver1, await appendThroughDriver(server.newUrl()));
      best.log1 = Math.max(best.log1, await appendThroughLog(server.newUrl(), 1));
      best.log64 = Math.max(best.log64, await appendThroughLog(server.newUrl(), threads));
      best.readDriver = Math.max(best.readDriver, await readThroughDriver(filled));
      best.readLog = Math.max(best.readLog, await readThroughLog(filled));
    }
  } finally {
    await server.stop();
  }
  const [append, many, read] = [
    best.log1 / best.driver1,
    best.log64 / best.log1,
    best.readLog / best.readDriver,
  ];
  return {
    tables: [
      {
        title: "PostgreSQL, events per second",
        head: ["", "log", "compared with", "", "ratio"],
        rows: [
          ["append, 1 writer", number(best.log1), "bare driver", number(best.driver1), number(append)],
          [`append, ${threads} threads`, number(best.log64), "1 writer", number(best.log1), number(many)],
          [
            `read ${readEvents} events`,
            number(best.readLog),
            "bare driver",
            number(best.readDriver),
            number(read),
          ],
        ],
      },
    ],
    ratios: [
      { name: "PostgreSQL: append, log / bare driver", value: append, target: { atLeast: 0.85 }, unit: "x" },
      { name: `PostgreSQL: append, ${threads} threads / 1`, value: many, target: { atLeast: 4 }, unit: "x" },
      { name: "PostgreSQL: read, log / bare driver", value: read, target: { atLeast: 0.7 }, unit: "x" },
    ],
    charts: [],
  };
}
