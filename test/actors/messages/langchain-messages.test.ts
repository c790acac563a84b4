import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { loadLangChain } from "../../../actors/langchain.ts";
import {
  toLangChain,
  toLangChainList,
  UnknownMessageTypeError,
} from "../../../actors/messages/to-langchain.ts";
import { InvalidMessageError, toStored, toStoredList } from "../../../actors/messages/to-stored.ts";
import type { Message } from "../../../events/message.ts";

await loadLangChain();

const counter = () => {
  let next = 0;
  return () => `m${++next}`;
};

describe("to stored form", () => {
  test.each<[string, unknown, object]>([
    ["text", "hi", { id: "m1", type: "human", content: "hi" }],
    ["a pair", ["user", "hi"], { id: "m1", type: "human", content: "hi" }],
    ["a role", { role: "assistant", content: "hi" }, { id: "m1", type: "ai", content: "hi" }],
    ["a class", new HumanMessage("hi"), { id: "m1", type: "human", content: "hi" }],
    [
      "LangChain's stored form",
      { type: "human", data: { content: "hi", id: "h", extra: 1 } },
      { id: "h", type: "human", content: "hi", extra: 1 },
    ],
    [
      "a serialised class",
      new HumanMessage({ content: "hi", id: "h" }).toJSON(),
      { id: "h", type: "human", content: "hi" },
    ],
    ["a removal", new RemoveMessage({ id: "h" }), { id: "h", type: "remove", content: [] }],
    ["a removal as a dictionary", { type: "remove", id: "h" }, { id: "h", type: "remove", content: "" }],
    [
      "the wire's chunk type",
      { type: "AIMessageChunk", content: "x", id: "a" },
      { id: "a", type: "ai", content: "x" },
    ],
    [
      "a developer",
      { role: "developer", content: "d" },
      { id: "m1", type: "system", content: "d", additional_kwargs: { __openai_role__: "developer" } },
    ],
  ])("takes %s", (_name, given, expected) => {
    expect(toStored(given, counter())).toEqual(expected);
  });

  test("a dictionary in stored form keeps every key as it came", () => {
    const imported = {
      content: "",
      additional_kwargs: {},
      response_metadata: { a: 1 },
      type: "ai",
      name: null,
      id: "x",
      tool_calls: [],
      invalid_tool_calls: [],
      usage_metadata: null,
      example: false,
    };
    expect(toStored(imported, counter())).toBe(imported);
  });

  test("what was written into an instance after it was made is kept", () => {
    const message = new AIMessage({ content: "a", id: "a" });
    message.usage_metadata = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    message.response_metadata = { finish_reason: "stop" };
    expect(toStored(message, counter())).toEqual({
      id: "a",
      type: "ai",
      content: "a",
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      response_metadata: { finish_reason: "stop" },
    });
  });

  test("chunks become whole messages", () => {
    const chunk = new AIMessageChunk({
      content: "b",
      id: "a",
      tool_call_chunks: [{ name: "ls", args: '{"path":', id: "c", index: 0 }],
    }).concat(new AIMessageChunk({ content: "", tool_call_chunks: [{ args: '"/"}', index: 0 }] }));
    expect(toStored(chunk, counter())).toEqual({
      id: "a",
      type: "ai",
      content: "b",
      tool_calls: [{ name: "ls", args: { path: "/" }, id: "c", type: "tool_call" }],
    });
  });

  test("tool calls without an id, or with one twice, get fresh ones, in the content too", () => {
    const message = toStored(
      {
        type: "ai",
        id: "a",
        content: [
          { type: "tool_use", id: "x", name: "ls", input: {} },
          { type: "tool_use", id: "x", name: "cat", input: {} },
        ],
        tool_calls: [
          { name: "ls", args: {}, id: "x" },
          { name: "cat", args: {}, id: "x" },
          { name: "pwd", args: {} },
        ],
      },
      counter(),
    );
    expect(message.tool_calls?.map((call) => call.id)).toEqual(["x", "m1", "m2"]);
    expect(message.content).toMatchObject([{ id: "x" }, { id: "m1" }]);
  });

  test("a value without a JSON form does not cost the message", () => {
    const message = new ToolMessage({
      content: "ok",
      tool_call_id: "c",
      id: "t",
      artifact: { when: new Date(0), bad: Number.NaN },
    });
    expect(toStored(message, counter())).toMatchObject({
      artifact: { when: "1970-01-01T00:00:00.000Z", bad: null },
    });
  });

  test.each([[null], [5], [["wizard", "hi"]], [{ role: "wizard", content: "x" }], [{}]])(
    "refuses %j",
    (value) => {
      expect(() => toStored(value, counter())).toThrow(InvalidMessageError);
    },
  );

  test.each(["stored", "role"])("tool calls that are no list of objects are refused, %s form", (form) => {
    for (const tool_calls of ["bad", {}, [null], ["ls"]]) {
      const kind = form === "stored" ? { type: "ai" } : { role: "assistant" };
      expect(() => toStored({ ...kind, content: "x", tool_calls }, counter())).toThrow(InvalidMessageError);
    }
  });

  test("one message stands for a list, and a pair is one message", () => {
    expect(toStoredList("a", counter())).toHaveLength(1);
    expect(toStoredList(["user", "hi"], counter())).toEqual([{ id: "m1", type: "human", content: "hi" }]);
    expect(toStoredList([["user", "hi"], "there"], counter())).toHaveLength(2);
  });
});

describe("to LangChain's classes", () => {
  const stored: Message = {
    id: "1",
    type: "human",
    content: [{ type: "text", text: "a" }],
    extra: { deep: [1] },
  };

  test("the same message is the same instance, there and back", () => {
    const instance = toLangChain(stored);
    expect(toLangChain(stored)).toBe(instance);
    expect(toStored(instance, counter())).toBe(stored);
  });

  test.each<[string, (message: HumanMessage) => void]>([
    ["content", (message) => Object.assign(message, { content: "b" })],
    ["a block", (message) => Object.assign((message.content as object[])[0] as object, { text: "b" })],
    ["the blocks", (message) => void (message.content as unknown[]).push(1)],
    ["extra data", (message) => Object.assign(message.additional_kwargs, { a: 1 })],
  ])("%s cannot be changed", (_what, change) => {
    expect(() => change(toLangChain(stored) as HumanMessage)).toThrow(TypeError);
  });

  test("every type that LangChain has comes back as it was stored", () => {
    const messages: Message[] = [
      {
        id: "1",
        type: "ai",
        content: "",
        tool_calls: [{ name: "a", args: { b: 1 }, id: "c" }],
        usage_metadata: null,
        name: null,
      },
      { id: "2", type: "tool", content: "r", tool_call_id: "c", status: "error", artifact: { a: 1 } },
      { id: "3", type: "system", content: "s" },
      { id: "4", type: "generic", role: "critic", content: "g" },
      { id: "5", type: "function", name: "f", content: "f" },
      {
        id: "6",
        type: "ai",
        content: [{ type: "text", text: "v1" }],
        tool_calls: [{ name: "a", args: {}, id: "d" }],
        response_metadata: { output_version: "v1" },
      },
    ];
    const instances = toLangChainList(messages);
    expect(instances.map((instance) => instance.getType())).toEqual(messages.map((message) => message.type));
    expect(instances.map((instance) => toStored(instance, counter()))).toEqual(messages);
    expect((instances[0] as AIMessage).tool_calls?.[0]?.args).toEqual({ b: 1 });
    expect((instances[1] as ToolMessage).status).toBe("error");
  });

  test("an unknown type is named", () => {
    expect(() => toLangChain({ id: "1", type: "oracle", content: "" })).toThrow(UnknownMessageTypeError);
  });

  test("a longer list of the same thread converts only what is new", () => {
    const messages: Message[] = Array.from({ length: 50 }, (_, index) => ({
      id: `${index}`,
      type: "human",
      content: "a",
    }));
    const before = toLangChainList(messages);
    const added: Message = { id: "new", type: "human", content: "b" };
    const after = toLangChainList([...messages, added]);
    expect(after.slice(0, 50).every((instance, index) => instance === before[index])).toBe(true);
    expect(after[50]?.id).toBe("new");
    expect(Object.isFrozen(after)).toBe(true);
    expect(toLangChainList([])).toEqual([]);
  });
});
