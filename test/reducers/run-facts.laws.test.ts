import { fc } from "@fast-check/vitest";
import { describe, expect, test } from "vitest";
import { catalogue } from "../../events/catalogue.ts";
import type { FoldEvent } from "../../events/envelope.ts";
import { deepFreeze } from "../../events/log/deep-freeze.ts";
import {
  createRunFactsReducer,
  initialFacts,
  openInterrupts,
  runFactsField,
  type ThreadFacts,
} from "../../reducers/run-facts.ts";
import { composeReducers } from "../../reducers/thread-state.ts";

const reducer = composeReducers([
  { source: "test", reducers: [createRunFactsReducer(Object.keys(catalogue))] },
]);

function factsAfter(...events: readonly (readonly [type: string, data: unknown])[]): ThreadFacts {
  const folded = reducer.fold(events.map(([type, data], index) => ({ type, data, version: index + 1 })));
  return folded[runFactsField] as ThreadFacts;
}

const started = ["RunStarted", { runId: "r1", owner: "o" }] as const;
const answer = (id: string, ...calls: string[]) =>
  ({
    id,
    type: "ai",
    content: "",
    tool_calls: calls.map((call) => ({ id: call, name: "tool", args: {} })),
  }) as const;
const responded = (id: string, ...calls: string[]) =>
  ["ModelResponded", { callId: `m-${id}`, message: answer(id, ...calls), latencyMs: 1 }] as const;
const result = (callId: string) => ({
  id: `result-${callId}`,
  type: "tool",
  content: "",
  tool_call_id: callId,
});
const completed = (callId: string) =>
  ["ToolCallCompleted", { callId, message: result(callId), durationMs: 1 }] as const;
const openIds = (facts: ThreadFacts) => facts.calls.map(({ id }) => id);

describe("the open run", () => {
  test("says where it goes on, as far as the log tells", () => {
    const steps: [readonly (readonly [string, unknown])[], string][] = [
      [[started], "beforeAgent"],
      [[started, ["ModelCallStarted", { callId: "m" }]], "model"],
      [[started, ["ModelCallStarted", { callId: "m" }], responded("a", "c")], "afterModel"],
      [[started, responded("a", "c"), ["ToolCallStarted", { callId: "c", name: "tool" }]], "tools"],
    ];
    for (const [events, next] of steps) expect(factsAfter(...events).run?.next).toBe(next);
  });

  test("ends with each of its ends", () => {
    for (const [type, end] of [
      ["RunCompleted", "completed"],
      ["RunFailed", "failed"],
      ["RunCancelled", "cancelled"],
    ] as const) {
      const facts = factsAfter(started, [type, { runId: "r1" }]);
      expect([facts.run, facts.lastEnd, facts.lastRunId]).toEqual([null, end, "r1"]);
    }
  });

  test("belongs to who took it over, and knows of a request to cancel", () => {
    const facts = factsAfter(
      started,
      ["RunTakenOver", { runId: "r1", owner: "o2", previousOwner: "o" }],
      ["RunCancelRequested", { runId: "r1", reason: "enough" }],
    );
    expect(facts.run).toMatchObject({ owner: "o2", cancelReason: "enough" });
  });

  test("is not open any more where the thread went back, or was forked", () => {
    for (const event of [
      ["ThreadRewound", { toVersion: 1 }],
      ["ThreadForked", { parentThreadId: "p", parentVersion: 1 }],
    ] as const) {
      expect(factsAfter(started, responded("a", "c"), event)).toMatchObject({ run: null, lastEnd: null });
    }
  });
});

describe("open calls", () => {
  test("are those of the last answer, until they have a result", () => {
    expect(openIds(factsAfter(started, responded("a", "c1", "c2"), completed("c1")))).toEqual(["c2"]);
    expect(openIds(factsAfter(started, responded("a", "c1"), responded("b", "c2")))).toEqual(["c2"]);
  });

  test("are closed by a tool message, wherever it comes from", () => {
    expect(
      openIds(factsAfter(started, responded("a", "c1"), ["MessagesAdded", { messages: [result("c1")] }])),
    ).toEqual([]);
  });

  test("stay while a hook adds messages in the run, and are over when the user goes on outside of one", () => {
    const note = ["MessagesAdded", { messages: [{ id: "n", type: "human", content: "remember" }] }] as const;
    expect(openIds(factsAfter(started, responded("a", "c1"), note))).toEqual(["c1"]);
    const outside = ["MessagesAdded", { messages: [answer("a", "c1")] }] as const;
    expect(openIds(factsAfter(outside))).toEqual(["c1"]);
    expect(openIds(factsAfter(outside, note))).toEqual([]);
  });

  test("follow an edit of the answer: kept, taken away, or added; a closed one stays closed", () => {
    const facts = factsAfter(
      started,
      responded("a", "c1", "c2", "c3"),
      ["ToolCallStarted", { callId: "c2", name: "tool" }],
      completed("c1"),
      ["MessagesReplaced", { messages: [answer("a", "c1", "c2", "c4")] }],
    );
    expect(facts.calls).toMatchObject([
      { id: "c2", started: true },
      { id: "c4", started: false },
    ]);
  });

  test("are gone with the answer", () => {
    expect(openIds(factsAfter(started, responded("a", "c1"), ["MessagesRemoved", { ids: ["a"] }]))).toEqual(
      [],
    );
    expect(openIds(factsAfter(started, responded("a", "c1"), ["MessagesRemoved", { all: true }]))).toEqual(
      [],
    );
    expect(openIds(factsAfter(started, responded("a", "c1"), ["MessagesRemoved", { ids: ["x"] }]))).toEqual([
      "c1",
    ]);
  });
});

describe("interrupts", () => {
  const asked = [
    started,
    responded("a", "c1"),
    ["ToolCallStarted", { callId: "c1", name: "tool" }],
    [
      "RunInterrupted",
      {
        runId: "r1",
        interrupts: [{ id: "i1", kind: "approval", value: null, callId: "c1", by: "tool:tool" }],
      },
    ],
  ] as const;
  const resumed = ["RunStarted", { runId: "r2", owner: "o", resumes: "r1" }] as const;

  test("wait for an answer, which reaches the call; the call has not been started until then", () => {
    const facts = factsAfter(...asked);
    expect(openInterrupts(facts).map(({ id }) => id)).toEqual(["i1"]);
    expect(facts.calls).toMatchObject([{ started: false, answers: [] }]);
    const answered = factsAfter(...asked, resumed, [
      "InterruptResolved",
      { interruptId: "i1", decision: "yes" },
    ]);
    expect(openInterrupts(answered)).toEqual([]);
    expect(answered.calls).toMatchObject([{ answers: [{ by: "tool:tool", decision: "yes" }] }]);
    expect(answered.run).toMatchObject({ next: "tools", resumes: "r1" });
  });

  test("of a hook say where the run goes on", () => {
    const interrupts = [{ id: "i1", kind: "question", value: null, resumeAt: "afterModel" }];
    const facts = factsAfter(started, ["RunInterrupted", { runId: "r1", interrupts }], resumed);
    expect(facts.run?.next).toBe("afterModel");
  });

  test("are superseded by a run with a new input", () => {
    expect(openInterrupts(factsAfter(...asked, ["RunStarted", { runId: "r2", owner: "o" }]))).toEqual([]);
  });
});

describe("counters", () => {
  const turn = [started, responded("a", "c1"), completed("c1"), ["RunCompleted", { runId: "r1" }]] as const;

  test("of a run begin again with the next one, those of the thread go on", () => {
    const facts = factsAfter(...turn, ["RunStarted", { runId: "r2", owner: "o" }], responded("b"));
    expect(facts).toMatchObject({
      modelCalls: 1,
      toolCalls: {},
      threadModelCalls: 2,
      threadToolCalls: { tool: 1 },
    });
    expect(facts.eventCounts).toEqual({ RunStarted: 1, ModelResponded: 1 });
  });

  test("go on in a run that resumes another", () => {
    const facts = factsAfter(
      started,
      responded("a", "c1"),
      ["RunInterrupted", { runId: "r1", interrupts: [{ id: "i", kind: "q", value: null, callId: "c1" }] }],
      ["RunStarted", { runId: "r2", owner: "o", resumes: "r1" }],
      completed("c1"),
    );
    expect(facts).toMatchObject({ modelCalls: 1, toolCalls: { tool: 1 } });
    expect(facts.eventCounts.RunStarted).toBe(2);
  });

  test("take any name for a tool", () => {
    const message = { ...answer("a"), tool_calls: [{ id: "c", name: "__proto__", args: {} }] };
    const facts = factsAfter(
      started,
      ["ModelResponded", { callId: "m", message, latencyMs: 1 }],
      completed("c"),
    );
    expect(Object.entries(facts.toolCalls)).toEqual([["__proto__", 1]]);
  });
});

test("metadata is merged, and null takes a key away", () => {
  const facts = factsAfter(
    ["ThreadCreated", { metadata: { a: 1, b: 2 } }],
    ["ThreadMetadataChanged", { metadata: { a: null, c: 3 } }],
  );
  expect(facts.metadata).toEqual({ b: 2, c: 3 });
});

const anyEvent: fc.Arbitrary<FoldEvent> = fc
  .oneof(
    fc.constantFrom(
      started,
      ["RunStarted", { runId: "r2", owner: "o", resumes: "r1" }],
      ["RunCompleted", { runId: "r1" }],
      ["RunInterrupted", { runId: "r1", interrupts: [{ id: "i", kind: "q", value: null, callId: "c1" }] }],
      ["InterruptResolved", { interruptId: "i", decision: 1 }],
      ["JumpRequested", { to: "end" }],
      ["ModelCallStarted", { callId: "m" }],
      responded("a", "c1", "c2"),
      responded("b"),
      ["ToolCallStarted", { callId: "c1", name: "tool" }],
      completed("c1"),
      completed("c2"),
      ["ThreadRewound", { toVersion: 0 }],
      ["MessagesReplaced", { messages: [answer("a", "c2")] }],
      ["TodosWritten", { todos: [] }],
    ),
  )
  .map(([type, data]) => ({ type: type as string, data, version: 1 }));

test("many events at once give the same as one by one, and nothing is changed in place", () => {
  void fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), fc.nat(40), (events, cut) => {
      const first = deepFreeze(reducer.fold(events.slice(0, cut)));
      const whole = reducer.fold(deepFreeze(events.slice(cut)), first);
      const single = events.reduce(
        (state, event) => deepFreeze(reducer.apply(state, event)),
        reducer.initial,
      );
      expect(whole).toEqual(single);
      expect(JSON.parse(JSON.stringify(whole))).toEqual(whole);
    }),
  );
});

test("an event of an unknown type changes nothing", () => {
  const state = { [runFactsField]: initialFacts };
  expect(reducer.apply(state, { type: "Unheard", data: {}, version: 1 })).toBe(state);
});
