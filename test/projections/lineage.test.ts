import { describe, expect, test } from "vitest";
import { threadStream } from "../../events/envelope.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { ThreadCreated, ThreadForked, ThreadRewound } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import {
  BrokenLineageError,
  effectiveEvents,
  readLineage,
  resolveLineage,
  UnknownThreadError,
  VersionOutOfRangeError,
} from "../../projections/lineage.ts";
import { createLineageCache } from "../../projections/lineage-cache.ts";
import { recordLog } from "./record-log.ts";

const titles = (count: number) =>
  Array.from({ length: count }, (_, n) => TitleSet({ title: `t${n}`, origin: "user" }));
const rewound = (toVersion: number) => ThreadRewound({ toVersion });
const forked = (parentThreadId: string, parentVersion: number) =>
  ThreadForked({ parentThreadId, parentVersion });

async function lineageOf(log: ReturnType<typeof createMemoryLog>, threadId: string, version: number) {
  const segments = await resolveLineage(log, threadStream(threadId), version);
  return segments.map(({ stream, from, to }) => `${stream.slice("thread-".length)} ${from}-${to}`);
}

describe("a lineage", () => {
  test("of a plain thread is all of it up to the version", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [ThreadCreated({}), ...titles(4)]);
    expect(await lineageOf(log, "a", 3)).toEqual(["a 1-3"]);
    expect(await lineageOf(log, "a", 0)).toEqual([]);
  });

  test("leaves out what a rewind abandoned, and keeps it for the versions before", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [...titles(5), rewound(2), ...titles(2)]);
    expect(await lineageOf(log, "a", 8)).toEqual(["a 1-2", "a 6-8"]);
    expect(await lineageOf(log, "a", 5)).toEqual(["a 1-5"]);
  });

  test("follows rewinds into branches that were abandoned", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [...titles(5), rewound(2), ...titles(2), rewound(4), ...titles(1), rewound(7)]);
    expect(await lineageOf(log, "a", 10)).toEqual(["a 1-4", "a 9-10"]);
    expect(await lineageOf(log, "a", 11)).toEqual(["a 1-2", "a 6-7", "a 11-11"]);
  });

  test("of a rewind to the beginning has only what comes after", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [...titles(2), rewound(0), ...titles(1)]);
    expect(await lineageOf(log, "a", 4)).toEqual(["a 3-4"]);
  });

  test("of a fork begins with the parent's, to any depth", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [...titles(3), rewound(1), ...titles(2)]);
    await recordLog(log, "b", [forked("a", 5), ...titles(2)]);
    await recordLog(log, "c", [forked("b", 2), ...titles(1)]);
    expect(await lineageOf(log, "c", 2)).toEqual(["a 1-1", "a 4-5", "b 1-2", "c 1-2"]);
    expect(await lineageOf(log, "b", 1)).toEqual(["a 1-1", "a 4-5", "b 1-1"]);
    expect(await lineageOf(log, "b", 0)).toEqual([]);
  });

  test("of a fork that was rewound before its fork has no parent", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", titles(3));
    await recordLog(log, "b", [forked("a", 3), ...titles(1), rewound(0)]);
    expect(await lineageOf(log, "b", 3)).toEqual(["b 3-3"]);
  });

  test("takes a rewind to itself or beyond as none", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [...titles(2), rewound(9), ...titles(1)]);
    expect(await lineageOf(log, "a", 4)).toEqual(["a 1-4"]);
  });

  test("is known again without reading, and grows with the thread", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [...titles(5), rewound(2)]);
    let reads = 0;
    const cache = createLineageCache({
      ...log,
      read: (...given) => {
        reads += 1;
        return log.read(...given);
      },
    });
    await cache.resolve("thread-a");
    expect((await cache.resolve("thread-a", 4)).segments).toEqual([{ stream: "thread-a", from: 1, to: 4 }]);
    expect(reads).toBe(1);
    await recordLog(log, "a", [rewound(1)]);
    expect(await cache.resolve("thread-a")).toEqual({
      version: 7,
      segments: [
        { stream: "thread-a", from: 1, to: 1 },
        { stream: "thread-a", from: 7, to: 7 },
      ],
    });
  });

  test("gives its events in pages, of the types that are asked for", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [...titles(3), rewound(1), ...titles(1)]);
    await recordLog(log, "b", [forked("a", 5), ...titles(1)]);
    const read = async (types?: string[]) => {
      const found: string[] = [];
      for await (const page of readLineage(log, "thread-b", 2, types ? { types } : {})) {
        found.push(...page.map(({ stream, version }) => `${stream} ${version}`));
      }
      return found;
    };
    expect(await read()).toEqual(["thread-a 1", "thread-a 4", "thread-a 5", "thread-b 1", "thread-b 2"]);
    expect(await read(["TitleSet"])).toEqual(["thread-a 1", "thread-a 5", "thread-b 2"]);
  });
});

describe("a lineage that is not there", () => {
  test("of an unknown or deleted thread is refused by name", async () => {
    const log = createMemoryLog();
    await recordLog(log, "gone", titles(1));
    await log.erase("thread-gone");
    await expect(resolveLineage(log, "thread-nope", 1)).rejects.toThrow(UnknownThreadError);
    await expect(resolveLineage(log, "thread-gone", 1)).rejects.toMatchObject({ thread: "gone" });
  });

  test.each([6, -1, 1.5, Number.NaN])("at version %d of a thread with 5 is refused", async (version) => {
    const log = createMemoryLog();
    await recordLog(log, "a", titles(5));
    const refusal = resolveLineage(log, "thread-a", version);
    await expect(refusal).rejects.toThrow(VersionOutOfRangeError);
    await expect(refusal).rejects.toMatchObject({ thread: "a", version, head: 5 });
  });

  test.each([
    ["is missing", "nope", 3],
    ["is shorter than the fork says", "a", 9],
    ["is the fork itself", "b", 1],
  ])("of a fork whose parent %s is refused, and names the fork", async (_, parent, version) => {
    const log = createMemoryLog();
    await recordLog(log, "a", titles(5));
    await recordLog(log, "b", [forked(parent, version)]);
    const refusal = resolveLineage(log, "thread-b", 1);
    await expect(refusal).rejects.toThrow(BrokenLineageError);
    await expect(refusal).rejects.toMatchObject({ thread: "b" });
  });
});

test("the effective events of a stream in memory are those of its lineage", async () => {
  const log = createMemoryLog();
  const events = await recordLog(log, "a", [
    ...titles(5),
    rewound(2),
    ...titles(2),
    rewound(7),
    ...titles(1),
  ]);
  expect(effectiveEvents(events).map(({ version }) => version)).toEqual([1, 2, 6, 7, 9, 10]);
  expect(effectiveEvents(events.slice(0, 5))).toEqual(events.slice(0, 5));
  expect(effectiveEvents([])).toEqual([]);
});
