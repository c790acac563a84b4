import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import Table from "cli-table3";
import { v7 as uuidv7 } from "uuid";
import type { NewEvent } from "../events/envelope.ts";
import { hashEvent } from "../events/hash-chain.ts";
import { openSqlite } from "../events/log/sqlite.ts";
import { loadSqliteDriver } from "../events/log/sqlite-driver.ts";
import { encodeEvent, insertEvent } from "../events/log/sqlite-rows.ts";

/*
 * Appends through the log against the bare SQLite driver, on the same rows: same tables and indexes, same columns, same
 * page size, WAL. The bare side makes the JSON text, the hash and the column values of each event as the log does, and
 * then does nothing but INSERT and COMMIT: no version check, no retries, no results, no promises, one
 * transaction for each macrotask. Both sides run in turn, several times; the best of each counts.
 */
const rounds = 6;

interface Work {
  readonly name: string;
  readonly synchronous: "full" | "normal";
  readonly threads: number;
  readonly appendsPerThread: number;
  readonly target: string;
}

const works: readonly Work[] = [
  { name: "64 threads, FULL", synchronous: "full", threads: 64, appendsPerThread: 200, target: "80 %" },
  { name: "1 thread, FULL", synchronous: "full", threads: 1, appendsPerThread: 500, target: "80 %" },
  { name: "64 threads, NORMAL", synchronous: "normal", threads: 64, appendsPerThread: 200, target: "" },
  { name: "1 thread, NORMAL", synchronous: "normal", threads: 1, appendsPerThread: 2000, target: "" },
];

const text = "What the assistant answers is three hundred characters long in this bench. ".repeat(4);

function makeEvents(count: number): NewEvent[] {
  const runId = uuidv7();
  let causationId = runId;
  return Array.from({ length: count }, (_, index) => {
    const id = uuidv7();
    const message = { id: `message-${index}`, type: "ai", content: text, tool_calls: [] };
    const event: NewEvent = {
      id,
      type: "ModelResponded",
      data: { callId: `call-${index}`, message, latencyMs: 12, finishReason: "stop" },
      recordedAt: new Date().toISOString(),
      metadata: { schema: 1, by: "model:bench", causationId, correlationId: runId, runId, step: index },
    };
    causationId = id;
    return event;
  });
}

interface Measured {
  /** Wall and CPU time for each append, in microseconds. */
  readonly wall: number;
  readonly cpu: number;
}

async function measure(appends: number, run: () => Promise<void>): Promise<Measured> {
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await run();
  const wall = (performance.now() - start) * 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { wall: wall / appends, cpu: (user + system) / appends };
}

async function throughLog(
  path: string,
  work: Work,
  streams: ReadonlyMap<string, NewEvent[]>,
): Promise<Measured> {
  const { log } = await openSqlite(path, { synchronous: work.synchronous });
  const measured = await measure(work.threads * work.appendsPerThread, async () => {
    const thread = async ([stream, events]: [string, NewEvent[]]) => {
      for (const [version, event] of events.entries()) {
        await log.append(stream, [event], { expectedVersion: version });
      }
    };
    await Promise.all([...streams].map(thread));
  });
  await log.close();
  return measured;
}

async function throughDriver(
  path: string,
  work: Work,
  streams: ReadonlyMap<string, NewEvent[]>,
): Promise<Measured> {
  // The tables are those of the log.
  await (await openSqlite(path)).log.close();
  const driver = await loadSqliteDriver();
  const database = driver.open(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${work.synchronous}`);
  const insert = database.prepare(insertEvent);
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const hashes = new Map<string, string>();
  let position = 0;
  const measured = await measure(work.threads * work.appendsPerThread, async () => {
    for (let version = 1; version <= work.appendsPerThread; version++) {
      begin.run();
      let number = 0;
      for (const [stream, events] of streams) {
        number += 1;
        position += 1;
        const event = events[version - 1] as NewEvent;
        const dataText = JSON.stringify(event.data);
        const placed = { ...event, stream, version };
        const previousHash = hashes.get(stream) ?? "0".repeat(64);
        const hash = hashEvent(placed, previousHash);
        hashes.set(stream, hash);
        const sealed = { ...placed, metadata: { ...event.metadata, hash, previousHash } };
        const references = { stream: number, type: 3, by: 4, run: number, causeDistance: 1 };
        insert.run(...encodeEvent(sealed, dataText, position, references));
      }
      commit.run();
      await nextTurn();
    }
  });
  database.close();
  return measured;
}

function best(results: readonly Measured[]): Measured {
  return {
    wall: Math.min(...results.map(({ wall }) => wall)),
    cpu: Math.min(...results.map(({ cpu }) => cpu)),
  };
}

const perSecond = (microseconds: number) => Math.round(1_000_000 / microseconds).toLocaleString("en");
const percent = (ratio: number) => `${Math.round(ratio * 100)} %`;

const folder = await mkdtemp(join(tmpdir(), "threadfold-bench-"));
const { name: driverName } = await loadSqliteDriver();
const table = new Table({
  style: { head: [], border: [] },
  head: ["work", "driver /s", "log /s", "ratio", "target", "driver CPU µs", "log CPU µs", "CPU ratio"],
});
for (const work of works) {
  const log: Measured[] = [];
  const driver: Measured[] = [];
  for (let round = 0; round < rounds; round++) {
    const streams = new Map(
      Array.from(
        { length: work.threads },
        () => [`thread-${uuidv7()}`, makeEvents(work.appendsPerThread)] as const,
      ),
    );
    const path = () => join(folder, `${randomBytes(8).toString("hex")}.db`);
    driver.push(await throughDriver(path(), work, streams));
    log.push(await throughLog(path(), work, streams));
  }
  const [ours, bare] = [best(log), best(driver)];
  table.push([
    work.name,
    perSecond(bare.wall),
    perSecond(ours.wall),
    percent(bare.wall / ours.wall),
    work.target,
    bare.cpu.toFixed(0),
    ours.cpu.toFixed(0),
    percent(bare.cpu / ours.cpu),
  ]);
}
await rm(folder, { recursive: true });
console.log(
  `Appends of one event each (${JSON.stringify(makeEvents(1)[0]?.data).length} B of data), best of ${rounds}.`,
);
console.log(
  `Node ${process.version}, ${driverName}. The bare driver makes the same text, hash and columns, then only inserts.`,
);
console.log(table.toString());
