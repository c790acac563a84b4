import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isInterruptRequest } from "../../../actors/interrupt.ts";
import { clarificationMiddleware } from "../../../actors/middleware/clarification.ts";
import { humanApprovalMiddleware } from "../../../actors/middleware/human-approval.ts";
import { askClarificationTool } from "../../../actors/tools/ask-clarification.ts";
import { coerceArguments } from "../../../actors/tools/coerce-arguments.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import { argumentsSchema } from "../../../actors/tools/json-schema.ts";
import type { Json } from "../../../events/json.ts";
import { callTool, hookState, toolRequest, toolRuntime } from "./hook-bench.ts";

const pay = defineTool({
  name: "pay",
  description: "Pays",
  schema: z.object({ amount: z.number(), to: z.string(), urgent: z.boolean().optional() }),
  run: () => "paid",
});
const middleware = humanApprovalMiddleware({ interruptOn: { pay: true, look: false } });
const call = { name: "pay", id: "c1", args: { amount: 3, to: "Ann" } };

const decide = (decision: Json | undefined, using = middleware, more = {}) =>
  callTool(using, toolRequest(call, { tool: pay, ...(decision === undefined ? {} : { decision }), ...more }));

function problemOf(result: unknown): string | undefined {
  expect(isInterruptRequest(result)).toBe(true);
  return (result as { value: { problem?: string } }).value.problem;
}

describe("asking", () => {
  it("a named tool waits, and the question has both spellings", async () => {
    const { requests, result } = await decide(undefined);
    expect(requests).toEqual([]);
    expect(isInterruptRequest(result)).toBe(true);
    const action = {
      name: "pay",
      args: { amount: 3, to: "Ann" },
      description: expect.stringContaining("pay"),
    };
    const decisions = ["approve", "edit", "reject"];
    expect(result).toMatchObject({
      kind: "approval",
      value: {
        action_requests: [action],
        actionRequests: [action],
        review_configs: [{ action_name: "pay", allowed_decisions: decisions }],
        reviewConfigs: [{ actionName: "pay", allowedDecisions: decisions }],
      },
    });
  });

  it("tools that are not named, or with false, run at once", async () => {
    for (const name of ["look", "other", "constructor"]) {
      expect((await callTool(middleware, toolRequest({ name }))).requests).toHaveLength(1);
    }
  });

  it("a rule words the question and narrows the decisions", async () => {
    const using = humanApprovalMiddleware({
      interruptOn: { pay: { description: ({ args }) => `${args.amount}?`, allowedDecisions: ["approve"] } },
    });
    const { result } = await decide(undefined, using);
    expect(result).toMatchObject({
      value: {
        actionRequests: [{ description: "3?" }],
        review_configs: [{ allowed_decisions: ["approve"] }],
      },
    });
    expect(problemOf((await decide({ type: "reject" }, using)).result)).toMatch(/not allowed.*approve/);
  });
});

describe("deciding", () => {
  it.each<Json>(["approve", { type: "approve" }, { decisions: [{ type: "approve" }] }])(
    "%j runs the call as it is",
    async (decision) => {
      const { requests } = await decide(decision);
      expect(requests.map(({ toolCall }) => toolCall.args)).toEqual([call.args]);
    },
  );

  it.each<Json>([
    { type: "edit", editedAction: { name: "pay", args: { amount: "40", to: "40", urgent: "true" } } },
    { decisions: [{ type: "edit", edited_action: { args: { amount: "40", to: "40", urgent: "true" } } }] },
  ])("%j runs with the edited arguments, in the types of the schema", async (decision) => {
    const { requests } = await decide(decision);
    expect(requests.map(({ toolCall }) => toolCall)).toMatchObject([
      { id: "c1", name: "pay", args: { amount: 40, to: "40", urgent: true } },
    ]);
  });

  it("a reject is the call's own error message, and the tool does not run", async () => {
    const { requests, result } = await decide({ type: "reject", message: "too much" });
    expect(requests).toEqual([]);
    expect(result).toMatchObject({ status: "error", tool_call_id: "c1", content: "too much" });
    expect((await decide("reject")).result).toMatchObject({ content: expect.stringContaining("rejected") });
  });

  it("an edit into another tool is refused", async () => {
    const edit = { type: "edit", edited_action: { name: "rm", args: {} } };
    expect(problemOf((await decide(edit)).result)).toMatch(/into rm/);
  });

  it.each<Json>([null, "maybe", 1, {}, { decisions: [] }, { type: "edit" }])(
    "%j is asked again, nothing runs",
    async (decision) => {
      const { requests, result } = await decide(decision);
      expect(requests).toEqual([]);
      expect(problemOf(result)).toMatch(/no decision/);
    },
  );

  it("of a list for several calls each takes its own, in the order of the calls", async () => {
    const calls = [call, { name: "look", id: "c2", args: {} }, { ...call, id: "c3" }];
    const messages = [{ type: "ai", tool_calls: calls }];
    const decision = { decisions: [{ type: "reject" }, { type: "approve" }] };
    const first = await callTool(middleware, toolRequest(call, { tool: pay, messages, decision }));
    const third = await callTool(
      middleware,
      toolRequest({ ...call, id: "c3" }, { tool: pay, messages, decision }),
    );
    expect([first.requests.length, third.requests.length]).toEqual([0, 1]);
    const wrong = { decisions: [1, 2, 3].map(() => ({ type: "approve" })) };
    const none = await callTool(middleware, toolRequest(call, { tool: pay, messages, decision: wrong }));
    expect(problemOf(none.result)).toMatch(/3 decisions came for 2 calls/);
  });
});

describe("arguments from a form", () => {
  const schema = argumentsSchema(
    tool(async () => "", {
      name: "t",
      description: "",
      schema: z.object({
        whole: z.number().int().optional(),
        some: z.array(z.number()).optional(),
        inner: z.object({ n: z.number() }).optional(),
        text: z.string().optional(),
        either: z.union([z.number(), z.string()]).optional(),
        maybe: z.number().nullable().optional(),
      }),
    }),
  );

  it.each([
    [{ whole: "40" }, { whole: 40 }],
    [{ whole: "4.5" }, { whole: "4.5" }],
    [{ whole: "" }, { whole: "" }],
    [{ some: ["1", 2] }, { some: [1, 2] }],
    [{ some: "[1,2]" }, { some: [1, 2] }],
    [{ inner: { n: "1" } }, { inner: { n: 1 } }],
    [{ inner: '{"n":1}' }, { inner: { n: 1 } }],
    [{ inner: "{" }, { inner: "{" }],
    [{ text: "40" }, { text: "40" }],
    [{ either: "40" }, { either: "40" }],
    [{ maybe: "null" }, { maybe: null }],
    [{ unknown: "40" }, { unknown: "40" }],
  ])("%j becomes %j", (given, wanted) => {
    expect(coerceArguments(schema, given)).toEqual(wanted);
  });
});

describe("questions to the user", () => {
  const clarification = clarificationMiddleware();
  const ask = { name: "ask_clarification", id: "c1", args: { question: "Which?" } };

  it("CLR-02: where nobody can answer the tool is not run and the run goes on", async () => {
    const request = toolRequest(ask, { context: { disable_clarification: true } });
    const { requests, result } = await callTool(clarification, request);
    expect(requests).toEqual([]);
    expect(isInterruptRequest(result)).toBe(false);
    expect(result).toMatchObject({ tool_call_id: "c1", name: "ask_clarification" });
  });

  it("CLR-03: other tools are not touched", async () => {
    const request = toolRequest({ name: "bash" }, { context: { disable_clarification: true } });
    expect((await callTool(clarification, request)).requests).toHaveLength(1);
  });

  it("a question stops the run, and the answer is the tool's result", async () => {
    const tool = askClarificationTool();
    const runtime = toolRuntime(hookState([]));
    const args = tool.schema.parse({ question: "Which?", options: ["a", "b"] });
    const question = await tool.run(args, runtime);
    expect(isInterruptRequest(question)).toBe(true);
    expect(question).toMatchObject({
      kind: "question",
      value: {
        question: "Which?",
        options: ["a", "b"],
        clarification_type: "missing_info",
        tool_call_id: "c1",
      },
    });
    const answers: Json[] = ["a", { answer: "b" }, { response: "c" }, { x: 1 }];
    expect(answers.map((answer) => tool.onAnswer?.(answer, args, runtime))).toEqual([
      "a",
      "b",
      "c",
      '{"x":1}',
    ]);
  });
});
