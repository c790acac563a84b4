import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { deferred } from "../../actors/deferred.ts";
import { createMiddleware, type Middleware } from "../../actors/middleware/define-middleware.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { defineEvent } from "../../events/define-event.ts";
import type { RecordedEvent } from "../../events/envelope.ts";
import { batchLines, recordingStore } from "./recording-store.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { add, callsTools } from "./simple-tools.ts";

const Noted = defineEvent({ type: "Noted", schema: z.object({ text: z.string() }) });

function refuse(): never {
  throw new Error("no answers here");
}

/** Says in the log that each of its hooks ran. */
const chatty = createMiddleware({
  name: "chatty",
  events: [Noted],
  beforeAgent: () => Noted({ text: "beforeAgent" }),
  beforeModel: () => Noted({ text: "beforeModel" }),
  afterModel: () => Noted({ text: "afterModel" }),
  afterAgent: () => Noted({ text: "afterAgent" }),
  release: () => Noted({ text: "release" }),
});

async function eventsOf(thread: { events(): AsyncIterable<RecordedEvent> }): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const event of thread.events()) events.push(event);
  return events;
}

describe("one atomic batch at each boundary", () => {
  test("without hooks in between, what the runtime does next joins the batch", async () => {
    const store = await recordingStore();
    const model = new ScriptedModel({ answers: [callsTools(["add", { a: 1, b: 2 }]), "3"] });
    const agent = createAgent({ model, tools: [add], store });
    await agent.thread("t").run("1 + 2?").result;
    expect(batchLines(store)).toEqual([
      "ThreadCreated RunStarted MessagesAdded",
      "ModelCallStarted",
      "ModelResponded ToolCallStarted",
      "ToolCallCompleted ModelCallStarted",
      "ModelResponded RunCompleted",
    ]);
  });

  test.each([
    ["beforeModel", { beforeModel: () => undefined }, "ToolCallCompleted"],
    ["wrapModelCall", { wrapModelCall: (request, ask) => ask(request) }, "ToolCallCompleted"],
    ["afterModel", { afterModel: () => undefined }, "ModelResponded"],
    ["afterAgent", { afterAgent: () => undefined }, "ModelResponded"],
    ["release", { release: () => undefined }, "ModelResponded"],
  ] satisfies [string, Partial<Middleware>, string][])(
    "nothing waits in memory while the %s of a middleware runs",
    async (_hook, hooks, alone) => {
      const store = await recordingStore();
      const model = new ScriptedModel({ answers: [callsTools(["add", { a: 1, b: 2 }]), "3"] });
      const middleware = [createMiddleware({ name: "quiet", ...hooks })];
      await createAgent({ model, tools: [add], store, middleware })
        .thread("t")
        .run("1 + 2?").result;
      expect(batchLines(store)).toContain(alone);
    },
  );

  test("a large answer is written by itself", async () => {
    const store = await recordingStore();
    const note = "long ".repeat(14_000);
    const model = new ScriptedModel({ answers: [callsTools(["add", { a: 1, b: 2, note }]), "3"] });
    await createAgent({ model, tools: [add], store })
      .thread("t")
      .run("go").result;
    expect(batchLines(store)).toContain("ModelResponded");
  });

  test("an answer that cannot be folded fails the run, and the end is recorded without it", async () => {
    const store = await recordingStore();
    const strict = createMiddleware({
      name: "strict",
      reducers: {
        seen: {
          initial: 0,
          on: {
            ModelResponded: refuse,
          },
        },
      },
    });
    const model = new ScriptedModel({ answers: ["hello"] });
    const agent = createAgent({ model, store, middleware: [strict] });
    const { status, error } = await agent.thread("t").run("go").result;
    expect(status).toBe("failed");
    expect(error?.message).toContain("no answers here");
    expect(batchLines(store).at(-1)).toBe("RunFailed");
  });

  test("hooks' events stand with what they lead to", async () => {
    const store = await recordingStore();
    const model = new ScriptedModel({ answers: [callsTools(["add", { a: 1, b: 2 }]), "3"] });
    const agent = createAgent({ model, tools: [add], store, middleware: [chatty] });
    await agent.thread("t").run("1 + 2?").result;
    expect(batchLines(store)).toEqual([
      "ThreadCreated RunStarted MessagesAdded",
      "Noted Noted ModelCallStarted",
      "ModelResponded",
      "Noted ToolCallStarted",
      "ToolCallCompleted",
      "Noted ModelCallStarted",
      "ModelResponded",
      "Noted Noted Noted RunCompleted",
    ]);
    const notes = (await eventsOf(agent.thread("t"))).flatMap(({ type, data }) =>
      type === "Noted" ? [(data as { text: string }).text] : [],
    );
    expect(notes).toEqual([
      "beforeAgent",
      "beforeModel",
      "afterModel",
      "beforeModel",
      "afterModel",
      "afterAgent",
      "release",
    ]);
  });

  test("parallel tools are recorded as they finish, and stand in the order of their calls", async () => {
    const store = await recordingStore();
    const first = deferred<string>();
    const slow = defineTool({
      name: "slow",
      description: "waits",
      schema: z.object({}),
      run: () => first.promise,
    });
    const quick = defineTool({
      name: "quick",
      description: "does not wait",
      schema: z.object({}),
      run: () => "quick done",
    });
    const model = new ScriptedModel({ answers: [callsTools(["slow", {}], ["quick", {}]), "done"] });
    const agent = createAgent({ model, tools: [slow, quick], store });
    const run = agent.thread("t").run("go");
    const finished: string[] = [];
    for await (const item of run) {
      if (item.kind !== "event" || item.event.type !== "ToolCallCompleted") continue;
      finished.push((item.event.data as { callId: string }).callId);
      first.resolve("slow done");
    }
    expect(finished).toEqual(["call-quick-1", "call-slow-0"]);
    const { state } = await run.result;
    const contents = (state.messages as { content: string }[]).map(({ content }) => content);
    expect(contents).toEqual(["go", "", "slow done", "quick done", "done"]);
    expect(batchLines(store).slice(2, 5)).toEqual([
      "ModelResponded ToolCallStarted ToolCallStarted",
      "ToolCallCompleted",
      "ToolCallCompleted",
    ]);
  });
});

test("every event says who, in which step, and what led to it", async () => {
  const model = new ScriptedModel({ answers: [callsTools(["add", { a: 1, b: 2 }]), "3"], name: "m" });
  const store = await recordingStore();
  const agent = createAgent({ model, tools: [add], store });
  const run = agent.thread("t").run("1 + 2?", { by: "client" });
  await run.result;
  const events = await eventsOf(agent.thread("t"));
  const typeOf = new Map(events.map((event) => [event.id, event.type]));
  const lines = events.map(({ type, metadata: { by, step, causationId } }) => {
    return `${step} ${type} by ${by} after ${typeOf.get(causationId)}`;
  });
  expect(lines).toEqual([
    "0 ThreadCreated by runtime after ThreadCreated",
    "0 RunStarted by runtime after RunStarted",
    "0 MessagesAdded by client after MessagesAdded",
    "0 ModelCallStarted by runtime after RunStarted",
    "0 ModelResponded by model:m after ModelCallStarted",
    "1 ToolCallStarted by runtime after ModelResponded",
    "1 ToolCallCompleted by tool:add after ToolCallStarted",
    "2 ModelCallStarted by runtime after ToolCallCompleted",
    "2 ModelResponded by model:m after ModelCallStarted",
    "2 RunCompleted by runtime after ModelResponded",
  ]);
  expect(new Set(events.map(({ metadata }) => metadata.correlationId))).toEqual(new Set([run.runId]));
  expect(new Set(events.map(({ metadata }) => metadata.runId))).toEqual(new Set([run.runId]));
});

test("a batch that is too large for one append is spread over several", async () => {
  const store = await recordingStore();
  const Big = defineEvent({ type: "Big", schema: z.object({ text: z.string() }) });
  const big = createMiddleware({
    name: "big",
    events: [Big],
    beforeAgent: () => Array.from({ length: 5 }, () => Big({ text: "x".repeat(300_000) })),
  });
  const agent = createAgent({ model: new ScriptedModel({ answers: ["ok"] }), middleware: [big], store });
  const { status } = await agent.thread("t").run("go").result;
  expect(status).toBe("completed");
  const types = store.batches.flat();
  expect(types.filter((type) => type === "Big")).toHaveLength(5);
  expect(types.indexOf("ModelCallStarted")).toBeGreaterThan(types.lastIndexOf("Big"));
});

test("a batch that a reducer refuses is never written", async () => {
  const store = await recordingStore();
  const strict = createMiddleware({
    name: "strict",
    events: [Noted],
    reducers: {
      note: {
        initial: null,
        on: {
          Noted: (note: string | null, data: { text: string }) => {
            if (note !== null && note !== data.text) throw new Error("another note");
            return data.text;
          },
        },
      },
    },
    beforeAgent: () => [Noted({ text: "one" }), Noted({ text: "two" })],
  });
  const agent = createAgent({ model: new ScriptedModel({ answers: ["ok"] }), middleware: [strict], store });
  const result = await agent.thread("t").run("go").result;
  expect(result.status).toBe("failed");
  expect(result.error?.message).toContain("another note");
  expect(batchLines(store)).toEqual(["ThreadCreated RunStarted MessagesAdded", "RunFailed"]);
});
