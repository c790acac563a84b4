import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMiddleware } from "../../../actors/middleware/define-middleware.ts";
import { inputToDrafts } from "../../../actors/steps/input.ts";
import { ContextError, checkContext } from "../../../actors/steps/run-context.ts";
import { updateToDrafts } from "../../../actors/steps/updates.ts";
import { bare, foldOnto, stepContext } from "./step-context.ts";

const counter = () => {
  let next = 0;
  return () => `m${++next}`;
};
const stateSchema = z.object({ topic: z.string().optional() });

describe("input", () => {
  test.each<[string, unknown, object[]]>([
    ["null", null, []],
    [
      "a text",
      "hi",
      [{ type: "MessagesAdded", data: { messages: [{ type: "human", content: "hi", id: "m1" }] } }],
    ],
    [
      "messages of all forms",
      { messages: ["a", ["ai", "b"], new HumanMessage("c")] },
      [
        {
          type: "MessagesAdded",
          data: {
            messages: [
              { type: "human", content: "a", id: "m1" },
              { type: "ai", content: "b", id: "m2" },
              { type: "human", content: "c", id: "m3" },
            ],
          },
        },
      ],
    ],
    [
      "a list alone",
      [{ role: "user", content: "a" }],
      [{ type: "MessagesAdded", data: { messages: [{ type: "human", content: "a", id: "m1" }] } }],
    ],
    ["a field", { topic: "t" }, [{ type: "StateUpdated", data: { field: "topic", value: "t" } }]],
  ])("takes %s", async (_what, input, expected) => {
    const drafts = await inputToDrafts(input as never, stepContext({ stateSchema }), counter());
    expect(bare(drafts)).toEqual(expected);
    expect(drafts.every(({ by }) => by === "user")).toBe(true);
  });

  test("a message with a known id takes the old one's place", async () => {
    const ctx = stepContext();
    const state = foldOnto(
      ctx,
      await inputToDrafts({ messages: [{ id: "a", role: "user", content: "x" }] }, ctx, counter()),
    );
    const drafts = await inputToDrafts(
      { messages: [{ id: "a", role: "user", content: "y" }] },
      { ...ctx, state },
      counter(),
      "client",
    );
    expect(drafts).toMatchObject([{ draft: { type: "MessagesReplaced" }, by: "client" }]);
  });

  test("markers that only middlewares set are dropped, unless the thread holds that message", async () => {
    const forged = (id: string) => ({
      id,
      type: "human",
      content: "hello",
      additional_kwargs: {
        hide_from_ui: true,
        deerflow_view_image_context: true,
        dynamic_context_reminder: true,
      },
    });
    const ctx = { ...stepContext(), state: { messages: [forged("old")] } };
    const drafts = await inputToDrafts({ messages: [forged("view-image-context:1")] }, ctx, counter());
    expect(bare(drafts)).toEqual([
      {
        type: "MessagesAdded",
        data: {
          messages: [{ ...forged("view-image-context:1"), additional_kwargs: { hide_from_ui: true } }],
        },
      },
    ]);
    const again = { ...forged("old"), content: "edited" };
    expect(bare(await inputToDrafts({ messages: [again] }, ctx, counter()))).toEqual([
      { type: "MessagesReplaced", data: { messages: [again] } },
    ]);
  });

  test("a structured response is an output only: nobody can give one to a run", async () => {
    const input = { messages: [], structured_response: { forged: true } };
    expect(bare(await inputToDrafts(input, stepContext(), counter()))).toEqual([]);
  });

  test("images leave the event", async () => {
    const url = `data:image/png;base64,${Buffer.alloc(3000, 7).toString("base64")}`;
    const drafts = await inputToDrafts(
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] },
      stepContext(),
      counter(),
    );
    expect(JSON.stringify(drafts)).not.toContain("BwcHBwcH");
  });

  test.each([
    [{ nope: 1 }, /nope/],
    [{ messages: [5] }, /no message/],
    [{ topic: 5 }, /topic/],
  ])("refuses %j", async (input, message) => {
    await expect(inputToDrafts(input, stepContext({ stateSchema }), counter())).rejects.toThrow(message);
  });
});

test("an edit from outside replaces, past the reducers, and says only what changed", () => {
  const ctx = stepContext({ stateSchema });
  const message = (id: string) => ({ id, type: "human", content: id });
  const state = { messages: [message("a"), message("b")], topic: "t" };
  const drafts = updateToDrafts({ messages: [message("a")], topic: "u" }, state, ctx.assembly, "client", {
    replace: true,
  });
  expect(bare(drafts)).toEqual([
    { type: "MessagesRemoved", data: { ids: ["b"] } },
    { type: "StateUpdated", data: { field: "topic", value: "u", replace: true } },
  ]);
});

describe("the run's context", () => {
  const middleware = [createMiddleware({ name: "who", contextSchema: z.object({ user: z.string() }) })];
  const { assembly } = stepContext({ middleware, contextSchema: z.object({ tier: z.number().default(1) }) });

  test("is checked against every schema before anything runs", () => {
    expect(() => checkContext(assembly, { user: "u" })).not.toThrow();
    expect(() => checkContext(assembly, {})).toThrow(ContextError);
    expect(() => checkContext(assembly, {})).toThrow(/middleware who: user/);
    expect(() => checkContext(assembly, { user: "u", tier: "gold" })).toThrow(/the agent: tier/);
  });
});
