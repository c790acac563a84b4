import { expect, test } from "vitest";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { ThreadCreated, ThreadErased } from "../../events/thread.ts";
import { createErasureWatch } from "../../projections/erasure-watch.ts";
import { appendDrafts } from "./append-drafts.ts";

async function segmentOf(log: EventLog, threadId: string) {
  const stream = `thread-${threadId}`;
  return { stream, from: 1, to: (await log.head(stream)).version };
}

test("an erasure is told once, to each lineage that holds the stream", async () => {
  const log = createMemoryLog();
  await appendDrafts(log, "a", [ThreadCreated({})]);
  await appendDrafts(log, "b", [ThreadCreated({})]);
  const lost = createErasureWatch(log);
  const own = async () => lost([await segmentOf(log, "a")]);
  const ofChild = async () => lost([await segmentOf(log, "a"), await segmentOf(log, "b")]);
  expect(await own()).toBe(false);
  await appendDrafts(log, "a", [ThreadErased({})]);
  // The child is asked about for the first time; what it shares with its parent is in memory all the same.
  expect([await ofChild(), await ofChild()]).toEqual([true, false]);
  expect([await own(), await own()]).toEqual([true, false]);
});

test("what was erased before anybody asked is not looked for", async () => {
  const memory = createMemoryLog();
  await appendDrafts(memory, "a", [ThreadCreated({}), ThreadErased({}), ThreadCreated({})]);
  let reads = 0;
  const log: EventLog = {
    ...memory,
    read(...parameters) {
      reads += 1;
      return memory.read(...parameters);
    },
  };
  const lost = createErasureWatch(log);
  expect(await lost([await segmentOf(log, "a")])).toBe(false);
  expect(reads).toBe(0);
  await appendDrafts(memory, "a", [ThreadErased({})]);
  expect(await lost([await segmentOf(log, "a")])).toBe(true);
});

test("a stream is not forgotten together with its erasure, however many others were looked at", async () => {
  const log = createMemoryLog();
  await appendDrafts(log, "a", [ThreadCreated({})]);
  const lost = createErasureWatch(log);
  const own = async () => lost([await segmentOf(log, "a")]);
  await own();
  await appendDrafts(log, "a", [ThreadErased({})]);
  expect(await own()).toBe(true);
  const others = Array.from({ length: 10_000 }, (_, index) => ({
    stream: `thread-${index}`,
    from: 1,
    to: 1,
  }));
  for (const other of others) await lost([other]);
  await appendDrafts(log, "a", [ThreadErased({})]);
  expect([await own(), await own()]).toEqual([true, false]);
});
