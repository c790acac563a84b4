import { beforeEach, describe, expect, test } from "vitest";
import { createMemoryBlobs } from "../../events/blobs/memory.ts";
import { InvalidEventError } from "../../events/event-registry.ts";
import { ImagesViewed } from "../../events/images.ts";
import { StreamDeletedError } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { MessagesReplaced } from "../../events/messages.ts";
import { ThreadCreated, ThreadForked } from "../../events/thread.ts";
import { ExportFormatError } from "../../projections/export-lines.ts";
import { UnknownThreadError } from "../../projections/lineage.ts";
import { BrokenExportError } from "../../projections/read-export.ts";
import { exportThreads } from "../../projections/thread-export.ts";
import { importThreads, MissingParentError, ThreadDiffersError } from "../../projections/thread-import.ts";
import { FoldError } from "../../reducers/thread-state.ts";
import { newEvent } from "../events/log/new-events.ts";
import { appendDrafts } from "./append-drafts.ts";
import { recordFamily, recordTurn } from "./sample-thread.ts";

async function linesOf(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

const emptyStore = () => ({ log: createMemoryLog(), blobs: createMemoryBlobs() });

let source: ReturnType<typeof emptyStore>;
let exported: string[];

beforeEach(async () => {
  source = emptyStore();
  await recordFamily(source.log);
  exported = await linesOf(exportThreads(source.log, ["child"]));
});

/** The export with one line changed. */
const withLine = (at: number, change: (line: string) => string) =>
  exported.map((line, index) => (index === at ? change(line) : line));

test("an event whose data is not what its type says is refused, with its place, and nothing is written", async () => {
  await appendDrafts(source.log, "bad", [ThreadCreated({})]);
  const bad = newEvent({ type: "TitleSet", data: { title: 5, origin: "user" } });
  await source.log.append("thread-bad", [bad], { expectedVersion: 1 });
  const target = emptyStore();
  const importing = importThreads(target, await linesOf(exportThreads(source.log, ["bad"])));
  await expect(importing).rejects.toThrow(InvalidEventError);
  await expect(importing).rejects.toThrow("Event TitleSet is not valid: at thread-bad@2; title:");
  expect(await target.log.streams()).toEqual([]);
});

describe("an export", () => {
  test("begins with a header and holds the parents of forks before them", () => {
    expect(JSON.parse(exported[0] ?? "")).toEqual({
      format: "threadfold.events",
      schemaVersion: 1,
      threads: ["child"],
      streams: { "thread-parent": 15, "thread-child": 5 },
    });
    const streams = exported.slice(1).map((line) => JSON.parse(line).stream as string);
    expect([...new Set(streams)]).toEqual(["thread-parent", "thread-child"]);
    expect(exported).toHaveLength(1 + 15 + 5);
  });

  test("goes into another store and comes out byte for byte the same", async () => {
    const target = emptyStore();
    // Other positions, so that nothing of the first store can leak into the text.
    await recordTurn(target.log, "other", "x");
    await importThreads(target, exported);
    expect(await linesOf(exportThreads(target.log, ["child"]))).toEqual(exported);
  });

  test("keeps ids, versions, times, metadata and hashes", async () => {
    const target = emptyStore();
    await importThreads(target, exported);
    for (const stream of ["thread-parent", "thread-child"]) {
      const [before, after] = await Promise.all(
        [source.log, target.log].map(async (log) => {
          const events = [];
          for await (const page of log.read(stream))
            events.push(...page.map(({ position: _, ...rest }) => rest));
          return events;
        }),
      );
      expect(after).toEqual(before);
    }
  });

  test("of an unknown thread fails before the first line", async () => {
    await expect(linesOf(exportThreads(source.log, ["child", "nobody"]))).rejects.toThrow(UnknownThreadError);
  });

  test("carries blobs when it is given their store, each once", async () => {
    const { sha256 } = await source.blobs.put("picture", "image/png");
    const images = {
      "/a.png": { mime_type: "image/png", sha256 },
      "/b.png": { mime_type: "image/png", sha256 },
    };
    await appendDrafts(source.log, "child", [ImagesViewed({ images })]);
    const withBlobs = await linesOf(exportThreads(source.log, ["child"], { blobs: source.blobs }));
    const last = JSON.parse(withBlobs.at(-1) ?? "");
    expect(last).toEqual({ blob: sha256, mimeType: "image/png", data: "cGljdHVyZQ==" });
    const target = emptyStore();
    await importThreads(target, withBlobs);
    expect(new TextDecoder().decode(await target.blobs.get(sha256))).toBe("picture");
    expect(await linesOf(exportThreads(target.log, ["child"], { blobs: target.blobs }))).toEqual(withBlobs);
    expect((await linesOf(exportThreads(source.log, ["child"]))).join("")).not.toContain("cGljdHVyZQ==");
  });
});

describe("an import", () => {
  test("again adds nothing", async () => {
    const target = emptyStore();
    expect(await importThreads(target, exported)).toEqual([
      { threadId: "parent", version: 15, added: 15 },
      { threadId: "child", version: 5, added: 5 },
    ]);
    expect(await importThreads(target, exported)).toEqual([
      { threadId: "parent", version: 15, added: 0 },
      { threadId: "child", version: 5, added: 0 },
    ]);
  });

  test("of a thread that has grown adds what is new, an older export adds nothing", async () => {
    const target = emptyStore();
    await importThreads(target, exported);
    await recordTurn(source.log, "child", "c2");
    const grown = await linesOf(exportThreads(source.log, ["child"]));
    expect(await importThreads(target, grown)).toContainEqual({ threadId: "child", version: 9, added: 4 });
    expect(await importThreads(target, exported)).toContainEqual({ threadId: "child", version: 9, added: 0 });
  });

  test("never touches a thread that went another way, and says where", async () => {
    const target = emptyStore();
    await appendDrafts(target.log, "child", [ThreadCreated({})]);
    const error = await importThreads(target, exported).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ThreadDiffersError);
    expect(error).toMatchObject({ thread: "child", version: 1 });
    expect((await target.log.head("thread-parent")).version).toBe(0);
  });

  test("into a deleted thread is refused", async () => {
    const target = emptyStore();
    await appendDrafts(target.log, "child", [ThreadCreated({})]);
    await target.log.erase("thread-child");
    await expect(importThreads(target, exported)).rejects.toThrow(StreamDeletedError);
  });

  test("takes a fork whose parent is in the store already, and only with the history it stands on", async () => {
    const childOnly = [
      JSON.stringify({ ...JSON.parse(exported[0] ?? ""), streams: { "thread-child": 5 } }),
      ...exported.filter((line) => line.includes('"stream":"thread-child"')),
    ];
    await expect(importThreads(emptyStore(), childOnly)).rejects.toThrow(MissingParentError);
    const target = emptyStore();
    await importThreads(target, await linesOf(exportThreads(source.log, ["parent"])));
    expect(await importThreads(target, childOnly)).toEqual([{ threadId: "child", version: 5, added: 5 }]);
    const stranger = emptyStore();
    await recordFamily(stranger.log);
    await stranger.log.erase("thread-child");
    await expect(importThreads({ ...stranger }, childOnly)).rejects.toThrow(StreamDeletedError);
    const other = emptyStore();
    await appendDrafts(other.log, "parent", [ThreadCreated({})]);
    for (const run of ["a", "b"]) await recordTurn(other.log, "parent", run);
    await expect(importThreads(other, childOnly)).rejects.toThrow(/another history at version 5/);
  });

  test("refuses events that do not fold and writes nothing", async () => {
    await appendDrafts(source.log, "parent", [
      MessagesReplaced({ messages: [{ id: "nobody", type: "human", content: "" }] }),
    ]);
    const target = emptyStore();
    const lines = await linesOf(exportThreads(source.log, ["parent"]));
    await expect(importThreads(target, lines)).rejects.toThrow(FoldError);
    expect(await target.log.streams()).toEqual([]);
  });

  test("refuses a fork of a thread that is its own ancestor", async () => {
    const target = emptyStore();
    await appendDrafts(source.log, "loop", [ThreadForked({ parentThreadId: "loop", parentVersion: 1 })]);
    const lines = await linesOf(exportThreads(source.log, ["loop"]));
    await expect(importThreads(target, lines)).rejects.toThrow(/its own ancestor/);
  });
});

describe("a damaged export is refused with the place of the damage", () => {
  test.each([
    ["content", (line: string) => line.replace("Frage r1", "Frage r9"), "hash"],
    ["time", (line: string) => line.replace(/"recordedAt":"\d{4}/, '"recordedAt":"1999'), "hash"],
    ["emitter", (line: string) => line.replace('"by":"user"', '"by":"client"'), "hash"],
    [
      "previous hash",
      (line: string) =>
        line.replace(/"previousHash":"(.)/, (_, digit) => `"previousHash":"${digit === "0" ? "1" : "0"}`),
      "previous-hash",
    ],
  ])("changed %s", async (_what, change, reason) => {
    const target = emptyStore();
    const line = exported.findIndex((text) => text.includes("Frage r1"));
    const damaged = withLine(line, change);
    expect(damaged[line]).not.toBe(exported[line]);
    const error = await importThreads(target, damaged).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BrokenExportError);
    expect(error).toMatchObject({ line: line + 1, link: { stream: "thread-parent", version: 3, reason } });
    expect(await target.log.streams()).toEqual([]);
  });

  test("an event that was taken out", async () => {
    const without = exported.filter((_, index) => index !== 4);
    await expect(importThreads(emptyStore(), without)).rejects.toMatchObject({
      line: 5,
      link: { version: 5, reason: "version-gap" },
    });
  });

  test("a file that was cut short, in a line or between lines", async () => {
    const half = withLine(exported.length - 1, (line) => line.slice(0, 40));
    await expect(importThreads(emptyStore(), half)).rejects.toThrow(/Line 21 .* no JSON/);
    await expect(importThreads(emptyStore(), exported.slice(0, -1))).rejects.toThrow(/4 of the 5 events/);
  });

  test.each([
    ["no header", "{}", 1],
    ["another format", '{"format":"csv"}', 1],
    ["newer form", '{"format":"threadfold.events","schemaVersion":99,"threads":[],"streams":{}}', 1],
  ])("%s", async (_what, header, line) => {
    const error = await importThreads(emptyStore(), [header]).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ExportFormatError);
    expect(error).toMatchObject({ line });
  });

  test.each([
    ["an event without an id", (line: string) => line.replace(/"id":"[^"]+"/, '"id":""'), /Line 3 .*id/],
    ["an event without data", (line: string) => line.replace('"data":', '"date":'), /Line 3 .*data/],
    ["a text that is no JSON", () => "hello", /Line 3 .*no JSON/],
    ["half a character", (line: string) => line.replace('"owner":"', '"owner":"\\ud800'), /Line 3 /],
  ])("%s", async (_what, change, message) => {
    await expect(importThreads(emptyStore(), withLine(2, change))).rejects.toThrow(message);
  });

  test("an empty file", async () => {
    await expect(importThreads(emptyStore(), [])).rejects.toThrow(/empty/);
  });

  test("a blob with other bytes", async () => {
    const blob = JSON.stringify({ blob: "0".repeat(64), mimeType: "text/plain", data: "aGk=" });
    await expect(importThreads(emptyStore(), [...exported, blob])).rejects.toThrow(/Line 22 .*another hash/);
  });
});
