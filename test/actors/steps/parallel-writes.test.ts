import { expect, test } from "vitest";
import { z } from "zod";
import { createMiddleware } from "../../../actors/middleware/define-middleware.ts";
import { createParallelWrites } from "../../../actors/steps/parallel-writes.ts";
import { executeToolCall } from "../../../actors/steps/tool-call.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import { stepContext } from "./step-context.ts";

const fields = createMiddleware({
  name: "fields",
  stateSchema: z.object({ plan: z.string().optional(), todos: z.any() }),
});
const writer = (name: string, update: Record<string, unknown>) =>
  defineTool({
    name,
    description: "",
    schema: z.object({}),
    run: () => ({ content: `${name} is done`, update }),
  });

async function runBoth(first: Record<string, unknown>, second: Record<string, unknown>) {
  const ctx = stepContext({ middleware: [fields], tools: [writer("a", first), writer("b", second)] });
  const writes = createParallelWrites(ctx.assembly);
  const outcomes = [];
  for (const name of ["a", "b"]) {
    const call = { id: `c-${name}`, name, args: {} };
    const outcome = await executeToolCall(ctx, { call, answers: [] });
    if (outcome.kind === "ended") outcomes.push(writes.admit(call, outcome));
  }
  return outcomes.map(({ drafts }) => drafts.map(({ draft }) => draft));
}

test("a second write of a field without a reducer is refused: both tools and the field are named, nothing is lost", async () => {
  const [first, second] = await runBoth({ plan: "one" }, { plan: "two" });
  expect(first?.map(({ type }) => type)).toEqual(["ToolCallCompleted", "StateUpdated"]);
  expect(second?.map(({ type }) => type)).toEqual(["ToolCallFailed"]);
  expect(second?.[0]?.data).toMatchObject({
    message: {
      status: "error",
      content: expect.stringMatching(/^b is done\n\nThe tools a and b wrote the field "plan"/),
    },
    error: { name: "ParallelWriteError", field: "plan" },
  });
});

test.each([
  ["other fields", { plan: "one" }, { todos: [] }],
  [
    "a field with a reducer",
    { todos: [{ content: "a", status: "pending" }] },
    { todos: [{ content: "b", status: "pending" }] },
  ],
  [
    "messages",
    { messages: [{ role: "user", content: "a" }] },
    { messages: [{ role: "user", content: "b" }] },
  ],
])("two tools may write %s", async (_what, first, second) => {
  const outcomes = await runBoth(first, second);
  expect(outcomes.map((drafts) => drafts[0]?.type)).toEqual(["ToolCallCompleted", "ToolCallCompleted"]);
});
