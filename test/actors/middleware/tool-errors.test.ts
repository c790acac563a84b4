import { describe, expect, it } from "vitest";
import { interrupt } from "../../../actors/interrupt.ts";
import { toolErrorsMiddleware } from "../../../actors/middleware/tool-errors.ts";
import { callTool, toolRequest } from "./hook-bench.ts";

const call = { name: "bash", id: "c1" };
const throwing = (error: unknown) => () => {
  throw error;
};

describe("errors of tools", () => {
  it("ERR-01: a thrown error is a short error message for the model", async () => {
    const long = new Error("x".repeat(5_000));
    const { result } = await callTool(toolErrorsMiddleware(), toolRequest(call), throwing(long));
    expect(result).toMatchObject({ status: "error", tool_call_id: "c1", name: "bash" });
    const { text } = result as { text: string };
    expect(text).toMatch(/bash failed: Error: xxx/);
    expect(text.length).toBeLessThan(700);
  });

  it("ERR-02: signals that pause a run are not errors", async () => {
    for (const signal of [
      Object.assign(new Error("pause"), { name: "GraphInterrupt" }),
      Object.assign(new Error("pause"), { is_bubble_up: true }),
    ]) {
      const run = callTool(toolErrorsMiddleware(), toolRequest(call), throwing(signal));
      await expect(run).rejects.toBe(signal);
    }
  });

  it("a question to a human passes untouched", async () => {
    const question = interrupt("approval", { name: "bash" });
    const { result } = await callTool(toolErrorsMiddleware(), toolRequest(call), () => question);
    expect(result).toBe(question);
  });

  it("a cancel is not an error of the tool", async () => {
    const abort = new AbortController();
    abort.abort();
    const error = new Error("aborted");
    const request = toolRequest(call, { signal: abort.signal });
    await expect(callTool(toolErrorsMiddleware(), request, throwing(error))).rejects.toBe(error);
  });

  it("passThrough leaves errors alone, describe words them", async () => {
    const middleware = toolErrorsMiddleware({
      passThrough: (error) => error instanceof RangeError,
      describe: (error, name) => `${name}: ${(error as Error).message}`,
    });
    await expect(callTool(middleware, toolRequest(call), throwing(new RangeError("r")))).rejects.toThrow("r");
    const { result } = await callTool(middleware, toolRequest(call), throwing(new Error("why")));
    expect((result as { text: string }).text).toBe("bash: why");
  });
});
