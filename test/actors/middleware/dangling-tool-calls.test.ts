import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import {
  danglingToolCallsMiddleware,
  repairToolCalls,
} from "../../../actors/middleware/dangling-tool-calls.ts";
import { repairs } from "../../cases/context-care.ts";
import { callModel, messagesOf, modelRequest } from "./hook-bench.ts";

function sequenceOf(messages: readonly BaseMessage[]): string[] {
  return messages.map((message) => {
    if (!ToolMessage.isInstance(message)) return message.getType();
    return ["tool", message.tool_call_id, ...(message.status === "error" ? ["error"] : [])].join(":");
  });
}

describe("requests in which every call has its result", () => {
  for (const { id, what, messages, sequence } of repairs) {
    it(`${id}: ${what}`, async () => {
      const request = modelRequest(messages);
      const before = [...request.state.messages];
      const { requests } = await callModel(danglingToolCallsMiddleware(), request);
      expect(sequenceOf(requests[0]?.messages ?? [])).toEqual(sequence);
      expect(request.state.messages).toEqual(before);
    });
  }

  it("a sound conversation stays the same array", () => {
    const messages = messagesOf(repairs[0]?.messages ?? []);
    expect(repairToolCalls(messages)).toBe(messages);
  });

  it("some of several calls without results", () => {
    const calls = ["a", "b"].map((id) => ({ name: "bash", args: {}, id }));
    const messages = messagesOf([
      { type: "ai", tool_calls: calls },
      { type: "tool", tool_call_id: "b", content: "ok" },
    ]);
    expect(sequenceOf(repairToolCalls(messages))).toEqual(["ai", "tool:a:error", "tool:b"]);
  });

  it("a call without a name or an id gets both, in the answer and in its result", () => {
    const answer = new AIMessage({
      id: "x",
      content: "",
      tool_calls: [{ name: "", args: {}, type: "tool_call" }],
    });
    const [mended, result] = repairToolCalls([answer, new HumanMessage("next")]);
    const [call] = (mended as AIMessage).tool_calls ?? [];
    expect(call).toMatchObject({ name: "unknown_tool", id: "x-call-0" });
    expect((result as ToolMessage).tool_call_id).toBe("x-call-0");
  });

  it("a call that could not be parsed becomes a call with an error that asks for it again", () => {
    const invalid = { name: "bash", args: "{", id: "c", error: "x", type: "invalid_tool_call" as const };
    const raw = { tool_calls: [{ id: "c", type: "function", function: { name: "bash", arguments: "{" } }] };
    const answer = new AIMessage({
      content: "",
      invalid_tool_calls: [invalid],
      additional_kwargs: raw as AIMessage["additional_kwargs"],
    });
    const [mended, result] = repairToolCalls([answer]) as [AIMessage, ToolMessage];
    expect(mended.invalid_tool_calls).toEqual([]);
    expect(mended.additional_kwargs.tool_calls).toBeUndefined();
    expect(mended.tool_calls).toMatchObject([{ name: "bash", args: {}, id: "c" }]);
    expect([result.tool_call_id, result.status]).toEqual(["c", "error"]);
    expect(result.text).toMatch(/valid arguments/);
  });

  it("a call id that occurs in two answers keeps each result with its answer", () => {
    const call = { type: "ai", tool_calls: [{ name: "bash", args: {}, id: "same" }] };
    const messages = messagesOf([
      call,
      { type: "tool", tool_call_id: "same", content: "first" },
      call,
      { type: "tool", tool_call_id: "same", content: "second" },
    ]);
    expect(repairToolCalls(messages).map((message) => message.text)).toEqual(["", "first", "", "second"]);
  });
});
