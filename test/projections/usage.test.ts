import { beforeEach, describe, expect, test } from "vitest";
import { ModelCallFailed, ModelCallStarted, ModelResponded } from "../../events/model.ts";
import { costOf, type PriceTable } from "../../projections/prices.ts";
import { readUsage, type UsageRow, usage } from "../../projections/usage.ts";
import { createProjectionBench, type ProjectionBench } from "./fold-projection.ts";

const view = { version: 0, from: null, edits: [], system: null };
const started = (callId: string, model: string) =>
  ModelCallStarted({ callId, model, view, tools: null, requestHash: "h" });
const responded = (callId: string, input: number, output: number, cached = 0) =>
  ModelResponded({
    callId,
    message: { id: callId, type: "ai", content: "" },
    usage: {
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      input_token_details: { cache_read: cached },
    },
    latencyMs: 100,
  });

const prices: PriceTable = {
  currency: "EUR",
  models: { "lab:*": { inputPerMillion: 2, outputPerMillion: 10, cachedInputPerMillion: 1 } },
};

let bench: ProjectionBench<UsageRow>;
beforeEach(async () => {
  bench = createProjectionBench(usage);
  await bench.record("a", [started("1", "lab:big"), responded("1", 1000, 100, 400)], { runId: "r1" });
  await bench.record("a", [started("2", "lab:small"), responded("2", 10, 1)], { runId: "r2" });
  await bench.record("b", [started("3", "other"), responded("3", 5, 5)], { runId: "r3" });
  await bench.update();
});

describe("usage", () => {
  test("is counted by model, thread, run and in all", async () => {
    const models = await readUsage(bench.view, { by: "model" });
    expect(
      models.map(({ id, inputTokens, outputTokens, cachedInputTokens, calls, latencyMs }) => [
        id,
        inputTokens,
        outputTokens,
        cachedInputTokens,
        calls,
        latencyMs,
      ]),
    ).toEqual([
      ["other", 5, 5, 0, 1, 100],
      ["lab:small", 10, 1, 0, 1, 100],
      ["lab:big", 1000, 100, 400, 1, 100],
    ]);
    const threads = await readUsage(bench.view, { by: "thread" });
    expect(threads.map(({ id, inputTokens }) => [id, inputTokens])).toEqual([
      ["b", 5],
      ["a", 1010],
    ]);
    expect(await readUsage(bench.view, { by: "run", threadId: "a" })).toMatchObject([
      { id: "r2", threadId: "a", calls: 1 },
      { id: "r1", threadId: "a", calls: 1 },
    ]);
    expect(await readUsage(bench.view, { by: "total" })).toMatchObject([{ calls: 3, inputTokens: 1015 }]);
  });

  test("costs what the price table says, and names models without a price", async () => {
    const [total] = await readUsage(bench.view, { by: "total", prices });
    const big = (600 * 2 + 400 * 1 + 100 * 10) / 1e6;
    const small = (10 * 2 + 1 * 10) / 1e6;
    expect(total?.cost).toBeCloseTo(big + small, 12);
    expect(total?.unpriced).toEqual(["other"]);
    expect((await readUsage(bench.view, { by: "total" }))[0]?.cost).toBeUndefined();
  });

  test("counts failed tries beside the answer of the same call", async () => {
    const error = { name: "Timeout", message: "late" };
    await bench.record("c", [started("9", "lab:big"), ModelCallFailed({ callId: "9", error })]);
    await bench.record("c", [responded("9", 7, 7)]);
    await bench.update();
    expect(await bench.view.get("thread/c")).toMatchObject({
      models: { "lab:big": { calls: 1, failedCalls: 1, inputTokens: 7 } },
    });
    expect(await bench.view.list({ prefix: "call/" })).toEqual([]);
  });

  test("of a call whose start is not in the log is put under unknown", async () => {
    await bench.record("c", [responded("lost", 1, 1)]);
    await bench.update();
    expect(await bench.view.get("model/unknown")).toMatchObject({ models: { unknown: { calls: 1 } } });
  });
});

test("the longest fitting name gives the price", () => {
  const table: PriceTable = {
    currency: "EUR",
    models: {
      "lab:*": { inputPerMillion: 1, outputPerMillion: 1 },
      "lab:big*": { inputPerMillion: 2, outputPerMillion: 2 },
      "lab:big-1": { inputPerMillion: 3, outputPerMillion: 3 },
    },
  };
  const tokens = { inputTokens: 1e6, outputTokens: 0, cachedInputTokens: 0 };
  expect(["lab:x", "lab:big-2", "lab:big-1", "x"].map((model) => costOf(model, tokens, table))).toEqual([
    1,
    2,
    3,
    undefined,
  ]);
});
