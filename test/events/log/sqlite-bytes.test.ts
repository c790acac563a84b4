import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 as uuidv7 } from "uuid";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { EventMetadata, NewEvent } from "../../../events/envelope.ts";
import type { EventLog } from "../../../events/log/event-log.ts";
import { openSqlite } from "../../../events/log/sqlite.ts";
import { newEvent, newEvents } from "./new-events.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-bytes-"));
  path = join(folder, "threads.db");
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const letters = (count: number) => "The quick brown fox jumps over the lazy dog. ".repeat(12).slice(0, count);
const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/** The events of a turn with one tool call, as a run records them. */
function turn(number: number): { batches: NewEvent[][]; messageBytes: number } {
  const runId = uuidv7();
  let causationId: string | undefined;
  const event = (type: string, data: unknown, by: EventMetadata["by"], step: number) => {
    const made = newEvent({ type, data: data as never, metadata: { by, runId, correlationId: runId, step } });
    const caused = { ...made, metadata: { ...made.metadata, causationId: causationId ?? made.id } };
    causationId = made.id;
    return caused;
  };
  const call = { id: `call_${number}`, name: "read_file", args: { path: letters(25) }, type: "tool_call" };
  const usage = { input_tokens: 1200, output_tokens: 80, total_tokens: 1280 };
  const human = { id: uuidv7(), type: "human", content: letters(120) };
  const asked = { id: uuidv7(), type: "ai", content: "", tool_calls: [call], usage_metadata: usage };
  const tool = {
    id: uuidv7(),
    type: "tool",
    name: "read_file",
    tool_call_id: call.id,
    content: letters(400),
  };
  const answer = { id: uuidv7(), type: "ai", content: letters(300), tool_calls: [], usage_metadata: usage };
  const started = (callId: string, version: number) => ({
    callId,
    model: "openai:gpt-x",
    view: { version, from: callId, edits: [], system: null },
    tools: null,
    requestHash: digest,
  });
  const [firstCall, secondCall] = [uuidv7(), uuidv7()];
  const responded = (callId: string, message: unknown) => ({
    callId,
    message,
    latencyMs: 1,
    finishReason: "stop",
  });
  const batches = [
    [
      event("RunStarted", { runId, owner: "worker-1" }, "runtime", 0),
      event("MessagesAdded", { messages: [human] }, "user", 0),
    ],
    [event("ModelCallStarted", started(firstCall, 9 * number + 2), "runtime", 1)],
    [event("ModelResponded", responded(firstCall, asked), "model:gpt-x", 1)],
    [event("ToolCallStarted", { callId: call.id, name: call.name }, "runtime", 2)],
    [event("ToolCallCompleted", { callId: call.id, message: tool, durationMs: 1 }, "tool:read_file", 2)],
    [event("ModelCallStarted", started(secondCall, 9 * number + 6), "runtime", 3)],
    [event("ModelResponded", responded(secondCall, answer), "model:gpt-x", 3)],
    [event("RunCompleted", { runId, stopReason: "end", stateHash: digest }, "runtime", 4)],
  ];
  return { batches, messageBytes: JSON.stringify([human, asked, tool, answer]).length };
}

async function appendTurns(log: EventLog, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number++) {
    for (const batch of turn(number).batches) await log.append("thread-1", batch, { expectedVersion: "any" });
  }
}

it("stores a turn of nine events in less than three times its messages, however long the thread", {
  timeout: 60_000,
}, async () => {
  const sizes: number[] = [];
  for (const [from, to] of [
    [0, 100],
    [100, 900],
    [900, 1000],
  ] as const) {
    const { log } = await openSqlite(path, { synchronous: "normal" });
    await appendTurns(log, from, to);
    await log.close();
    sizes.push((await stat(path)).size);
  }
  const [at100 = 0, at900 = 0, at1000 = 0] = sizes;
  const { messageBytes } = turn(0);
  const perTurn = at1000 / 1000;
  expect(messageBytes).toBeGreaterThan(1200);
  expect(perTurn).toBeLessThan(4000);
  expect(perTurn).toBeLessThan(3 * messageBytes);
  // Pages are 8 kB: the last hundred turns and the first are compared within that.
  expect((at1000 - at900) / 100).toBeLessThan(1.05 * (at100 / 100) + 100);
});

it("leaves no byte of an erased stream in any file of the store", async () => {
  const secret = "the secret ingredient is cardamom";
  const { log, side } = await openSqlite(path);
  for (let version = 0; version < 40; version++) {
    const data = { text: `${secret} ${"and more ".repeat(version * 40)}` };
    await log.append("thread-1", [newEvent({ data })], { expectedVersion: version });
    await log.append("thread-2", newEvents(1), { expectedVersion: version });
  }
  await side.put("snapshot", "thread-1", { text: secret.repeat(2000) });
  await side.delete("snapshot", "thread-1");
  await log.erase("thread-1");
  const search = async () => {
    const files = await readdir(folder);
    const contents = await Promise.all(files.map((file) => readFile(join(folder, file))));
    return files.filter((_file, index) => contents[index]?.includes(secret));
  };
  expect(await search()).toEqual([]);
  await log.close();
  expect(await search()).toEqual([]);
});
