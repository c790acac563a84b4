import { threadStream } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { writeLongThread } from "../long-thread.ts";
import { type BenchOptions, type Measured, milliseconds } from "./table.ts";

const eventCount = 100_000;
const rounds = 3;

function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Parsing and folding 100,000 stored events, against parsing alone. */
export async function measureRefold({ log: say }: BenchOptions): Promise<Measured> {
  say(`refold of ${eventCount} events`);
  const log = createMemoryLog();
  await writeLongThread(log, "bench", eventCount);
  const rows: { type: string; version: number; schema: number; text: string }[] = [];
  for await (const page of log.read(threadStream("bench"))) {
    for (const { type, version, data, metadata } of page) {
      rows.push({ type, version, schema: metadata.schema, text: JSON.stringify(data) });
    }
  }
  await log.close();
  const reducer = createThreadReducer({ openFields: true });
  const registry = createEventRegistry();
  function* events() {
    for (const { type, version, schema, text } of rows) {
      yield { type, version, data: registry.upcast(type, JSON.parse(text), schema) };
    }
  }
  let [bare, ours] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < rounds; round++) {
    bare = Math.min(
      bare,
      cpuOf(() => rows.map(({ text }) => JSON.parse(text))),
    );
    ours = Math.min(
      ours,
      cpuOf(() => reducer.fold(events())),
    );
  }
  const value = bare / ours;
  return {
    tables: [
      {
        title: `Refold of ${rows.length} events, CPU`,
        head: ["JSON.parse alone", "parse, upcast and fold", "share"],
        rows: [[milliseconds(bare), milliseconds(ours), `${(100 * value).toFixed(0)} %`]],
      },
    ],
    ratios: [{ name: "refold, speed / JSON.parse alone", value, target: { atLeast: 0.5 }, unit: "x" }],
    charts: [],
  };
}
