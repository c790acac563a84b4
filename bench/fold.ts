import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Table from "cli-table3";
import { threadStream } from "../events/envelope.ts";
import { createEventRegistry } from "../events/event-registry.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { SideStore } from "../events/log/side-store.ts";
import { openSqlite } from "../events/log/sqlite.ts";
import { snapshotKind } from "../projections/snapshots.ts";
import { createStateReader } from "../projections/state-at.ts";
import { createThreadReducer } from "../reducers/built-in.ts";
import { messageEventTypes } from "../reducers/messages.ts";
import { writeLongThread } from "./long-thread.ts";

/*
 * Folding against JSON.parse alone, and states at random versions of a long thread. Both sides of each comparison run in
 * this process, in turn, several times; the best of each counts. Times are CPU times of the process, so that what else
 * the machine does falls out; single reads are measured by the wall as well.
 */
const eventCount = Number(process.argv[2] ?? 100_000);
const rounds = 3;
const threadId = "bench";
const reducer = createThreadReducer({ openFields: true });
const registry = createEventRegistry();
const table = new Table({ head: ["what", "bare", "ours", "ratio", "target"] });

interface StoredRow {
  readonly type: string;
  readonly schema: number;
  readonly version: number;
  readonly data: string;
}

async function cpuOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Best CPU time of each side, in milliseconds; the sides take turns. */
async function compare(bare: () => unknown, ours: () => unknown): Promise<[number, number]> {
  let best: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds; round++) {
    best = [Math.min(best[0], await cpuOf(bare)), Math.min(best[1], await cpuOf(ours))];
  }
  return best;
}

function percentile(values: readonly number[], share: number): number {
  return (
    values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
  );
}

/** Versions spread over the thread, the same in every run. */
function versionsOf(head: number, count: number): number[] {
  let seed = 1;
  return Array.from({ length: count }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return 1 + (seed % head);
  });
}

const milliseconds = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const percent = (value: number) => `${(100 * value).toFixed(0)} %`;

function addComparison(what: string, bare: number, ours: number, target: string): void {
  table.push([what, milliseconds(bare), milliseconds(ours), percent(bare / ours), target]);
}

async function rowsOf(log: EventLog): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  for await (const page of log.read(threadStream(threadId))) {
    for (const { type, version, data, metadata } of page) {
      rows.push({ type, version, schema: metadata.schema, data: JSON.stringify(data) });
    }
  }
  return rows;
}

async function benchFold(rows: readonly StoredRow[]): Promise<void> {
  const parseAndDrop = () => {
    for (const { data } of rows) JSON.parse(data);
  };
  const parseAll = () => rows.map(({ data }) => JSON.parse(data));
  const parseAndFold = () => {
    function* events() {
      for (const { type, version, schema, data } of rows) {
        yield { type, version, data: registry.upcast(type, JSON.parse(data), schema) };
      }
    }
    return reducer.fold(events());
  };
  const [bare, ours] = await compare(parseAll, parseAndFold);
  addComparison(`parse ${rows.length} rows into a list | parse and fold them`, bare, ours, ">= 50 %");
  const [dropped] = await compare(parseAndDrop, () => undefined);
  addComparison("the same rows parsed and dropped at once", dropped, ours, "");
}

function open(log: EventLog, side: SideStore, cachedMessageBytes?: number) {
  const messages = cachedMessageBytes === undefined ? {} : { cachedMessageBytes };
  return createStateReader({ log, side, reducer, registry, cachedStates: 0, ...messages });
}

/** Whole states at random versions of one reader, against JSON.parse over the messages of the same states. */
async function benchWholeStates(log: EventLog, side: SideStore, head: number): Promise<void> {
  const reader = open(log, side);
  const { messages } = await reader.stateAt(threadId);
  const texts = (messages as unknown[]).map((message) => JSON.stringify(message));
  const versions = versionsOf(head, 20);
  const lengths: number[] = [];
  for (const version of versions)
    lengths.push(((await reader.stateAt(threadId, version)).messages as unknown[]).length);
  const parseMessages = () => {
    for (const length of lengths) {
      const parsed = texts.slice(0, length).map((text) => JSON.parse(text));
      if (parsed.length !== length) throw new Error("A message is missing.");
    }
  };
  const readStates = async () => {
    for (const version of versions) await reader.stateAt(threadId, version);
  };
  const [bare, ours] = await compare(parseMessages, readStates);
  const count = versions.length;
  addComparison(
    `parse the messages | whole state, at ${count} versions`,
    bare / count,
    ours / count,
    ">= 50 %",
  );
}

/** A whole state that no reader has seen, against reading and parsing the same rows from the log. */
async function benchColdState(log: EventLog, side: SideStore): Promise<void> {
  const read = async () => {
    const kept: unknown[] = [];
    const pages = log.readForFold?.(threadStream(threadId), { types: messageEventTypes }) ?? [];
    for await (const page of pages) kept.push(page);
    return kept;
  };
  const [bare, ours] = await compare(read, () => open(log, side, 0).stateAt(threadId));
  addComparison("read and parse the rows of messages | whole state, cold", bare, ours, "");
}

async function benchFields(log: EventLog, side: SideStore, head: number): Promise<void> {
  const first = open(log, side);
  const start = performance.now();
  await first.fieldsAt(threadId);
  const fillMs = performance.now() - start;
  await first.settled();
  table.push(["fields at the head, no snapshots yet", "", milliseconds(fillMs), "", ""]);

  const reader = open(log, side);
  const wall: number[] = [];
  const cpu: number[] = [];
  for (const version of versionsOf(head, 1000)) {
    const before = performance.now();
    cpu.push(await cpuOf(() => reader.fieldsAt(threadId, version)));
    wall.push(performance.now() - before);
  }
  for (const [name, share, target] of [
    ["p50", 0.5, "<= 5 ms"],
    ["p99", 0.99, "<= 20 ms"],
  ] as const) {
    const [byWall, byCpu] = [percentile(wall, share), percentile(cpu, share)];
    const ours = `${milliseconds(byWall)} (CPU ${milliseconds(byCpu)})`;
    table.push([`fields at 1,000 random versions, ${name}`, "", ours, "", target]);
  }
}

async function benchHistory(log: EventLog, side: SideStore): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    const reader = createStateReader({ log, side, reducer, registry });
    const before = performance.now();
    const rows = await reader.history(threadId, { limit: 10 });
    for (const row of rows) await row.fields();
    times.push(performance.now() - before);
  }
  table.push([
    "ten coarse rows at the end, with fields",
    "",
    milliseconds(percentile(times, 0.5)),
    "",
    "<= 10 ms",
  ]);
}

async function benchBytes(side: SideStore, rows: readonly StoredRow[]): Promise<void> {
  const records = await side.list(snapshotKind);
  const snapshotBytes = records.reduce(
    (sum, { key, value }) => sum + key.length + JSON.stringify(value).length,
    0,
  );
  const dataBytes = rows.reduce((sum, { data }) => sum + data.length, 0);
  table.push([
    `bytes of data | of ${records.length} snapshots`,
    String(dataBytes),
    String(snapshotBytes),
    percent(snapshotBytes / dataBytes),
    "<= 20 %",
  ]);
}

const folder = await mkdtemp(join(tmpdir(), "threadfold-fold-"));
try {
  const { log, side } = await openSqlite(join(folder, "bench.db"), { synchronous: "normal" });
  const head = await writeLongThread(log, threadId, eventCount);
  const rows = await rowsOf(log);
  await benchFold(rows);
  await benchFields(log, side, head);
  await benchWholeStates(log, side, head);
  await benchColdState(log, side);
  await benchHistory(log, side);
  await benchBytes(side, rows);
  console.log(`A thread of ${head} events in SQLite. All rows of the table are from this one run.`);
  console.log(table.toString());
  await log.close();
} finally {
  await rm(folder, { recursive: true, force: true });
}
