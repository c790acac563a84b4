import { AIMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import type { HookState } from "../../../actors/middleware/define-middleware.ts";
import { type TitleMiddlewareOptions, titleMiddleware } from "../../../actors/middleware/title.ts";
import { readTitleConfig, TitleConfigError } from "../../../actors/middleware/title-config.ts";
import { TitlePromptError, titlePrompt } from "../../../actors/middleware/title-text.ts";
import type { EventDraft } from "../../../events/define-event.ts";
import { composeReducers } from "../../../reducers/thread-state.ts";
import { title as titleReducer } from "../../../reducers/title.ts";
import { titleCases, titleRanges, writtenTitleCases } from "../../cases/title.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { callHook, hookRuntime, hookState } from "./hook-bench.ts";

const reducer = composeReducers([{ source: "title", reducers: [titleReducer] }]);

function folded(events: readonly EventDraft[] | undefined, title?: string | null): unknown {
  const from = title === undefined ? {} : { title };
  return (
    reducer.fold(
      (events ?? []).map((draft, index) => ({ ...draft, version: index + 1 })),
      from,
    ).title ?? null
  );
}

const asked = (text: string, fields: Record<string, unknown> = {}) =>
  hookState(
    [
      { type: "human", content: text },
      { type: "ai", content: "ok" },
    ],
    fields,
  );

async function titleAfter(options: TitleMiddlewareOptions, state: HookState) {
  const outcome = await callHook(titleMiddleware(options).afterModel, state);
  return { title: folded(outcome?.events), events: outcome?.events ?? [] };
}

describe("the title from the user's own text", () => {
  for (const { id, what, config = {}, messages, title } of titleCases) {
    test(`${id}: ${what}`, async () => {
      expect((await titleAfter(config, { messages } as unknown as HookState)).title).toBe(title);
    });
  }

  test("(wanted) a message of blanks has no blank title", async () => {
    expect((await titleAfter({}, asked("  \n\t "))).title).toBe("New Conversation");
  });

  test("an imported message shows its uploads block to nobody, even without the original text beside it", async () => {
    const { title } = await titleAfter(
      {},
      asked("<uploaded_files>\n- a.pdf\n</uploaded_files>\n\nWhat is in it?"),
    );
    expect(title).toBe("What is in it?");
  });

  test("messages that middlewares put in do not count as the user's", async () => {
    const state = hookState([
      { type: "human", content: "reminder", additional_kwargs: { hide_from_ui: true } },
      { type: "human", content: "date", additional_kwargs: { dynamic_context_reminder: true } },
      { type: "human", content: "the question" },
      { type: "ai", content: "ok" },
    ]);
    expect((await titleAfter({}, state)).title).toBe("the question");
  });

  test("the origin is recorded", async () => {
    expect((await titleAfter({}, asked("hello"))).events).toEqual([
      { type: "TitleSet", data: { title: "hello", origin: "auto" } },
    ]);
  });

  test.each([
    ["emoji that are one to the eye", "👩‍👩‍👧‍👦".repeat(30)],
    ["right-to-left text", "שלום עולם ".repeat(40)],
    ["100 kB", "long words ".repeat(10_000)],
    ["100 kB of blanks before the text", `${" ".repeat(100_000)}text`],
    ["one letter with endless accents", `a${"\u0301".repeat(500)}`],
  ])("%s: within the limit, no half characters, not blank", async (_, text) => {
    const title = String((await titleAfter({ max_chars: 20 }, asked(text))).title);
    expect([...title].length).toBeLessThanOrEqual(20);
    expect(title.isWellFormed()).toBe(true);
    expect(title.trim().length).toBeGreaterThan(3);
    expect(title).not.toMatch(/\u200d(\.\.\.)?$/);
  });
});

describe("a title that is there stays", () => {
  test("no second title is made", async () => {
    expect((await titleAfter({}, asked("hello", { title: "Mine" }))).events).toEqual([]);
  });

  test("a title that comes too late does not take the place of the user's", async () => {
    const { events } = await titleAfter({}, asked("hello"));
    expect(folded(events, "Renamed by hand")).toBe("Renamed by hand");
  });
});

describe("a first run that was stopped", () => {
  const release = async (state: HookState, options: TitleMiddlewareOptions = {}) =>
    callHook(titleMiddleware(options).release as never, state);

  test("gets a title without an answer", async () => {
    const outcome = await release(hookState([{ type: "human", content: "q1" }]));
    expect(outcome?.events).toEqual([{ type: "TitleSet", data: { title: "q1", origin: "interrupted" } }]);
  });

  test("TTL-08: keeps the title that it has", async () => {
    expect(await release(hookState([{ type: "human", content: "q1" }], { title: "Set" }))).toBeUndefined();
  });

  test("of a later turn, or switched off, gives none", async () => {
    const second = hookState([
      { type: "human", content: "q1" },
      { type: "ai" },
      { type: "human", content: "q2" },
    ]);
    expect(await release(second)).toBeUndefined();
    expect(await release(hookState([{ type: "human", content: "q" }]), { enabled: false })).toBeUndefined();
  });
});

describe("a title that a model writes", () => {
  const written = (model: ScriptedModel, more: TitleMiddlewareOptions = {}) => ({
    model_name: "m",
    resolveModel: () => model,
    ...more,
  });

  for (const { id, what, prompt, answer, title, calls } of writtenTitleCases) {
    test(`${id}: ${what}`, async () => {
      const model = new ScriptedModel({
        answers: [typeof answer === "string" ? new AIMessage(answer) : answer],
      });
      const options = written(model, prompt === undefined ? {} : { prompt_template: prompt });
      const result = await titleAfter(options, asked("Please write tests"));
      expect({ title: result.title, calls: model.calls.length }).toEqual({ title, calls });
    });
  }

  test("is recorded as the model's, so that no replay has to ask", async () => {
    const model = new ScriptedModel({ answers: ["Test Plan"] });
    expect((await titleAfter(written(model), asked("Please write tests"))).events).toEqual([
      { type: "TitleSet", data: { title: "Test Plan", origin: "llm" } },
    ]);
  });

  test("is cut hard at max_chars", async () => {
    const model = new ScriptedModel({ answers: ["y".repeat(100)] });
    expect((await titleAfter(written(model, { max_chars: 10 }), asked("q"))).title).toBe("y".repeat(10));
  });

  test("the prompt shows max_words and the first 500 characters of both texts, and braces that are written twice", async () => {
    const model = new ScriptedModel({ answers: ["T"] });
    const prompt_template = "{{{max_words}}}|{user_msg}|{assistant_msg}";
    const state = hookState([
      { type: "human", content: "u".repeat(600) },
      { type: "ai", content: "a".repeat(600) },
    ]);
    await titleAfter(written(model, { max_words: 4, prompt_template }), state);
    expect(model.calls[0]?.messages[0]?.text).toBe(`{4}|${"u".repeat(500)}|${"a".repeat(500)}`);
  });

  test("a placeholder or a brace that means nothing is named in the error", () => {
    const config = readTitleConfig({ prompt_template: "{usr_msg}" });
    expect(() => titlePrompt(config, "u", "a")).toThrow(TitlePromptError);
    expect(() => titlePrompt(config, "u", "a")).toThrow("{usr_msg}");
    expect(() => titlePrompt({ ...config, prompt_template: "open {" }, "u", "a")).toThrow(TitlePromptError);
  });

  test("a model that cannot be found gives the local title", async () => {
    const { events } = await titleAfter({ model_name: "no-such-model" }, asked("hello"));
    expect(events).toEqual([{ type: "TitleSet", data: { title: "hello", origin: "auto" } }]);
  });

  test("is asked for without a listener and with tags that keep it out of streams", async () => {
    const model = new ScriptedModel({ answers: ["T"] });
    const seen: unknown[] = [];
    const invoke = model.invoke.bind(model);
    model.invoke = (input, options) => {
      seen.push(options);
      return invoke(input, options);
    };
    await titleAfter(written(model), asked("q"));
    expect(seen).toMatchObject([{ tags: expect.arrayContaining(["nostream", "title"]), callbacks: [] }]);
  });

  test("a cancelled run does not wait for it", async () => {
    const model = new ScriptedModel({ answers: ["late"], latencyMs: 60_000 });
    const abort = new AbortController();
    abort.abort();
    const outcome = await callHook(
      titleMiddleware(written(model)).afterModel,
      asked("hello"),
      hookRuntime({ signal: abort.signal }),
    );
    expect(folded(outcome?.events)).toBe("hello");
  });
});

describe("the config block", () => {
  for (const { id, field, accepted, rejected } of titleRanges) {
    test(`${id}: ${field} takes ${accepted.join(" and ")}, not ${rejected.join(" and ")}`, () => {
      for (const value of accepted) expect(readTitleConfig({ [field]: value })[field]).toBe(value);
      for (const value of rejected) {
        expect(() => titleMiddleware({ [field]: value })).toThrow(TitleConfigError);
      }
    });
  }

  test("has the seed's defaults", () => {
    expect(readTitleConfig(undefined)).toMatchObject({
      enabled: true,
      max_words: 6,
      max_chars: 60,
      model_name: null,
    });
  });

  test("is read from under the key of a config file, too", () => {
    const file = { title: { enabled: true, max_words: 8, max_chars: 80, model_name: null }, other: {} };
    expect(readTitleConfig(file)).toMatchObject({ max_words: 8, max_chars: 80 });
  });

  test("an unknown key is an error that names it", () => {
    expect(() => readTitleConfig({ max_word: 3 })).toThrow(/max_word/);
  });
});
