import type { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { emptyAnswerMiddleware } from "../../../actors/middleware/empty-answer.ts";
import { lengthStopMiddleware } from "../../../actors/middleware/length-stop.ts";
import { safetyStopMiddleware } from "../../../actors/middleware/safety-stop.ts";
import { type TokenUsage, tokenUsageMiddleware } from "../../../actors/middleware/token-usage.ts";
import { composeReducers } from "../../../reducers/thread-state.ts";
import { type CaseMessage, callHook, callModel, hookRuntime, hookState, modelRequest } from "./hook-bench.ts";

const answerOf = (outcome: { update?: unknown } | undefined) =>
  (outcome?.update as { messages: AIMessage[] } | undefined)?.messages[0];

describe("safety stop", () => {
  const { afterModel } = safetyStopMiddleware();
  const call = { name: "bash", args: { command: "rm" }, id: "c" };

  it.each([{ finish_reason: "content_filter" }, { stop_reason: "refusal" }, { finishReason: "SAFETY" }])(
    "%o: the calls are not run, and an empty answer says what happened",
    async (metadata) => {
      const outcome = await callHook(
        afterModel,
        hookState([{ type: "ai", id: "a", tool_calls: [call], response_metadata: metadata }]),
      );
      expect(outcome?.events).toMatchObject([{ type: "RunCapped", data: { reason: "safety_capped" } }]);
      expect(answerOf(outcome)?.id).toBe("a");
      expect(answerOf(outcome)?.tool_calls).toEqual([]);
      expect(answerOf(outcome)?.text).toMatch(/safety filter/);
    },
  );

  it("a refusal in the provider's own field becomes the text", async () => {
    const refused = { type: "ai", additional_kwargs: { refusal: "I cannot help with that." } };
    expect(answerOf(await callHook(afterModel, hookState([refused])))?.text).toBe("I cannot help with that.");
  });

  it("text that stands keeps standing", async () => {
    const message = { type: "ai", content: "half", response_metadata: { finish_reason: "content_filter" } };
    expect(answerOf(await callHook(afterModel, hookState([message])))?.text).toBe("half");
  });

  it("an ordinary end is left alone", async () => {
    const message = { type: "ai", content: "x", response_metadata: { finish_reason: "stop" } };
    expect(await callHook(afterModel, hookState([message]))).toBeUndefined();
  });
});

describe("length stop", () => {
  const { afterModel } = lengthStopMiddleware();
  const cut = (more: object = {}): CaseMessage => ({
    type: "ai",
    content: "x",
    response_metadata: { stop_reason: "max_tokens" },
    ...more,
  });

  it("an answer that was cut is recorded", async () => {
    const outcome = await callHook(afterModel, hookState([cut()]));
    expect(outcome?.events).toMatchObject([{ type: "RunCapped", data: { reason: "model_length_capped" } }]);
  });

  it("with calls the run goes on, and nothing is recorded", async () => {
    const state = hookState([cut({ tool_calls: [{ name: "a", args: {}, id: "c" }] })]);
    expect(await callHook(afterModel, state)).toBeUndefined();
  });
});

describe("empty answers", () => {
  const middleware = emptyAnswerMiddleware();
  const asked = (count: number) => hookRuntime({ run: { eventCounts: { EmptyAnswerRetried: count } } });

  it.each<{ what: string; message: CaseMessage }>([
    { what: "no text", message: { type: "ai", id: "e", content: " \n" } },
    { what: "blocks without text", message: { type: "ai", id: "e", content: [{ type: "text", text: "" }] } },
    {
      what: "thoughts only",
      message: { type: "ai", id: "e", content: [{ type: "thinking", thinking: "hm" }] },
    },
  ])("$what: the answer goes, and the model is asked once more", async ({ message }) => {
    const outcome = await callHook(middleware.afterModel, hookState([message]));
    expect(outcome?.jumpTo).toBe("model");
    expect(outcome?.events).toMatchObject([
      { type: "EmptyAnswerRetried" },
      { type: "MessagesRemoved", data: { ids: ["e"] } },
    ]);
  });

  it("the second time the answer says so, and the run ends", async () => {
    const state = hookState([{ type: "ai", id: "e" }]);
    const outcome = await callHook(middleware.afterModel, state, asked(1));
    expect(outcome?.jumpTo).toBeUndefined();
    expect(answerOf(outcome)?.text).toMatch(/no answer/);
    expect(outcome?.events).toMatchObject([{ type: "RunCapped", data: { reason: "empty_answer" } }]);
  });

  it("maxRetries says how often it is asked", async () => {
    const twice = emptyAnswerMiddleware({ maxRetries: 2 });
    expect((await callHook(twice.afterModel, hookState([{ type: "ai", id: "e" }]), asked(1)))?.jumpTo).toBe(
      "model",
    );
  });

  it("a call that could not be parsed is asked for again, and stays for the repair", async () => {
    const invalid = { name: "bash", args: "{", id: "c", error: "x", type: "invalid_tool_call" };
    const outcome = await callHook(
      middleware.afterModel,
      hookState([{ type: "ai", invalid_tool_calls: [invalid] }]),
    );
    expect(outcome?.events).toMatchObject([{ data: { text: expect.stringMatching(/valid JSON/) } }]);
    expect(outcome?.events).toHaveLength(1);
  });

  it("text, pictures and calls are answers", async () => {
    for (const message of [
      { type: "ai", content: "x" },
      { type: "ai", content: [{ type: "image_url", image_url: { url: "https://e/x.png" } }] },
      { type: "ai", tool_calls: [{ name: "a", args: {}, id: "c" }] },
    ]) {
      expect(await callHook(middleware.afterModel, hookState([message]))).toBeUndefined();
    }
  });

  it("the next request tells the model, in a message that is not stored", async () => {
    const reducer = composeReducers([{ source: "test", reducers: middleware.reducers as never }]);
    const outcome = await callHook(middleware.afterModel, hookState([{ type: "ai", id: "e" }]));
    const retried = outcome?.events?.[0] ?? { type: "", data: {} };
    const fields = reducer.apply(reducer.initial, { ...retried, version: 1 });
    const { requests } = await callModel(middleware, modelRequest([{ type: "human" }], { fields }));
    expect(requests[0]?.messages.at(-1)?.name).toBe("empty_answer_notice");
    const answered = reducer.apply(fields, { type: "ModelResponded", data: {}, version: 2 });
    expect(answered).toEqual({});
  });
});

describe("token usage", () => {
  it("sums what every answer records", () => {
    const [definition] = tokenUsageMiddleware().reducers as never[];
    const reducer = composeReducers([{ source: "test", reducers: [definition as never] }]);
    const responded = (usage?: object) => ({ type: "ModelResponded", data: { usage }, version: 1 });
    const state = reducer.fold([
      responded({ input_tokens: 10, output_tokens: 2, total_tokens: 12 }),
      responded(),
      responded({ input_tokens: 5, output_tokens: 1 }),
    ]);
    expect(state.token_usage).toEqual({
      input_tokens: 15,
      output_tokens: 3,
      total_tokens: 18,
      model_calls: 3,
    } satisfies TokenUsage);
  });
});
