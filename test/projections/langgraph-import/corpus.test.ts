import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import type { Json, JsonObject } from "../../../events/json.ts";
import { createMemoryLog } from "../../../events/log/memory.ts";
import { threadFromState } from "../../../projections/langgraph-import/import-thread-state.ts";
import { refold } from "../../../projections/refold.ts";
import { exportThreads } from "../../../projections/thread-export.ts";
import { importThreadState, importThreads } from "../../../projections/thread-import.ts";
import { reading } from "../sample-thread.ts";
import { foldedValues } from "./values-of.ts";

const folders = ["../../fixtures/threads/", "../../../../shared/corpus/"]
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .filter((folder) => existsSync(folder));
const files = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => [name, `${folder}${name}`] as const),
);
const read = (path: string) => JSON.parse(readFileSync(path, "utf8")) as Json & { values: JsonObject };

async function linesOf(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

describe.each(files)("the recorded thread %s", (_name, path) => {
  const document = read(path);

  test("folds to the same values", () => {
    expect(foldedValues(threadFromState(document), document.values)).toEqual(document.values);
  });

  test("becomes small events, a run for each question and an event for each answer and result", () => {
    const { events } = threadFromState(document);
    const messages = document.values.messages as readonly {
      type: string;
      additional_kwargs: { hide_from_ui?: true };
    }[];
    const asked = messages.filter(
      ({ type, additional_kwargs }) => type === "human" && !additional_kwargs.hide_from_ui,
    );
    expect(events.filter(({ type }) => type === "RunStarted")).toHaveLength(asked.length);
    const carried = events.flatMap(({ data }) => {
      const { message, messages: list } = data as { message?: unknown; messages?: readonly unknown[] };
      return message ? [1] : list ? [list.length] : [];
    });
    expect(carried.every((count) => count === 1)).toBe(true);
    expect(carried).toHaveLength(messages.length);
    expect(events.some(({ type, data }) => type === "StateUpdated" && "replace" in (data as object))).toBe(
      false,
    );
  });

  test("gives the same events each time, in order of time", () => {
    const [first, second] = [threadFromState(document), threadFromState(document)];
    expect(second.events).toEqual(first.events);
    const times = first.events.map(({ recordedAt }) => recordedAt);
    expect([...times].sort()).toEqual(times);
    expect(new Set(first.events.map(({ id }) => id)).size).toBe(first.events.length);
  });

  test("imports, exports and imports again byte for byte, and its runs prove their states", async () => {
    const [store, other] = [createMemoryLog(), createMemoryLog()].map((log) => ({
      log,
      blobs: createMemoryBlobs(),
    }));
    if (!store || !other) throw new Error("two stores were made");
    const { threadId, version } = await importThreadState(store, document);
    expect((await importThreadState(store, document)).added).toBe(0);
    const lines = await linesOf(exportThreads(store.log, [threadId]));
    await importThreads(other, lines);
    expect(await linesOf(exportThreads(other.log, [threadId]))).toEqual(lines);
    const folded = await refold(other.log, reading, `thread-${threadId}`, version);
    expect(folded.divergence).toBeUndefined();
    expect(folded.checked).toBeGreaterThan(0);
  });
});
