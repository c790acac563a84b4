import { AIMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { backoffMs, timerDelay } from "../../../actors/middleware/backoff.ts";
import { isPassingModelError, retryAfterMs } from "../../../actors/middleware/model-errors.ts";
import { modelFallbackMiddleware } from "../../../actors/middleware/model-fallback.ts";
import { type ModelRetryOptions, modelRetryMiddleware } from "../../../actors/middleware/model-retry.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { callModel, modelRequest } from "./hook-bench.ts";

const busy = Object.assign(new Error("overloaded"), { status: 529 });
const wrong = Object.assign(new Error("bad request"), { status: 400 });

/** Fails with these errors in order, then answers. */
const failing =
  (...errors: Error[]) =>
  (_request: unknown, attempt: number) => {
    const error = errors[attempt - 1];
    if (error) throw error;
    return new AIMessage("at last");
  };

async function retry(errors: Error[], options: ModelRetryOptions = {}, signal?: AbortSignal) {
  const waits: number[] = [];
  const middleware = modelRetryMiddleware({
    jitter: false,
    delay: async (ms) => {
      waits.push(ms);
    },
    ...options,
  });
  const request = modelRequest([], signal ? { signal } : {});
  const call = callModel(middleware, request, failing(...errors));
  const outcome = await call.then(
    ({ requests, result }) => ({ requests, result }),
    (error: Error) => ({ error }),
  );
  return { waits, ...outcome } as {
    waits: number[];
    requests?: unknown[];
    result?: AIMessage;
    error?: Error;
  };
}

describe("retries", () => {
  it("asks again with growing waits", async () => {
    const { waits, result, requests } = await retry([busy, busy]);
    expect(waits).toEqual([1_000, 2_000]);
    expect(result?.text).toBe("at last");
    expect(requests).toHaveLength(3);
  });

  it("gives up after maxRetries with the last error", async () => {
    const { waits, error } = await retry([busy, busy, busy]);
    expect(error).toBe(busy);
    expect(waits).toHaveLength(2);
    expect((await retry([busy], { maxRetries: 0 })).error).toBe(busy);
  });

  it("onFailure answer goes on with a message that names the error", async () => {
    const { result } = await retry([busy, busy, busy], { onFailure: "answer" });
    expect(result?.text).toMatch(/3 tries.*overloaded/);
  });

  it("does not repeat what stays wrong", async () => {
    expect(await retry([wrong])).toMatchObject({ waits: [], error: wrong });
  });

  it("retryOn decides otherwise", async () => {
    expect((await retry([wrong], { retryOn: () => true })).result?.text).toBe("at last");
  });

  it("initialDelayMs, factor and maxDelayMs shape the waits", async () => {
    const options = { maxRetries: 4, initialDelayMs: 10, factor: 3, maxDelayMs: 100 };
    expect((await retry([busy, busy, busy, busy], options)).waits).toEqual([10, 30, 90, 100]);
  });

  it("waits as long as the provider asks, up to maxDelayMs", async () => {
    const asked = Object.assign(new Error("slow down"), { status: 429, headers: { "retry-after": "7" } });
    expect((await retry([asked])).waits).toEqual([7_000]);
    expect((await retry([asked], { maxDelayMs: 500 })).waits).toEqual([500]);
  });

  it("jitter stays within a quarter", () => {
    const waits = Array.from({ length: 50 }, () => backoffMs(1, {}));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(750);
    expect(Math.max(...waits)).toBeLessThanOrEqual(1_250);
    expect(new Set(waits).size).toBeGreaterThan(1);
  });

  it("a cancel ends the wait and is not tried again", async () => {
    const abort = new AbortController();
    const delay = async () => abort.abort();
    expect((await retry([busy], { delay }, abort.signal)).error).toBe(busy);
    const gone = new AbortController();
    const waiting = timerDelay(1_000_000, gone.signal);
    gone.abort();
    await expect(waiting).resolves.toBeUndefined();
  });
});

describe("which errors pass", () => {
  it.each([
    [busy, true],
    [wrong, false],
    [Object.assign(new Error("Rate limit"), { status: 429 }), true],
    [Object.assign(new Error("insufficient_quota"), { status: 429 }), false],
    [Object.assign(new Error("connect"), { code: "ECONNREFUSED" }), true],
    [new TypeError("fetch failed", { cause: Object.assign(new Error("x"), { code: "ECONNRESET" }) }), true],
    [Object.assign(new Error("x"), { response: { status: 503 } }), true],
    [new TypeError("cannot read properties of undefined"), false],
    ["a text", false],
  ])("%s: %s", (error, passes) => {
    expect(isPassingModelError(error)).toBe(passes);
  });

  it("reads both headers of a wait, in any kind of headers", () => {
    expect(retryAfterMs({ headers: new Headers({ "retry-after-ms": "120" }) })).toBe(120);
    expect(retryAfterMs({ response: { headers: { "retry-after": "2" } } })).toBe(2_000);
    expect(retryAfterMs({ headers: { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" } })).toBeUndefined();
  });
});

describe("fallback models", () => {
  const second = new ScriptedModel({ answers: ["x"], name: "second" });
  const third = new ScriptedModel({ answers: ["x"], name: "third" });

  it("are asked in order until one answers, made on first use where they are functions", async () => {
    let made = 0;
    const make = () => {
      made += 1;
      return third;
    };
    const middleware = modelFallbackMiddleware([second, make]);
    const { requests, result } = await callModel(middleware, modelRequest([]), failing(wrong, busy));
    expect((result as AIMessage).text).toBe("at last");
    expect(requests.slice(1).map(({ model }) => model)).toEqual([second, third]);
    await callModel(middleware, modelRequest([]));
    expect(made).toBe(1);
  });

  it("the last error is thrown when none answers", async () => {
    const call = callModel(modelFallbackMiddleware([second]), modelRequest([]), failing(wrong, busy));
    await expect(call).rejects.toBe(busy);
  });

  it("after a cancel none is asked", async () => {
    const abort = new AbortController();
    abort.abort();
    const request = modelRequest([], { signal: abort.signal });
    await expect(callModel(modelFallbackMiddleware([second]), request, failing(wrong))).rejects.toBe(wrong);
  });
});
