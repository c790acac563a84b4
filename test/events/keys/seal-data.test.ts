import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../events/json.ts";
import { eraseAt, isSealed, openData, ReservedKeyError, sealData } from "../../../events/keys/seal-data.ts";

const seal = (data: Json, content: readonly string[]) =>
  sealData("Tested", data, content, (_, value) => JSON.stringify(value)) as JsonObject;
const open = (data: JsonObject) =>
  isSealed(data) ? openData(data, (_, text) => JSON.parse(text) as Json) : data;
const erase = (data: JsonObject) => openData(data, () => undefined);

const message = {
  id: "m1",
  type: "ai",
  content: "my secret",
  name: "Ada",
  tool_calls: [{ id: "c1", name: "bash", args: { command: "cat secret" } }],
  additional_kwargs: { key: "secret" },
};

describe("sealed data", () => {
  test.each<[string, Json, string[]]>([
    ["a text", { title: "secret", origin: "user" }, ["title"]],
    ["null, which holds nothing", { title: null, origin: "user" }, ["title"]],
    ["a list of messages", { messages: [message, { ...message, id: "m2" }] }, ["messages"]],
    ["one message", { callId: "c", message, latencyMs: 5 }, ["message"]],
    ["a list of other things", { todos: [{ content: "secret" }, "x"] }, ["todos"]],
    ["an empty list", { todos: [] }, ["todos"]],
    ["a map with hostile keys", { images: JSON.parse('{"__proto__":{"size":1}}') }, ["images"]],
    ["a field deep inside", { view: { version: 3, edits: [{ op: "hide" }] } }, ["view.edits"]],
    ["fields that are not there", { other: 1 }, ["title", "view.edits"]],
    ["numbers and booleans", { value: 7, flag: true }, ["value", "flag"]],
  ])("opens to what it was: %s", (_, data, content) => {
    expect(JSON.stringify(open(seal(data, content)))).toBe(JSON.stringify(data));
  });

  test("shows which message is where and what it answers, and nothing that it says", () => {
    const tool = { id: "m2", type: "tool", content: "secret", tool_call_id: "c1", status: "success" };
    const { $sealed, ...shown } = seal({ messages: [message, tool] }, ["messages"]);
    expect(shown).toEqual({
      messages: [
        {
          id: "m1",
          type: "ai",
          content: "",
          tool_calls: [{ id: "c1", name: "bash", type: "tool_call", args: {} }],
        },
        { id: "m2", type: "tool", content: "", tool_call_id: "c1", status: "success" },
      ],
    });
    expect(Object.keys($sealed as object)).toEqual(["messages.0", "messages.1"]);
  });

  test("names the blobs that it refers to, and only there", () => {
    const sha256 = "ab".repeat(32);
    const data = {
      messages: [{ ...message, content: [{ type: "image", blob: { sha256 } }] }],
      other: { sha256 },
    };
    const sealed = seal(data, ["messages"]);
    expect(sealed.$blobs).toEqual([{ sha256 }]);
    expect(open(sealed)).toEqual(data);
    expect(erase(sealed)).not.toHaveProperty("$blobs");
  });

  test("read without its key keeps the blanks and names what is gone", () => {
    expect(erase(seal({ title: "secret", origin: "user" }, ["title"]))).toEqual({
      title: "",
      origin: "user",
      $erased: ["title"],
    });
    const interrupts = [{ id: "i", kind: "approval", callId: "c", value: { command: "secret" } }];
    expect(erase(seal({ runId: "r", interrupts }, ["interrupts"]))).toEqual({
      runId: "r",
      interrupts: [{ id: "i", kind: "approval", callId: "c", value: null }],
      $erased: ["interrupts.0"],
    });
  });

  test("of which one piece is gone gives the others", () => {
    const sealed = seal({ messages: [message, { ...message, id: "m2" }] }, ["messages"]);
    const opened = openData(sealed, (path, text) =>
      path === "messages.0" ? undefined : (JSON.parse(text) as Json),
    );
    expect(opened).toMatchObject({
      messages: [
        { id: "m1", content: "" },
        { id: "m2", content: "my secret" },
      ],
      $erased: ["messages.0"],
    });
  });

  test("cannot be faked by data that uses its keys", () => {
    expect(() => seal({ title: "t", $sealed: {} }, ["title"])).toThrow(ReservedKeyError);
    expect(() => seal({ $erased: [] }, [])).toThrow(ReservedKeyError);
  });
});

describe("content that is taken away when it is read", () => {
  test("looks like content whose key is gone", () => {
    const data = { callId: "c", message };
    expect(eraseAt(data, ["message"])).toEqual(erase(seal(data, ["message"])));
    expect(eraseAt(data, ["message.content"])).toEqual({
      ...data,
      message: { ...message, content: "" },
      $erased: ["message.content"],
    });
    expect(eraseAt(data, [])).toBe(data);
    expect(eraseAt(data, ["nothing.there"])).toMatchObject(data);
  });
});
