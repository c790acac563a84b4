import { beforeEach, expect, test } from "vitest";
import { InterruptResolved, RunCompleted, RunInterrupted, RunStarted } from "../../events/run.ts";
import { ContentRedacted, ThreadErased, ThreadForked, ThreadRewound } from "../../events/thread.ts";
import {
  type OpenInterruptRow,
  openInterrupts,
  readOpenInterrupts,
} from "../../projections/open-interrupts.ts";
import { createProjectionBench, type ProjectionBench } from "./fold-projection.ts";

let bench: ProjectionBench<OpenInterruptRow>;

/** Versions 1 and 2 of a thread: a run that asks two questions. */
beforeEach(async () => {
  bench = createProjectionBench(openInterrupts);
  await bench.record("a", [RunStarted({ runId: "r", owner: "me" })]);
  const interrupts = [
    { id: "i1", kind: "approval", value: { command: "rm" }, callId: "c1", by: "tool:bash" },
    { id: "i2", kind: "question", value: "Which?" },
  ];
  await bench.record("a", [RunInterrupted({ runId: "r", interrupts })]);
});

async function open(threadId?: string): Promise<string[]> {
  await bench.update();
  const found = await readOpenInterrupts(bench.view, { ...(threadId !== undefined && { threadId }) });
  return found.map((row) => `${row.threadId}:${row.interruptId}`).sort();
}
const resolve = (interruptId: string) =>
  bench.record("a", [InterruptResolved({ interruptId, decision: true })]);

test("questions are open until they are answered", async () => {
  expect(await open()).toEqual(["a:i1", "a:i2"]);
  const [approval] = await readOpenInterrupts(bench.view, { asks: "approval" });
  expect(approval).toMatchObject({
    runId: "r",
    value: { command: "rm" },
    callId: "c1",
    by: "tool:bash",
    askedAt: "2026-01-01T00:00:01.000Z",
    version: 2,
  });
  await resolve("i1");
  expect(await open()).toEqual(["a:i2"]);
  await bench.record("a", [RunStarted({ runId: "r2", owner: "me", resumes: "r" })]);
  expect(await open()).toEqual(["a:i2"]);
  await bench.record("a", [RunCompleted({ runId: "r2" })]);
  expect(await open()).toEqual([]);
});

test("a new input closes them", async () => {
  await bench.record("a", [RunStarted({ runId: "r2", owner: "me" })]);
  expect(await open()).toEqual([]);
});

test("a rewind to where they were open opens them again; one into a run does not", async () => {
  await resolve("i1");
  await resolve("i2");
  expect(await open()).toEqual([]);
  await bench.record("a", [ThreadRewound({ toVersion: 3 })]);
  expect(await open()).toEqual(["a:i2"]);
  await bench.record("a", [ThreadRewound({ toVersion: 2 })]);
  expect(await open()).toEqual(["a:i1", "a:i2"]);
  await bench.record("a", [ThreadRewound({ toVersion: 1 })]);
  expect(await open()).toEqual([]);
});

test("a fork asks what its parent asked there, and is answered by itself", async () => {
  await bench.record("b", [ThreadForked({ parentThreadId: "a", parentVersion: 2 })]);
  expect(await open("b")).toEqual(["b:i1", "b:i2"]);
  await bench.record("b", [InterruptResolved({ interruptId: "i1", decision: true })]);
  expect(await open()).toEqual(["a:i1", "a:i2", "b:i2"]);
});

test("an erased thread asks nothing, and a redacted question has no value", async () => {
  await bench.record("a", [ContentRedacted({ rule: "interrupts", versions: [2] })]);
  await bench.update();
  expect((await readOpenInterrupts(bench.view)).map(({ value }) => value)).toEqual([null, null]);
  await bench.record("a", [ThreadErased({})]);
  await bench.update();
  expect(await bench.view.list()).toEqual([]);
});
