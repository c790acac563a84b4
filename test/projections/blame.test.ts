import { describe, expect, test } from "vitest";
import { createEventRegistry } from "../../events/event-registry.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import { MessagesAdded, MessagesReplaced } from "../../events/messages.ts";
import { ThreadForked, ThreadRewound } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { TodosWritten } from "../../events/todos.ts";
import type { Change } from "../../projections/blame.ts";
import { InvalidPathError } from "../../projections/invalid-path.ts";
import { compilePath } from "../../projections/json-path.ts";
import { createStateReader } from "../../projections/state-at.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { recordLog } from "./record-log.ts";

const titled = (title: string) => TitleSet({ title, origin: "user" });
const todos = (...statuses: ("pending" | "completed")[]) =>
  TodosWritten({ todos: statuses.map((status, n) => ({ content: `${n}`, status })) });
const human = (id: string, content = id) => ({ id, type: "human", content });

async function thread() {
  const log = createMemoryLog();
  await recordLog(log, "a", [titled("A")], { by: "user" });
  await recordLog(log, "a", [todos("pending", "pending")], { by: "tool:write_todos", runId: "r1" });
  await recordLog(log, "a", [
    MessagesAdded({ messages: [human("1"), human("2")] }),
    todos("completed", "pending"),
  ]);
  await recordLog(log, "a", [MessagesReplaced({ messages: [human("1", "new")] }), titled("A"), titled("B")]);
  const reader = createStateReader({
    log,
    side: createMemorySide(),
    reducer: createThreadReducer({ openFields: true }),
    registry: createEventRegistry(),
  });
  const versions = async (path: string, at?: number) => {
    const found: Change[] = [];
    const changes = reader.blame("a", path, at === undefined ? {} : { at });
    for await (const change of changes) found.push(change);
    return found.map(({ version }) => version);
  };
  return { log, reader, versions };
}

describe("blame", () => {
  test("names the events that changed a field, and no others", async () => {
    const { versions } = await thread();
    expect(await versions("title")).toEqual([1, 7]);
    expect(await versions("$.todos")).toEqual([2, 4]);
    expect(await versions("goal")).toEqual([]);
  });

  test("tells who changed it, in which run, from what to what", async () => {
    const { reader } = await thread();
    expect(await reader.lastChanged("a", "todos[0].status")).toMatchObject({
      threadId: "a",
      version: 4,
      type: "TodosWritten",
      before: ["pending"],
      after: ["completed"],
    });
    expect(await reader.lastChanged("a", "todos[1].status")).toMatchObject({
      version: 2,
      by: "tool:write_todos",
      runId: "r1",
      before: [],
    });
    expect(await reader.lastChanged("a", "goal")).toBeUndefined();
  });

  test("follows paths into messages, by place and by filter", async () => {
    const { versions } = await thread();
    expect(await versions("messages[0].content")).toEqual([3, 5]);
    expect(await versions("$.messages[?@.id == '2'].content")).toEqual([3]);
    expect(await versions("$..status")).toEqual([2, 4]);
  });

  test("ends at the version `at`", async () => {
    const { versions } = await thread();
    expect(await versions("title", 6)).toEqual([1]);
  });

  test("follows the lineage: into a fork's parent, past what was abandoned", async () => {
    const { log, reader } = await thread();
    await recordLog(log, "b", [
      ThreadForked({ parentThreadId: "a", parentVersion: 7 }),
      ThreadRewound({ toVersion: 1 }),
    ]);
    expect(await reader.lastChanged("b", "title")).toMatchObject({ threadId: "a", version: 7 });
    await recordLog(log, "a", [ThreadRewound({ toVersion: 4 })]);
    expect(await reader.lastChanged("a", "title")).toMatchObject({ threadId: "a", version: 1 });
    expect(await reader.lastChanged("b", "title")).toMatchObject({ threadId: "a", version: 7 });
  });

  test("sees fields that nobody declared", async () => {
    const { log, versions } = await thread();
    await recordLog(log, "a", [{ type: "StateUpdated", data: { field: "mood", value: "good" } }]);
    expect(await versions("mood")).toEqual([8]);
  });
});

describe("a path", () => {
  test.each(["$.[", "todos[", "$.todos[?]"])("that is none is refused: %s", (path) => {
    expect(() => compilePath(path)).toThrow(InvalidPathError);
  });

  test("knows the fields that it can reach", () => {
    expect(compilePath("title").fields).toEqual(["title"]);
    expect(compilePath("$['title','goal']").fields).toEqual(["title", "goal"]);
    expect(compilePath("$.*").fields).toBeUndefined();
    expect(compilePath("$..content").fields).toBeUndefined();
    expect(compilePath("$").fields).toBeUndefined();
  });

  test("gives what stands there", () => {
    expect(compilePath("todos[*].content").values({ todos: [{ content: "a" }, { content: "b" }] })).toEqual([
      "a",
      "b",
    ]);
    expect(compilePath("['a b']").values({ "a b": 1 })).toEqual([1]);
  });
});
