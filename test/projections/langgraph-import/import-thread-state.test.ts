import { describe, expect, test } from "vitest";
import { resolveBlobs } from "../../../events/blobs/blob-content.ts";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import type { Json, JsonObject } from "../../../events/json.ts";
import { createMemoryLog } from "../../../events/log/memory.ts";
import { createMemorySide } from "../../../events/log/memory-side.ts";
import type { Message } from "../../../events/message.ts";
import { threadFromState } from "../../../projections/langgraph-import/import-thread-state.ts";
import { NotAThreadError } from "../../../projections/langgraph-import/source-thread.ts";
import { createStateReader } from "../../../projections/state-at.ts";
import { importThreadState, ThreadDiffersError } from "../../../projections/thread-import.ts";
import { reading } from "../sample-thread.ts";
import { foldedValues } from "./values-of.ts";

const human = (id: string, content = id): JsonObject => ({ id, type: "human", content });
const ai = (
  id: string,
  calls: readonly (readonly [string, JsonObject?])[] = [],
  content = id,
): JsonObject => ({
  id,
  type: "ai",
  content,
  response_metadata: { model_name: "m" },
  tool_calls: calls.map(([name, args = {}], index) => ({
    id: `${id}/${index}`,
    name,
    args,
    type: "tool_call",
  })),
});
const result = (id: string, callId: string, extra: JsonObject = {}): JsonObject => ({
  id,
  type: "tool",
  content: "ok",
  tool_call_id: callId,
  ...extra,
});
const state = (values: JsonObject, rest: JsonObject = {}): JsonObject => ({
  values,
  metadata: { thread_id: "t" },
  created_at: "2026-03-01T00:00:00Z",
  ...rest,
});
const typesOf = (document: Json) => threadFromState(document).events.map(({ type }) => type);
const eventsOf = (document: Json, type: string) =>
  threadFromState(document)
    .events.filter((event) => event.type === type)
    .map(({ data }) => data as JsonObject);

function expectSameValues(values: JsonObject, rest: JsonObject = {}): readonly string[] {
  const thread = threadFromState(state(values, rest));
  expect(foldedValues(thread, values)).toEqual(values);
  return thread.notes;
}

describe("a thread state becomes what happened", () => {
  test("question, answer, call, result and field in their order", () => {
    const document = state({
      messages: [
        human("h"),
        ai("a", [["present_files", { filepaths: ["/x"] }]]),
        result("t", "a/0"),
        ai("b"),
      ],
      thread_data: { workspace_path: "/w" },
      title: "T",
      artifacts: ["/x"],
    });
    expect(typesOf(document)).toEqual([
      "ThreadCreated",
      "RunStarted",
      "MessagesAdded",
      "ThreadDataBound",
      "ModelResponded",
      "ToolCallStarted",
      "TitleSet",
      "ToolCallCompleted",
      "ArtifactsPresented",
      "ModelResponded",
      "RunCompleted",
    ]);
    const by = threadFromState(document).events.map(({ metadata }) => metadata.by);
    expect(by.slice(2)).toEqual([
      "user",
      "runtime",
      "model:m",
      "runtime",
      "runtime",
      "tool:present_files",
      "tool:present_files",
      "model:m",
      "runtime",
    ]);
  });

  test("everything without an event stays in the first event", () => {
    const rest = { next: [], tasks: [{ id: "1" }], checkpoint: { checkpoint_id: "c" }, extra: 1 };
    expect(eventsOf(state({ messages: [] }, rest), "ThreadCreated")).toEqual([
      {
        metadata: { thread_id: "t" },
        source: { format: "langgraph.thread-state", created_at: "2026-03-01T00:00:00Z", ...rest },
      },
    ]);
  });

  test("the last run is the file's own run, the ones before have derived ids", () => {
    const document = state(
      { messages: [human("h1"), ai("a1"), human("h2"), ai("a2")] },
      { metadata: { thread_id: "t", run_id: "the-run" } },
    );
    const [first, second] = eventsOf(document, "RunStarted");
    expect(first?.runId).toMatch(/^[0-9a-f-]{36}$/);
    expect(second?.runId).toBe("the-run");
  });

  test("a message of the assistant that no model gave is no model's answer", () => {
    const plain = { id: "p", type: "ai", content: "said by a middleware" };
    expect(typesOf(state({ messages: [human("h"), plain] }))).not.toContain("ModelResponded");
  });

  test("a failed call fails", () => {
    const messages = [
      human("h"),
      ai("a", [["bash"]]),
      result("t", "a/0", { status: "error", content: "no such file" }),
    ];
    expect(eventsOf(state({ messages }), "ToolCallFailed")).toMatchObject([
      { error: { message: "no such file" } },
    ]);
    expectSameValues({ messages });
  });

  test("todos and files are written where their tools were called", () => {
    const todos = (status: string) => [{ content: "one", status }];
    const messages = [
      human("h"),
      ai("a", [["write_todos", { todos: todos("pending") }]]),
      result("t1", "a/0"),
      ai("b", [["write_todos", { todos: todos("completed") }]]),
      result("t2", "b/0"),
    ];
    const document = state({ messages, todos: todos("completed") });
    expect(eventsOf(document, "TodosWritten")).toEqual([
      { todos: todos("pending") },
      { todos: todos("completed") },
    ]);
    expect(typesOf(state({ messages }))).not.toContain("TodosWritten");
    expectSameValues({ messages, todos: [] });
  });

  test("files that nobody is seen to present come at the end, and keep their order", () => {
    const messages = [
      human("h"),
      ai("a", [["present_files", { filepaths: ["/b", "/a"] }]]),
      result("t", "a/0"),
    ];
    expectSameValues({ messages, artifacts: ["/a", "/b", "/c"] });
    expectSameValues({ messages, artifacts: ["/z", "/b", "/a"] });
  });
});

describe("odd threads keep their values", () => {
  test.each<[string, JsonObject]>([
    ["no messages", {}],
    ["empty messages", { messages: [] }],
    [
      "system messages first and in the middle",
      {
        messages: [
          { id: "s", type: "system", content: "be kind" },
          human("h"),
          { id: "s2", type: "system", content: "" },
          ai("a"),
        ],
      },
    ],
    ["an answer without a question", { messages: [ai("a")] }],
    ["a result before its call", { messages: [human("h"), result("t", "a/0"), ai("a", [["ls"]])] }],
    [
      "results in another order than the calls",
      { messages: [human("h"), ai("a", [["ls"], ["ls"]]), result("t1", "a/1"), result("t0", "a/0")] },
    ],
    [
      "results behind another answer",
      { messages: [human("h"), ai("a", [["ls"]]), ai("b"), result("t", "a/0")] },
    ],
    [
      "two results of one call",
      { messages: [human("h"), ai("a", [["ls"]]), result("t1", "a/0"), result("t2", "a/0")] },
    ],
    [
      "a result of nobody's call",
      { messages: [human("h"), result("t", "gone"), { id: "u", type: "tool", content: "x" }] },
    ],
    [
      "call ids that come again",
      {
        messages: [
          human("h"),
          { ...ai("a", [["ls"]]), tool_calls: [{ id: "ls:0", name: "ls", args: {} }] },
          result("t1", "ls:0"),
          { ...ai("b"), tool_calls: [{ id: "ls:0", name: "ls", args: {} }] },
          result("t2", "ls:0"),
        ],
      },
    ],
    ["a call without a result", { messages: [human("h"), ai("a", [["bash"]])] }],
    [
      "content blocks and unknown keys",
      {
        messages: [
          {
            ...human("h"),
            content: [{ type: "image_url", image_url: { url: "x" } }, "text"],
            custom: { deep: [1, null] },
          },
        ],
      },
    ],
    [
      "generic and function messages",
      {
        messages: [
          { id: "g", type: "generic", role: "judge", content: "" },
          { id: "f", type: "function", name: "f", content: "1" },
        ],
      },
    ],
    [
      "null fields",
      {
        messages: [],
        title: null,
        todos: null,
        sandbox: null,
        goal: null,
        viewed_images: null,
        artifacts: null,
      },
    ],
    [
      "fields of a wrong shape",
      {
        messages: [],
        thread_data: "x",
        todos: [{ status: "odd" }],
        uploaded_files: [{ path: 1 }],
        sandbox: 7,
        viewed_images: [],
        promoted: "y",
        title: 5,
      },
    ],
    ["repeated files", { messages: [], artifacts: ["/a", "/a", 3] }],
    [
      "unknown fields",
      { messages: [], background_tasks: [], summary_text: "s", plan: { deep: true }, count: 0 },
    ],
    [
      "every known field",
      {
        messages: [],
        sandbox: { sandbox_id: "s" },
        promoted: { catalog_hash: "c", names: ["n"] },
        goal: { goal: "g" },
        delegations: [{ id: "d", status: "running" }],
        skill_context: [{ name: "n", path: "/p", description: "d", loaded_at: 3 }],
        viewed_images: { "/i": { mime_type: "image/png" } },
        structured_response: [1],
        uploaded_files: [{ filename: "f", size: 1, path: "/f" }],
      },
    ],
    [
      "a skill list that the reducer would change",
      { messages: [], skill_context: [{ path: "/p", description: "a  b" }] },
    ],
    ["a field called __proto__", JSON.parse('{"messages":[],"__proto__":{"x":1}}') as JsonObject],
  ])("%s", (_what, values) => {
    expectSameValues(values);
  });

  test("message ids that come twice: the values are the same and the report says how", () => {
    const notes = expectSameValues({ messages: [human("h"), ai("a"), human("h", "again"), ai("b")] });
    expect(notes.join("\n")).toMatch(
      /messages\.2: its id h is there a second time[\s\S]*set once as a whole/,
    );
  });

  test("missing message ids are minted, always the same, and reported", () => {
    const document = state({
      messages: [
        { type: "human", content: "x" },
        { type: "ai", content: "y", id: null },
      ],
    });
    const [first, second] = [threadFromState(document), threadFromState(document)];
    expect(first.events).toEqual(second.events);
    expect(first.notes.join("\n")).toMatch(
      /messages\.0: it had no id and got import-[\s\S]*messages\.1: it had no id/,
    );
    const ids = (foldedValues(first, {}).messages as JsonObject[]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  test("what is no message is kept aside and reported, not dropped", () => {
    const document = state({
      messages: [42, { content: "no type" }, human("h"), { id: "n", type: "ai", content: null }],
    });
    const { notes } = threadFromState(document);
    expect(eventsOf(document, "ThreadCreated")).toMatchObject([
      { source: { unreadable: [42, { content: "no type" }] } },
    ]);
    expect(notes).toHaveLength(3);
  });

  test("a message whose tool calls are no list of objects is kept aside, too", () => {
    const bad = ["bad", {}, [null], ["ls"]].map((tool_calls, index) => ({
      id: `a${index}`,
      type: "ai",
      content: "x",
      tool_calls,
    }));
    const document = state({ messages: [human("h"), ...bad] });
    expect(eventsOf(document, "ThreadCreated")).toMatchObject([{ source: { unreadable: bad } }]);
    expect(threadFromState(document).notes).toHaveLength(bad.length);
    expect(foldedValues(threadFromState(document), {}).messages).toHaveLength(1);
  });

  test("a thread without an id gets one that follows from its content", () => {
    const document = { values: { messages: [human("h")] } };
    const { threadId, notes } = threadFromState(document);
    expect(threadId).toMatch(/^import-[0-9a-f]{16}$/);
    expect(threadFromState(document).threadId).toBe(threadId);
    expect(notes.join()).toContain(threadId);
    expect(threadFromState({ ...document, metadata: { thread_id: "bad id!" } }).threadId).toMatch(/^import-/);
  });

  test("bare values are a thread too", () => {
    expect(threadFromState({ messages: [human("h")], title: "x" }).events.map(({ type }) => type)).toContain(
      "TitleSet",
    );
  });
});

describe("how a thread ended", () => {
  test("a thread that waits for answers ends with a run that asks", () => {
    const document = state(
      { messages: [human("h")] },
      {
        next: ["tools"],
        interrupts: [{ id: "i1", value: { question: "which?" } }],
        tasks: [{ interrupts: [{ id: "i1", value: 1 }, { value: "second" }] }],
      },
    );
    expect(eventsOf(document, "RunInterrupted")).toMatchObject([
      {
        interrupts: [
          { id: "i1", kind: "question", value: { question: "which?" } },
          { id: "interrupt-2", value: "second" },
        ],
      },
    ]);
  });

  test("a thread that had not come to its end says so", () => {
    const { events, notes } = threadFromState(state({ messages: [human("h")] }, { next: ["model"] }));
    expect(events.at(-1)).toMatchObject({
      type: "RunCancelled",
      data: { reason: expect.stringContaining("model") },
    });
    expect(notes.join()).toContain("model");
  });
});

describe("a history", () => {
  const at = (step: number, parent: number | undefined, values: JsonObject): JsonObject => ({
    values,
    next: [],
    created_at: `2026-03-01T00:00:0${step}Z`,
    metadata: { thread_id: "t", run_id: step < 3 ? "r1" : "r2", step },
    checkpoint: { checkpoint_id: `c${step}`, checkpoint_ns: "" },
    parent_checkpoint: parent === undefined ? null : { checkpoint_id: `c${parent}`, checkpoint_ns: "" },
  });
  const line = [
    at(4, 3, {
      messages: [human("h1", "edited"), ai("a1"), human("h2"), ai("a2")],
      todos: [{ content: "x" }],
      title: "Renamed",
    }),
    at(3, 2, { messages: [human("h1", "edited"), ai("a1"), human("h2")], todos: [], title: "First" }),
    at(2, 1, {
      messages: [human("h1"), ai("a1")],
      title: "First",
      viewed_images: { "/i": { mime_type: "image/png" } },
    }),
    at(1, undefined, { messages: [human("h1")] }),
  ];

  test("gives the newest values, step by step, each at its time", () => {
    const thread = threadFromState(line);
    expect(foldedValues(thread, line[0]?.values as JsonObject)).toEqual(line[0]?.values);
    const { events } = thread;
    expect(
      events.filter(({ type }) => type === "RunStarted").map(({ data }) => (data as JsonObject).runId),
    ).toEqual(["r1", "r2"]);
    expect(events.find(({ type }) => type === "MessagesReplaced")).toMatchObject({
      recordedAt: "2026-03-01T00:00:03.000Z",
    });
    expect(events.map(({ type }) => type)).toContain("ImagesCleared");
    expect(thread.notes).toEqual([]);
  });

  test("may be given oldest first", () => {
    expect(threadFromState([...line].reverse()).events).toEqual(threadFromState(line).events);
  });

  test("says what it left out: other branches and subgraphs", () => {
    const branch = at(2, 1, { messages: [human("other")] });
    const sub = { ...at(2, 1, {}), checkpoint: { checkpoint_id: "s", checkpoint_ns: "sub:1" } };
    const aside = { ...branch, checkpoint: { checkpoint_id: "c2b", checkpoint_ns: "" } };
    expect(threadFromState([...line, aside, sub]).notes.join()).toContain("2 states on other branches");
  });
});

describe("importing into a store", () => {
  const target = () => ({ log: createMemoryLog(), blobs: createMemoryBlobs() });

  test("another document of the same thread is refused", async () => {
    const store = target();
    await importThreadState(store, state({ messages: [human("h")] }));
    await expect(importThreadState(store, state({ messages: [human("x")] }))).rejects.toThrow(
      ThreadDiffersError,
    );
    const { threadId } = await importThreadState(store, state({ messages: [human("x")] }), {
      threadId: "other",
    });
    expect(threadId).toBe("other");
  });

  test("a message that no event can hold has its content in the blob store, and the report says so", async () => {
    const store = target();
    const content = "long ".repeat(200_000);
    const { notes, threadId, version } = await importThreadState(
      store,
      state({ messages: [human("h", content), ai("a")] }),
    );
    expect(notes.join()).toContain("messages.0: it is too large for an event");
    const reader = createStateReader({ log: store.log, side: createMemorySide(), ...reading });
    const { messages } = (await reader.stateAt(threadId, version)) as { messages: Message[] };
    expect((await resolveBlobs(messages[0] as Message, store.blobs)).content).toBe(content);
    expect(messages[1]).toEqual(ai("a"));
  });

  test.each<[string, Json]>([
    ["a number", 7],
    ["no values", { next: [] }],
    ["an empty array", []],
    ["an array of other things", [{ id: 1 }]],
    ["only subgraph states", [{ values: {}, checkpoint: { checkpoint_ns: "x" } }]],
  ])("%s is no thread", (_what, document) => {
    expect(() => threadFromState(document)).toThrow(NotAThreadError);
  });
});
