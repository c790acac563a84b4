import { v7 as uuidv7 } from "uuid";
import { beforeEach, describe, expect, test } from "vitest";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import type { EventDraft } from "../../events/define-event.ts";
import { type NewEvent, threadStream } from "../../events/envelope.ts";
import type { Json } from "../../events/json.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { ModelCallFailed, ModelCallStarted, ModelResponded } from "../../events/model.ts";
import { RunCompleted, RunFailed, RunStarted } from "../../events/run.ts";
import { TitleSet } from "../../events/title.ts";
import { ToolCallAbandoned, ToolCallCompleted, ToolCallStarted } from "../../events/tool.ts";
import { UnknownThreadError } from "../../projections/lineage.ts";
import { readTrace, type TraceNode } from "../../projections/trace.ts";

let log: EventLog;
let seconds: number;
beforeEach(() => {
  log = createMemoryLog();
  seconds = 0;
});

/** Records one event a second after the one before and gives its id. */
async function record(threadId: string, draft: EventDraft, runId?: string, cause?: string): Promise<string> {
  const id = uuidv7();
  const event: NewEvent = {
    id,
    type: draft.type,
    data: draft.data as Json,
    recordedAt: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds++)).toISOString(),
    metadata: {
      schema: 1,
      by: "runtime",
      causationId: cause ?? id,
      correlationId: runId ?? id,
      ...(runId !== undefined && { runId }),
    },
  };
  await log.append(threadStream(threadId), [event], { expectedVersion: "any" });
  return id;
}

const view = { version: 0, from: null, edits: [], system: null };
const started = (callId: string) =>
  ModelCallStarted({ callId, model: "lab:big", view, tools: null, requestHash: "h" });
const responded = (callId: string, calls: string[] = []) =>
  ModelResponded({
    callId,
    message: {
      id: callId,
      type: "ai",
      content: "",
      tool_calls: calls.map((id) => ({ id, name: "bash", args: {} })),
    },
    usage: { input_tokens: 100, output_tokens: 10 },
    latencyMs: 750,
  });
const toolMessage = (callId: string) => ({ id: callId, type: "tool", content: "", tool_call_id: callId });

async function recordRun(
  threadId: string,
  runId: string,
  parent?: { threadId: string; runId: string; callId: string },
) {
  const run = await record(threadId, RunStarted({ runId, owner: "me", ...(parent && { parent }) }), runId);
  await record(threadId, MessagesAdded({ messages: [] }), runId, run);
  await record(threadId, started(`${runId}-m1`), runId, run);
  const answer = await record(threadId, responded(`${runId}-m1`, [`${runId}-t1`]), runId);
  const tool = await record(
    threadId,
    ToolCallStarted({ callId: `${runId}-t1`, name: "bash" }),
    runId,
    answer,
  );
  const result = await record(
    threadId,
    ToolCallCompleted({ callId: `${runId}-t1`, message: toolMessage(`${runId}-t1`), durationMs: 42 }),
    runId,
    tool,
  );
  await record(threadId, ArtifactsPresented({ paths: ["a"] }), runId, result);
  await record(threadId, started(`${runId}-m2`), runId, result);
  await record(threadId, responded(`${runId}-m2`), runId);
  await record(threadId, RunCompleted({ runId }), runId);
}

/** One line for each node: depth, kind, name, status. */
function outline(nodes: readonly TraceNode[], depth = 0): string[] {
  return nodes.flatMap((node) => [
    `${"  ".repeat(depth)}${node.kind} ${node.name} ${node.status}`,
    ...outline(node.children, depth + 1),
  ]);
}

describe("a trace", () => {
  test("hangs tool calls on the model call that asked for them, and effects on what caused them", async () => {
    await recordRun("a", "r");
    expect(outline(await readTrace(log, "a"))).toEqual([
      "run run r ok",
      "  event added 0 messages ok",
      "  model lab:big ok",
      "    tool bash ok",
      "      event presented 1 artifact ok",
      "  model lab:big ok",
    ]);
  });

  test("has times, tokens and cost of each node and of everything below it", async () => {
    await recordRun("a", "r");
    const prices = {
      currency: "EUR",
      models: { "lab:*": { inputPerMillion: 1000, outputPerMillion: 10_000 } },
    };
    const [run] = await readTrace(log, "a", { prices });
    expect(run).toMatchObject({
      id: "r",
      version: 1,
      endVersion: 10,
      startedAt: "2026-01-01T00:00:00.000Z",
      endedAt: "2026-01-01T00:00:09.000Z",
      durationMs: 9000,
      tokens: { inputTokens: 200, outputTokens: 20 },
    });
    expect(run?.cost).toBeCloseTo(0.4, 10);
    const model = run?.children.find(({ kind }) => kind === "model");
    expect(model).toMatchObject({ durationMs: 750, tokens: { inputTokens: 100, outputTokens: 10 } });
    expect(model?.children[0]).toMatchObject({ durationMs: 42, version: 5, endVersion: 6 });
    expect((await readTrace(log, "a"))[0]?.cost).toBeUndefined();
  });

  test("shows what is open, failed, abandoned and tried again", async () => {
    const run = await record("a", RunStarted({ runId: "r", owner: "me" }), "r");
    await record("a", started("m"), "r", run);
    const error = { name: "Timeout", message: "late" };
    await record("a", ModelCallFailed({ callId: "m", error }), "r");
    await record("a", started("m"), "r");
    const answer = await record("a", responded("m", ["t1", "t2"]), "r");
    await record("a", ToolCallStarted({ callId: "t1", name: "bash" }), "r", answer);
    await record(
      "a",
      ToolCallAbandoned({ callId: "t2", message: toolMessage("t2"), reason: "cancelled" }),
      "r",
    );
    expect(outline(await readTrace(log, "a"))).toEqual([
      "run run r open",
      "  model lab:big (1 failed) ok",
      "    tool bash open",
      "    tool  abandoned",
    ]);
    await record("a", RunFailed({ runId: "r", error }), "r");
    expect((await readTrace(log, "a"))[0]?.status).toBe("failed");
  });

  test("of one run leaves out the others, and what happened outside of runs", async () => {
    await record("a", TitleSet({ title: "t", origin: "user" }));
    await recordRun("a", "r1");
    await recordRun("a", "r2");
    expect((await readTrace(log, "a")).map(({ kind }) => kind)).toEqual(["event", "run", "run"]);
    expect((await readTrace(log, "a", { runId: "r2" })).map(({ id }) => id)).toEqual(["r2"]);
  });

  test("takes in the runs of sub-agents when asked, below the call that asked for them", async () => {
    await recordRun("a", "r");
    await recordRun("helper", "h", { threadId: "a", runId: "r", callId: "r-t1" });
    expect(outline(await readTrace(log, "a"))).toHaveLength(6);
    const [run] = await readTrace(log, "a", { delegated: true });
    expect(outline(run ? [run] : [])).toContain("      run run h ok");
    expect(run?.tokens.inputTokens).toBe(400);
  });

  test("of a thread that is not there is refused", async () => {
    await expect(readTrace(log, "nobody")).rejects.toThrow(UnknownThreadError);
  });
});
