import type { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { loopDetectionMiddleware } from "../../../actors/middleware/loop-detection.ts";
import {
  ModelCallLimitError,
  modelCallLimitMiddleware,
} from "../../../actors/middleware/model-call-limit.ts";
import { subagentLimitMiddleware, subagentLimits } from "../../../actors/middleware/subagent-limit.ts";
import { ToolCallLimitError, toolCallLimitMiddleware } from "../../../actors/middleware/tool-call-limit.ts";
import { type CaseMessage, callHook, callModel, hookRuntime, hookState, modelRequest } from "./hook-bench.ts";

const answerOf = (outcome: { update?: unknown } | undefined) =>
  (outcome?.update as { messages: AIMessage[] } | undefined)?.messages[0];
const typesOf = (outcome: { events?: readonly { type: string }[] } | undefined) =>
  outcome?.events?.map(({ type }) => type);

describe("model calls", () => {
  const facts = (modelCalls: number, threadModelCalls = modelCalls) =>
    hookRuntime({ run: { modelCalls, threadModelCalls } });

  it("runLimit ends the run with an answer that says so", async () => {
    const { beforeModel } = modelCallLimitMiddleware({ runLimit: 2 });
    expect(await callHook(beforeModel, hookState([]), facts(1))).toBeUndefined();
    const outcome = await callHook(beforeModel, hookState([]), facts(2));
    expect(outcome?.jumpTo).toBe("end");
    expect(answerOf(outcome)?.text).toMatch(/2 model calls/);
    expect(outcome?.events).toMatchObject([{ type: "RunCapped", data: { reason: "model_call_limit" } }]);
  });

  it("a new run starts from zero; threadLimit does not", async () => {
    const { beforeModel } = modelCallLimitMiddleware({ runLimit: 1 });
    expect(await callHook(beforeModel, hookState([]), facts(0, 5))).toBeUndefined();
    const thread = modelCallLimitMiddleware({ threadLimit: 5 });
    expect((await callHook(thread.beforeModel, hookState([]), facts(0, 5)))?.jumpTo).toBe("end");
  });

  it("exitBehavior error fails the run", async () => {
    const { beforeModel } = modelCallLimitMiddleware({ runLimit: 1, exitBehavior: "error" });
    await expect(callHook(beforeModel, hookState([]), facts(1))).rejects.toThrow(ModelCallLimitError);
  });
});

describe("tool calls", () => {
  const calls = (names: string[]): CaseMessage[] => [
    { type: "ai", tool_calls: names.map((name, index) => ({ name, args: {}, id: `${name}${index}` })) },
  ];
  const facts = (toolCalls: Record<string, number>) =>
    hookRuntime({ run: { toolCalls, threadToolCalls: toolCalls } });

  it("the surplus of an answer is refused, the rest runs", async () => {
    const { afterModel } = toolCallLimitMiddleware({ toolName: "web", runLimit: 2 });
    const outcome = await callHook(afterModel, hookState(calls(["web", "web", "ls"])), facts({ web: 1 }));
    expect(outcome?.events).toMatchObject([
      {
        type: "ToolCallAbandoned",
        data: { callId: "web1", message: { status: "error", tool_call_id: "web1" } },
      },
    ]);
    expect(outcome?.jumpTo).toBeUndefined();
  });

  it("when all are refused the model is asked again", async () => {
    const { afterModel } = toolCallLimitMiddleware({ toolName: "web", runLimit: 1 });
    expect((await callHook(afterModel, hookState(calls(["web"])), facts({ web: 1 })))?.jumpTo).toBe("model");
  });

  it("without toolName all tools count together; threadLimit counts the thread", async () => {
    const all = toolCallLimitMiddleware({ runLimit: 2 });
    expect(
      typesOf(await callHook(all.afterModel, hookState(calls(["a", "b"])), facts({ c: 1 }))),
    ).toHaveLength(1);
    const thread = toolCallLimitMiddleware({ threadLimit: 1 });
    const runtime = hookRuntime({ run: { threadToolCalls: { a: 1 } } });
    expect(typesOf(await callHook(thread.afterModel, hookState(calls(["a"])), runtime))).toHaveLength(1);
  });

  it("exitBehavior end closes every call of the answer and ends the run", async () => {
    const { afterModel } = toolCallLimitMiddleware({ toolName: "web", runLimit: 1, exitBehavior: "end" });
    const outcome = await callHook(afterModel, hookState(calls(["web", "ls"])), facts({ web: 1 }));
    expect(outcome?.jumpTo).toBe("end");
    expect(typesOf(outcome)).toEqual(["ToolCallAbandoned", "ToolCallAbandoned", "RunCapped"]);
  });

  it("exitBehavior error fails the run", async () => {
    const { afterModel } = toolCallLimitMiddleware({ runLimit: 0, exitBehavior: "error" });
    await expect(callHook(afterModel, hookState(calls(["a"])))).rejects.toThrow(ToolCallLimitError);
  });

  it("calls that have a result already are not counted again", async () => {
    const { afterModel } = toolCallLimitMiddleware({ runLimit: 1 });
    const state = hookState([...calls(["a", "b"]), { type: "tool", tool_call_id: "a0" }]);
    expect(await callHook(afterModel, state)).toBeUndefined();
  });
});

describe("loops", () => {
  const turn = (index: number, args: object = { q: 1 }): CaseMessage[] => [
    { type: "ai", id: `a${index}`, tool_calls: [{ name: "web", args, id: `c${index}` }] },
    { type: "tool", id: `t${index}`, tool_call_id: `c${index}` },
  ];
  const same = (count: number): CaseMessage[] => [
    { type: "human", content: "q" },
    ...Array.from({ length: count }, (_, index) => turn(index)).flat(),
  ];
  const warned = async (messages: readonly CaseMessage[], options = {}, run = {}) => {
    const request = modelRequest(messages, { run });
    const { requests } = await callModel(loopDetectionMiddleware(options), request);
    return requests[0]?.messages.slice(messages.length).map(({ name }) => name);
  };
  const stopped = async (messages: readonly CaseMessage[], options = {}, run = {}) =>
    callHook(loopDetectionMiddleware(options).afterModel, hookState(messages), hookRuntime({ run }));

  it("the third time the next request has a warning that no client sees", async () => {
    expect(await warned(same(2))).toEqual([]);
    expect(await warned(same(3))).toEqual(["loop_warning"]);
  });

  it("the fifth time the calls are taken out, the run ends and says why", async () => {
    expect(await stopped(same(4).slice(0, -1))).toBeUndefined();
    const outcome = await stopped(same(5).slice(0, -1));
    expect(outcome?.events).toMatchObject([{ type: "RunCapped", data: { reason: "loop_capped" } }]);
    const answer = answerOf(outcome);
    expect(answer?.id).toBe("a4");
    expect(answer?.tool_calls).toEqual([]);
    expect(answer?.text).toMatch(/5 times/);
    expect(answer?.additional_kwargs.stop_reason).toBe("loop_capped");
  });

  it("warnAt and stopAt move the limits", async () => {
    expect(await warned(same(2), { warnAt: 2 })).toEqual(["loop_warning"]);
    expect(await stopped(same(2).slice(0, -1), { stopAt: 2 })).toBeDefined();
  });

  it("other arguments are other calls, ids and the order of keys are not", async () => {
    const different = [...same(2), ...turn(9, { q: 2 })];
    expect(await warned(different)).toEqual([]);
    const keys = [...turn(0, { a: 1, b: 2 }), ...turn(1, { b: 2, a: 1 })];
    expect(await warned(keys, { warnAt: 2 })).toEqual(["loop_warning"]);
  });

  it("a new message of the user starts anew, a hidden one does not", async () => {
    const user = [...same(2), { type: "human", content: "more" }, ...turn(9)];
    expect(await warned(user)).toEqual([]);
    const hidden = { type: "human", content: "x", additional_kwargs: { hide_from_ui: true } };
    expect(await warned([...same(2), hidden, ...turn(9)])).toEqual(["loop_warning"]);
  });

  it("what left the window is forgotten", async () => {
    const old = [...same(2), ...turn(7, { q: 7 }), ...turn(9)];
    expect(await warned(old, { window: 4 })).toEqual(["loop_warning"]);
    expect(await warned(old, { window: 3 })).toEqual([]);
  });

  it("many calls of one tool: a warning, then the end", async () => {
    const run = (count: number) => ({ toolCalls: { web: count } });
    expect(await warned(same(1), {}, run(30))).toEqual(["loop_warning"]);
    expect(await warned(same(1), {}, run(29))).toEqual([]);
    expect(await stopped(same(1).slice(0, -1), {}, run(48))).toBeUndefined();
    expect(answerOf(await stopped(same(1).slice(0, -1), {}, run(49)))?.text).toMatch(
      /web was called 50 times/,
    );
    expect(await stopped(same(1).slice(0, -1), { stopPerTool: 3 }, run(2))).toBeDefined();
    expect(await warned(same(1), { warnPerTool: 2 }, run(2))).toEqual(["loop_warning"]);
  });
});

describe("sub-agents", () => {
  const tasks = (count: number): CaseMessage[] => [
    {
      type: "ai",
      id: "answer",
      tool_calls: Array.from({ length: count }, (_, index) => ({ name: "task", args: {}, id: `t${index}` })),
    },
  ];
  const { afterModel } = subagentLimitMiddleware();
  const used = (count: number, runId: string) =>
    Array.from({ length: count }, (_, index) => ({ id: `d${index}`, status: "completed", run_id: runId }));

  it("SUB-01: three at once pass untouched", async () => {
    expect(await callHook(afterModel, hookState(tasks(3)))).toBeUndefined();
  });

  it("the surplus of one answer is cut, in the same message, and the run goes on", async () => {
    const outcome = await callHook(afterModel, hookState(tasks(5)));
    expect(answerOf(outcome)?.id).toBe("answer");
    expect(answerOf(outcome)?.tool_calls?.map(({ id }) => id)).toEqual(["t0", "t1", "t2"]);
    expect(outcome?.events).toEqual([]);
  });

  it("SUB-04: when the run has used its six, all are cut, and the reason is recorded", async () => {
    const state = hookState(tasks(2), { delegations: used(6, "r1") });
    const outcome = await callHook(afterModel, state);
    expect(answerOf(outcome)?.tool_calls).toEqual([]);
    expect(answerOf(outcome)?.id).toBe("answer");
    expect(outcome?.events).toMatchObject([{ type: "RunCapped", data: { reason: "subagent_limit_capped" } }]);
  });

  it("delegations of other runs do not count, those before an interrupt of this one do", async () => {
    const state = hookState(tasks(2), { delegations: used(6, "another") });
    expect(await callHook(afterModel, state)).toBeUndefined();
    const resumed = hookRuntime({ run: { eventCounts: { DelegationsRecorded: 6 } } });
    expect(answerOf(await callHook(afterModel, state, resumed))?.tool_calls).toEqual([]);
  });

  it("SUB-05: limits out of range are brought into it", () => {
    expect(subagentLimits({ maxConcurrent: 99, maxTotal: 0 })).toEqual({ maxConcurrent: 4, maxTotal: 1 });
    expect(subagentLimits()).toEqual({ maxConcurrent: 3, maxTotal: 6 });
  });

  it("other calls of the answer stay", async () => {
    const [answer] = tasks(4);
    const mixed = {
      ...answer,
      tool_calls: [...((answer?.tool_calls ?? []) as object[]), { name: "ls", args: {}, id: "l" }],
    };
    const outcome = await callHook(afterModel, hookState([mixed as CaseMessage]));
    expect(answerOf(outcome)?.tool_calls?.map(({ id }) => id)).toEqual(["t0", "t1", "t2", "l"]);
  });
});
