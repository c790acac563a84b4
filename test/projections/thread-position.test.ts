import { beforeEach, describe, expect, test } from "vitest";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { RunCompleted, RunInterrupted, RunStarted } from "../../events/run.ts";
import { HeadNamed, ThreadCreated } from "../../events/thread.ts";
import { UnknownThreadError, VersionOutOfRangeError } from "../../projections/lineage.ts";
import {
  AmbiguousThreadError,
  PositionSyntaxError,
  parsePosition,
  resolvePosition,
  resolveThread,
  UnknownRunError,
} from "../../projections/thread-position.ts";
import { appendDrafts } from "./append-drafts.ts";

const said = (id: string) => MessagesAdded({ messages: [{ id, type: "human", content: id }] });
const started = (runId: string, resumes?: string) =>
  RunStarted({ runId, owner: "test", ...(resumes !== undefined && { resumes }) });

let log: EventLog;

beforeEach(async () => {
  log = createMemoryLog();
  await appendDrafts(log, "abc-1", [ThreadCreated({})], { recordedAt: "2026-01-01T10:00:00.000Z" });
  await appendDrafts(log, "abc-1", [started("run-a"), said("a"), RunCompleted({ runId: "run-a" })], {
    recordedAt: "2026-01-01T11:00:00.000Z",
  });
  await appendDrafts(log, "abc-1", [started("run-b"), said("b"), RunCompleted({ runId: "run-b" })], {
    recordedAt: "2026-01-02T00:00:00.000Z",
  });
  await appendDrafts(log, "abd-2", [ThreadCreated({})]);
});

const versionOf = async (text: string) => (await resolvePosition(log, text)).version;

describe("a position in a thread", () => {
  test.each([
    ["abc-1", 7],
    ["abc-1@head", 7],
    ["abc-1@0", 0],
    ["abc-1@3", 3],
    ["abc-1@-5", 2],
    ["abc-1@-7", 0],
    ["abc-1@run:run-a", 4],
    ["abc-1@run:run-a:end", 4],
    ["abc-1@run:run-a:start", 1],
    ["abc-1@run:run-b:start", 4],
    ["abc-1@2026-01-01T11:00:00.000Z", 4],
    ["abc-1@2026-01-01T10:59Z", 1],
    ["abc-1@2026-01-02", 7],
    ["abc-1@2026-01-01T12:00+02:00", 1],
    ["abc-1@2025-12-31", 0],
    ["abc@2", 2],
  ])("%s means version %i", async (text, version) => {
    expect(await versionOf(text)).toBe(version);
  });

  test("says which thread, stream and head it belongs to", async () => {
    expect(await resolvePosition(log, "abc@2")).toEqual({
      threadId: "abc-1",
      stream: "thread-abc-1",
      version: 2,
      head: 7,
    });
  });

  test("an open run ends at the head, an interrupted one where its last part ends", async () => {
    const interrupt = { id: "i", kind: "question", value: null };
    await appendDrafts(log, "abc-1", [
      started("c-1"),
      RunInterrupted({ runId: "c-1", interrupts: [interrupt] }),
    ]);
    expect(await versionOf("abc-1@run:c-1")).toBe(9);
    await appendDrafts(log, "abc-1", [started("c-1", "c-1"), said("c")]);
    expect(await versionOf("abc-1@run:c-1")).toBe(11);
    expect(await versionOf("abc-1@run:c-1:start")).toBe(7);
  });

  test("a named head is found until the name is taken away", async () => {
    await appendDrafts(log, "abc-1", [HeadNamed({ name: "before-edit", version: 4 })]);
    expect(await versionOf("abc-1@before-edit")).toBe(4);
    await appendDrafts(log, "abc-1", [HeadNamed({ name: "before-edit", version: null })]);
    await expect(versionOf("abc-1@before-edit")).rejects.toThrow(PositionSyntaxError);
  });
});

describe("a thread id", () => {
  test("may be cut short where that fits one thread", async () => {
    expect(await resolveThread(log, "abd")).toBe("abd-2");
  });

  test("wins over longer ids that begin with it", async () => {
    await appendDrafts(log, "ab", [ThreadCreated({})]);
    expect(await resolveThread(log, "ab")).toBe("ab");
  });

  test("that fits several threads lists them", async () => {
    const error = await resolveThread(log, "ab").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AmbiguousThreadError);
    expect(error).toMatchObject({ candidates: ["abc-1", "abd-2"] });
  });

  test("that fits many threads lists some and says so", async () => {
    for (let n = 0; n < 9; n++) await appendDrafts(log, `zz${n}`, [ThreadCreated({})]);
    const error = await resolveThread(log, "zz").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ candidates: ["zz0", "zz1", "zz2", "zz3", "zz4", "…"] });
  });

  test.each(["nothing", "with space", "é"])("that fits none is unknown: %s", async (text) => {
    await expect(resolveThread(log, text)).rejects.toThrow(UnknownThreadError);
  });

  test("of a deleted thread is unknown as a position", async () => {
    await log.erase("thread-abd-2");
    await expect(resolvePosition(log, "abd-2")).rejects.toThrow(UnknownThreadError);
  });
});

describe("what is no position is refused", () => {
  test.each([
    "@3",
    "",
    "abc-1@",
    "abc-1@run:",
    "abc-1@3.5",
    "abc-1@2026-13-45",
    "abc-1@+3",
    "abc-1@no-such-name",
  ])("syntax: %s", async (text) => {
    await expect(resolvePosition(log, text)).rejects.toThrow(PositionSyntaxError);
  });

  test.each([
    ["abc-1@8", "no version 8:"],
    ["abc-1@-8", "no version -8 (8 before the head):"],
  ])("out of range, with what was written and how far versions go: %s", async (text, written) => {
    const resolving = resolvePosition(log, text);
    await expect(resolving).rejects.toThrow(VersionOutOfRangeError);
    await expect(resolving).rejects.toThrow(`${written} its versions are whole numbers from 0 to 7.`);
  });

  test("an unknown run, and the beginning of an id that fits two runs", async () => {
    await expect(resolvePosition(log, "abc-1@run:zzz")).rejects.toThrow(UnknownRunError);
    await expect(resolvePosition(log, "abc-1@run:run")).rejects.toMatchObject({
      candidates: ["run-a", "run-b"],
    });
  });

  test("parsing alone needs no log", () => {
    expect(parsePosition("x@run:r:start")).toEqual({
      thread: "x",
      mark: { kind: "run", runId: "r", edge: "start" },
    });
  });
});
