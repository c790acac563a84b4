import Table from "cli-table3";
import type { Pool } from "pg";
import { v7 as uuidv7 } from "uuid";
import type { NewEvent } from "../events/envelope.ts";
import { chainStart, sealEvents } from "../events/hash-chain.ts";
import { openPostgres } from "../events/log/postgres.ts";
import { createPostgresPool, parsePostgresUrl } from "../events/log/postgres-driver.ts";
import { startPostgres } from "../test/events/log/postgres-server.ts";

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

const text = "What the assistant answers is three hundred characters long in this bench. ".repeat(4);

function makeEvents(count: number): NewEvent[] {
  const runId = uuidv7();
  return Array.from({ length: count }, (_, index) => {
    const id = uuidv7();
    const message = { id: `message-${index}`, type: "ai", content: text, tool_calls: [] };
    return {
      id,
      type: "ModelResponded",
      data: { callId: `call-${index}`, message, latencyMs: 12, finishReason: "stop" },
      recordedAt: new Date().toISOString(),
      metadata: { schema: 1, by: "model:bench", causationId: id, correlationId: runId, runId, step: index },
    };
  });
}

/** Things done for each second. */
async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (count / (performance.now() - start)) * 1000;
}

const server = await startPostgres([]);

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

try {
  const best = { log1: 0, driver1: 0, log64: 0, readLog: 0, readDriver: 0 };
  const filled = server.newUrl();
  await fill(filled);
  for (let round = 0; round < rounds; round++) {
    best.driver1 = Math.max(best.driver1, await appendThroughDriver(server.newUrl()));
    best.log1 = Math.max(best.log1, await appendThroughLog(server.newUrl(), 1));
    best.log64 = Math.max(best.log64, await appendThroughLog(server.newUrl(), threads));
    best.readDriver = Math.max(best.readDriver, await readThroughDriver(filled));
    best.readLog = Math.max(best.readLog, await readThroughLog(filled));
  }
  const table = new Table({ head: ["PostgreSQL", "log /s", "compared with", "/s", "ratio", "target"] });
  const row = (name: string, ours: number, other: string, theirs: number, target: string) =>
    table.push([name, ours.toFixed(0), other, theirs.toFixed(0), (ours / theirs).toFixed(2), target]);
  row("append, 1 writer", best.log1, "bare driver", best.driver1, ">= 0.85");
  row(`append, ${threads} threads`, best.log64, "1 writer", best.log1, ">= 4");
  row(`read ${readEvents} events`, best.readLog, "bare driver", best.readDriver, ">= 0.70");
  process.stdout.write(`${table.toString()}\n`);
} finally {
  await server.stop();
}
