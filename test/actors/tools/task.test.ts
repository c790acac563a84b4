import { describe, expect, it } from "vitest";
import { isInterruptRequest } from "../../../actors/interrupt.ts";
import type { ToolResult } from "../../../actors/tools/define-tool.ts";
import {
  type ChildOutcome,
  type ChildRequest,
  childThreadId,
  type RunChild,
  taskTool,
} from "../../../actors/tools/task.ts";
import type { Json } from "../../../events/json.ts";
import { hookState, toolRuntime } from "../middleware/hook-bench.ts";

const agents = {
  "general-purpose": { description: "does anything" },
  bash: { description: "runs commands" },
};
const args = { description: "count", prompt: "Count the files", subagent_type: "bash" };

async function delegate(runChild: RunChild, more: { type?: string; answer?: Json; timeoutMs?: number } = {}) {
  const written: Json[] = [];
  const runtime = toolRuntime(hookState([]), { callId: "call_1", written });
  const tool = taskTool({ agents, runChild, ...(more.timeoutMs ? { timeoutMs: more.timeoutMs } : {}) });
  const given = { ...args, subagent_type: more.type ?? "bash" };
  const result =
    more.answer === undefined
      ? await tool.run(given, runtime)
      : await tool.onAnswer?.(more.answer, given, runtime);
  return { result: result as ToolResult, written: written as { type: string }[] };
}

const done: ChildOutcome = { status: "completed", text: "4 files" };

describe("task", () => {
  it("SUB-06: an unknown sub-agent is a failed result that names those there are, and nothing is recorded", async () => {
    const { result } = await delegate(async () => done, { type: "nobody" });
    expect(result.additional_kwargs?.subagent_status).toBe("failed");
    expect(result.status).toBe("error");
    expect(result.content).toMatch(/general-purpose, bash/);
    expect(result.events).toBeUndefined();
  });

  it("SUB-08: tells what the sub-agent does, each of its answers numbered from 1", async () => {
    const { written } = await delegate(async ({ onMessage }) => {
      for (const id of ["a", "b"]) onMessage({ id, type: "ai", content: id });
      return done;
    });
    expect(written.map(({ type }) => type)).toEqual([
      "task_started",
      "task_running",
      "task_running",
      "task_completed",
    ]);
    expect(written[1]).toMatchObject({ message_index: 1, task_id: "call_1", message: { id: "a" } });
  });

  it("its answer is the result, and the delegation is recorded with its thread", async () => {
    let request: ChildRequest | undefined;
    const { result } = await delegate(async (given) => {
      request = given;
      return done;
    });
    expect(result.content).toBe("4 files");
    const threadId = childThreadId("t", "call_1");
    expect(request).toMatchObject({
      threadId,
      agent: "bash",
      prompt: "Count the files",
      parent: { threadId: "t", runId: "r1", callId: "call_1" },
    });
    expect(result.events).toMatchObject([
      {
        type: "DelegationsRecorded",
        data: { entries: [{ id: "call_1", status: "completed", thread_id: threadId, run_id: "r1" }] },
      },
    ]);
  });

  it("a child that fails, or throws, is an error message", async () => {
    const failed = await delegate(async () => ({ status: "failed", reason: "no key" }));
    expect(failed.result).toMatchObject({ status: "error", content: expect.stringContaining("no key") });
    const thrown = await delegate(async () => {
      throw new Error("broken");
    });
    expect(thrown.result).toMatchObject({ status: "error", content: expect.stringContaining("broken") });
    expect(thrown.written.at(-1)?.type).toBe("task_failed");
  });

  it("a child that takes longer than timeoutMs is cancelled and reported", async () => {
    const slow: RunChild = ({ signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve({ status: "cancelled", reason: "aborted" }));
      });
    // The time-out's own timer does not keep the process alive.
    const alive = setInterval(() => undefined, 1_000);
    const { result, written } = await delegate(slow, { timeoutMs: 20 });
    clearInterval(alive);
    expect(result.content).toMatch(/did not finish within 20 ms/);
    expect(written.at(-1)?.type).toBe("task_timed_out");
  });

  it("one question of the child passes as it is, several go together, and the answer comes back to the child", async () => {
    const asks =
      (count: number): RunChild =>
      async () => ({
        status: "interrupted",
        interrupts: Array.from({ length: count }, (_, index) => ({
          id: `i${index}`,
          kind: "approval",
          value: index,
        })),
      });
    const one = await delegate(asks(1));
    expect(isInterruptRequest(one.result)).toBe(true);
    expect(one.result).toMatchObject({ kind: "approval", value: 0 });
    const two = await delegate(asks(2));
    expect(two.result).toMatchObject({
      kind: "subagent",
      value: { interrupts: [{ id: "i0" }, { id: "i1" }] },
    });
    let answer: Json | undefined;
    const answered = await delegate(
      async (request) => {
        answer = request.answer;
        return done;
      },
      { answer: { type: "approve" } },
    );
    expect(answer).toEqual({ type: "approve" });
    expect(answered.result.content).toBe("4 files");
  });

  it("the child's thread follows from the parent's thread and the call alone, and is a valid name", () => {
    expect(childThreadId("t", "call_1")).toBe(childThreadId("t", "call_1"));
    expect(childThreadId("t", "call_2")).not.toBe(childThreadId("t", "call_1"));
    expect(childThreadId("x".repeat(190), "odd/ id\n")).toMatch(/^[\w-]{1,193}$/);
  });
});
