import { expect, test } from "vitest";
import { ToolCallAbandoned, ToolCallCompleted, ToolCallFailed, ToolCallStarted } from "../../events/tool.ts";
import { readToolStatistics, toolStatistics } from "../../projections/tool-statistics.ts";
import { createProjectionBench } from "./fold-projection.ts";

const message = (callId: string) => ({ id: callId, type: "tool", content: "", tool_call_id: callId });
const started = (callId: string, name: string) => ToolCallStarted({ callId, name });

test("tools are counted by how their calls ended and how long they took", async () => {
  const bench = createProjectionBench(toolStatistics);
  for (const [index, durationMs] of [1, 3, 3, 100].entries()) {
    const callId = `b${index}`;
    await bench.record("a", [started(callId, "bash")]);
    await bench.record("a", [ToolCallCompleted({ callId, message: message(callId), durationMs })]);
  }
  const error = { name: "E", message: "no" };
  await bench.record("b", [started("f", "bash"), started("x", "ls"), started("open", "ls")]);
  await bench.record("b", [ToolCallFailed({ callId: "f", message: message("f"), error, durationMs: 50 })]);
  await bench.record("b", [ToolCallAbandoned({ callId: "x", message: message("x"), reason: "cancelled" })]);
  await bench.record("b", [
    ToolCallAbandoned({ callId: "never-started", message: message("n"), reason: "x" }),
  ]);
  await bench.update();
  expect(await readToolStatistics(bench.view)).toMatchObject([
    {
      name: "bash",
      calls: 5,
      completed: 4,
      failed: 1,
      abandoned: 0,
      open: 0,
      totalMs: 157,
      maxMs: 100,
      p50Ms: 4,
      p95Ms: 100,
    },
    { name: "ls", calls: 2, completed: 0, failed: 0, abandoned: 1, open: 1, p50Ms: undefined },
  ]);
});
