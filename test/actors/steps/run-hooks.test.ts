import { HumanMessage, RemoveMessage } from "@langchain/core/messages";
import { Command, Overwrite } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { interrupt } from "../../../actors/interrupt.ts";
import { createMiddleware, type Middleware } from "../../../actors/middleware/define-middleware.ts";
import { HookError } from "../../../actors/steps/hook-error.ts";
import { InvalidJumpError } from "../../../actors/steps/jumps.ts";
import { ReleaseError, releaseHooks, runHooks } from "../../../actors/steps/run-hooks.ts";
import { InvalidUpdateError, UnknownFieldError } from "../../../actors/steps/updates.ts";
import { defineEvent } from "../../../events/define-event.ts";
import type { Message } from "../../../events/message.ts";
import { bare, stepContext } from "./step-context.ts";

const Noted = defineEvent({ type: "Noted", schema: z.object({ text: z.string() }) });
const notes = createMiddleware({
  name: "notes",
  events: [Noted],
  stateSchema: z.object({ count: z.number().optional(), topic: z.string().optional() }),
  reducers: {
    notes: {
      initial: [],
      on: { [Noted.type]: (all: string[], { text }: { text: string }) => [...all, text] },
    },
  },
});
const hello: Message = { id: "m1", type: "human", content: "hello" };
const withHello = (middleware: Middleware[]) => {
  const ctx = stepContext({ middleware: [notes, ...middleware] });
  return { ...ctx, state: { ...ctx.state, messages: [hello] } };
};
const afterModel = (hook: Parameters<typeof createMiddleware>[0]["afterModel"], name = "m") =>
  createMiddleware({ name, ...(hook && { afterModel: hook }) });

describe("order", () => {
  test.each([
    ["beforeAgent", ["a", "b", "c"]],
    ["beforeModel", ["a", "b", "c"]],
    ["afterModel", ["c", "b", "a"]],
    ["afterAgent", ["c", "b", "a"]],
  ] as const)("%s runs %j", async (phase, order) => {
    const seen: string[] = [];
    const parts = ["a", "b", "c"].map((name) =>
      createMiddleware({ name, [phase]: () => void seen.push(name) }),
    );
    await runHooks(phase, stepContext({ middleware: parts }));
    expect(seen).toEqual(order);
  });

  test("each hook sees the state after the events of those before it", async () => {
    const seen: unknown[] = [];
    const write = (name: string) =>
      createMiddleware({
        name,
        beforeModel: (state) => {
          seen.push(state.notes);
          return Noted({ text: name });
        },
      });
    const outcome = await runHooks(
      "beforeModel",
      stepContext({ middleware: [notes, write("a"), write("b")] }),
    );
    expect(seen).toEqual([[], ["a"]]);
    expect(outcome.state.notes).toEqual(["a", "b"]);
    expect(outcome.drafts.map(({ by }) => by)).toEqual(["middleware:a", "middleware:b"]);
  });
});

describe("what a hook may return", () => {
  test.each<[string, () => unknown, object[]]>([
    ["nothing", () => undefined, []],
    ["null", () => null, []],
    ["an event", () => Noted({ text: "a" }), [Noted({ text: "a" })]],
    [
      "events",
      () => [Noted({ text: "a" }), Noted({ text: "b" })],
      [Noted({ text: "a" }), Noted({ text: "b" })],
    ],
    [
      "events with an update",
      () => ({ events: [Noted({ text: "a" })], update: { topic: "t" } }),
      [Noted({ text: "a" }), { type: "StateUpdated", data: { field: "topic", value: "t" } }],
    ],
    [
      "a plain update",
      () => ({ topic: "t" }),
      [{ type: "StateUpdated", data: { field: "topic", value: "t" } }],
    ],
    [
      "a Command",
      () => new Command({ update: { topic: "t" } }),
      [{ type: "StateUpdated", data: { field: "topic", value: "t" } }],
    ],
    ["an update that changes nothing", () => ({ count: undefined, messages: [] }), []],
    [
      "an Overwrite",
      () => ({ topic: new Overwrite("t") }),
      [{ type: "StateUpdated", data: { field: "topic", value: "t", replace: true } }],
    ],
    [
      "a message",
      () => ({ messages: [new HumanMessage({ id: "m2", content: "x" })] }),
      [{ type: "MessagesAdded", data: { messages: [{ id: "m2", type: "human", content: "x" }] } }],
    ],
    [
      "the messages that are there, with one changed",
      () => ({ messages: [{ ...hello, content: "hi" }] }),
      [{ type: "MessagesReplaced", data: { messages: [{ ...hello, content: "hi" }] } }],
    ],
    [
      "a removal",
      () => ({ messages: [new RemoveMessage({ id: "m1" })] }),
      [{ type: "MessagesRemoved", data: { ids: ["m1"] } }],
    ],
  ])("%s", async (_what, hook, expected) => {
    const { drafts } = await runHooks("afterModel", withHello([afterModel(hook as never)]));
    expect(bare(drafts)).toEqual(expected.map((draft) => ({ ...draft })));
  });

  test("giving back the whole state records nothing", async () => {
    const hook = afterModel((state) => ({ ...state }));
    expect((await runHooks("afterModel", withHello([hook]))).drafts).toEqual([]);
  });

  test("interrupts are collected, and later hooks still run", async () => {
    const seen: string[] = [];
    const asks = afterModel(() => ({ interrupts: [interrupt("approval", { name: "rm" })] }), "asks");
    const later = afterModel(() => void seen.push("later"), "later");
    const outcome = await runHooks("afterModel", withHello([later, asks]));
    expect(outcome.interrupts).toEqual([{ kind: "approval", value: { name: "rm" } }]);
    expect(seen).toEqual(["later"]);
  });

  test("base64 in a message goes to the blob store before anybody sees the state", async () => {
    const url = `data:image/png;base64,${Buffer.alloc(3000, 7).toString("base64")}`;
    const hook = afterModel(() => ({
      messages: [new HumanMessage({ content: [{ type: "image_url", image_url: { url } }] })],
    }));
    const { drafts, state } = await runHooks("afterModel", withHello([hook]));
    expect(JSON.stringify(bare(drafts))).not.toContain("BwcHBwcHBwcH");
    expect(JSON.stringify(state)).toContain("sha256");
  });
});

describe("jumps", () => {
  const jump = (key: "jumpTo" | "jump_to", canJumpTo: ("model" | "end")[]) =>
    afterModel({ hook: () => ({ topic: "t", [key]: "end" }), canJumpTo });

  test.each(["jumpTo", "jump_to"] as const)("%s is recorded, steers, and is no field", async (key) => {
    const outcome = await runHooks("afterModel", withHello([jump(key, ["end"])]));
    expect(outcome.jumpTo).toBe("end");
    expect(outcome.drafts.at(-1)).toMatchObject({
      draft: { type: "JumpRequested", data: { to: "end" } },
      by: "middleware:m",
    });
    expect(outcome.state).not.toHaveProperty(key);
  });

  test("the first jump ends the phase", async () => {
    const seen: string[] = [];
    const last = afterModel(() => void seen.push("ran"), "last");
    await runHooks("afterModel", withHello([last, jump("jumpTo", ["end"])]));
    expect(seen).toEqual([]);
  });

  test.each([[["model"]], [[]]] as ("model" | "end")[][][])(
    "a jump that is not among %j is refused",
    async (allowed) => {
      await expect(runHooks("afterModel", withHello([jump("jumpTo", allowed)]))).rejects.toThrow(
        InvalidJumpError,
      );
    },
  );

  test("a hook without declared jumps may not jump", async () => {
    const ctx = withHello([afterModel(() => ({ jumpTo: "model" }))]);
    await expect(runHooks("afterModel", ctx)).rejects.toThrow(
      /afterModel of middleware:m.*declares no jumps/,
    );
  });
});

describe("bad hooks", () => {
  test.each<[string, () => unknown, RegExp]>([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
      /afterModel of middleware m failed: Error: boom/,
    ],
    ["rejects with a text", () => Promise.reject("boom"), /boom/],
    ["returns a number", () => 5, /returned 5/],
    ["returns events that are none", () => [{ type: "Noted" }], /event definition/],
    ["returns an event that does not fit", () => Noted({ text: 5 as never }), /InvalidEventError/],
    [
      "returns an event that does not fold",
      () => ({ messages: [new RemoveMessage({ id: "gone" })] }),
      /gone/,
    ],
    ["returns what has no JSON form", () => ({ topic: () => 1 }), /topic/],
  ])("a hook that %s is named", async (_what, hook, message) => {
    const act = runHooks("afterModel", withHello([afterModel(hook as never)]));
    await expect(act).rejects.toThrow(message);
  });

  test.each<[string, (state: never) => unknown]>([
    [
      "a field",
      (state: { topic: string }) => {
        state.topic = "x";
      },
    ],
    [
      "a value inside a field",
      (state: { notes: string[] }) => {
        state.notes.push("x");
      },
    ],
    [
      "the list of messages",
      (state: { messages: unknown[] }) => {
        state.messages.push(1);
      },
    ],
    [
      "a message",
      (state: { messages: { content: string }[] }) => {
        (state.messages[0] as { content: string }).content = "x";
      },
    ],
    [
      "a message inside",
      (state: { messages: { additional_kwargs: object }[] }) => {
        Object.assign(state.messages[0]?.additional_kwargs ?? {}, { a: 1 });
      },
    ],
  ])("changing %s in place fails", async (_what, change) => {
    const act = runHooks("afterModel", withHello([afterModel(change as never)]));
    await expect(act).rejects.toMatchObject({
      name: "HookError",
      middleware: "m",
      hook: "afterModel",
      cause: expect.any(TypeError),
    });
  });

  test("an unknown field is named with the middleware, the hook and the fields there are", async () => {
    const act = runHooks("afterModel", withHello([afterModel(() => ({ tpoic: "t" }))]));
    await expect(act).rejects.toThrow(UnknownFieldError);
    await expect(act).rejects.toMatchObject({
      field: "tpoic",
      by: "middleware:m",
      hook: "afterModel",
      known: expect.arrayContaining(["topic"]),
    });
  });

  test("a value that does not fit its schema is refused with the reason", async () => {
    const act = runHooks("afterModel", withHello([afterModel(() => ({ count: "many" }))]));
    await expect(act).rejects.toThrow(InvalidUpdateError);
    await expect(act).rejects.toThrow(/"count" by middleware:m.*expected number/);
  });
});

describe("context", () => {
  const reader = (name: string, contextSchema: z.ZodObject<z.ZodRawShape> | undefined, seen: unknown[]) =>
    createMiddleware({ name, contextSchema, beforeAgent: (_state, { context }) => void seen.push(context) });

  test("each middleware gets the keys of its own schema, with defaults, frozen", async () => {
    const seen: object[] = [];
    const ctx = stepContext(
      {
        middleware: [
          reader("a", z.object({ user: z.string(), lang: z.string().default("en") }), seen),
          reader("b", z.object({ secret: z.string() }), seen),
          reader("c", undefined, seen),
        ],
      },
      { context: { user: "u", secret: "s", other: 1 } },
    );
    await runHooks("beforeAgent", ctx);
    expect(seen).toEqual([{ user: "u", lang: "en" }, { secret: "s" }, {}]);
    expect(seen.every(Object.isFrozen)).toBe(true);
  });
});

describe("release", () => {
  test("runs every release in reverse order, and an error in one does not hide the others", async () => {
    const seen: string[] = [];
    const part = (name: string, fails = false) =>
      createMiddleware({
        name,
        release: () => {
          seen.push(name);
          if (fails) throw new Error(`${name} is stuck`);
          return Noted({ text: name });
        },
      });
    const ctx = stepContext({ middleware: [notes, part("a"), part("b", true), part("c")] });
    const error = await releaseHooks(ctx).catch((caught: unknown) => caught);
    expect(seen).toEqual(["c", "b", "a"]);
    expect(error).toBeInstanceOf(ReleaseError);
    expect((error as ReleaseError).errors).toMatchObject([
      { name: "HookError", middleware: "b", hook: "release" },
    ]);
    expect(bare((error as ReleaseError).drafts)).toEqual(
      [Noted({ text: "c" }), Noted({ text: "a" })].map((draft) => ({ ...draft })),
    );
  });

  test("gives the events of all when none fails", async () => {
    const ctx = stepContext({
      middleware: [notes, createMiddleware({ name: "a", release: () => Noted({ text: "a" }) })],
    });
    expect((await releaseHooks(ctx)).map(({ by }) => by)).toEqual(["middleware:a"]);
  });
});

test("HookError keeps its cause", () => {
  const cause = new RangeError("x");
  expect(new HookError("m", "beforeModel", cause).cause).toBe(cause);
});
