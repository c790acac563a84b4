import { AIMessageChunk, HumanMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import type { Message } from "../../events/message.ts";
import { MessagesAdded, MessagesRemoved, MessagesReplaced } from "../../events/messages.ts";
import { NotAMessageError } from "../../reducers/message-like.ts";
import { messagesFromUpdate } from "../../reducers/message-update.ts";

const human = (id: string, content = id): Message => ({ type: "human", id, content });
const fromUpdate = (update: unknown, current: readonly Message[] = []) => {
  let minted = 0;
  return messagesFromUpdate(update, current, () => `minted-${++minted}`);
};

describe("an update of the messages", () => {
  test.each([
    ["a text", "hi"],
    ["a role and a text", ["user", "hi"]],
    ["a list of pairs", [["human", "hi"]]],
    ["role and content", { role: "user", content: "hi" }],
    ["the stored form", { type: "human", data: { content: "hi" } }],
    ["the plain form", { type: "human", content: "hi" }],
  ])("may be %s", (_, update) => {
    expect(fromUpdate(update)).toEqual([
      MessagesAdded({ messages: [{ type: "human", content: "hi", id: "minted-1" }] }),
    ]);
  });

  test("may hold LangChain's message objects, chunks as whole messages", () => {
    const update = [
      new HumanMessage({ content: "hi", id: "h" }),
      new AIMessageChunk({ content: "yes", id: "a" }),
      new ToolMessage({ content: "done", id: "t", tool_call_id: "c0" }),
    ];
    expect(fromUpdate(update)).toMatchObject([
      {
        data: {
          messages: [
            { type: "human", id: "h", content: "hi" },
            { type: "ai", id: "a", content: "yes" },
            { type: "tool", id: "t", content: "done", tool_call_id: "c0" },
          ],
        },
      },
    ]);
    expect(fromUpdate(new RemoveMessage({ id: "h" }), [human("h")])).toEqual([
      MessagesRemoved({ ids: ["h"] }),
    ]);
  });

  test("RED-MSG-22: gives each message without an id one id, and no other", () => {
    const update = [{ type: "human", content: "x" }, human("mine"), { type: "ai", content: "y" }];
    expect(fromUpdate(update)).toMatchObject([
      { data: { messages: [{ id: "minted-1" }, { id: "mine" }, { id: "minted-2" }] } },
    ]);
  });

  test("that removes all and gives some back becomes the removal of the others", () => {
    const list = ["1", "2", "3", "4"].map((id) => human(id));
    const update = [{ type: "remove", id: "__remove_all__" }, human("3"), human("4", "new"), human("5")];
    expect(fromUpdate(update, list)).toEqual([
      MessagesRemoved({ ids: ["1", "2"] }),
      MessagesReplaced({ messages: [human("4", "new")] }),
      MessagesAdded({ messages: [human("5")] }),
    ]);
  });

  test("that removes all and gives them back in another order says so", () => {
    const update = [{ type: "remove", id: "__remove_all__" }, human("2"), human("1")];
    expect(fromUpdate(update, [human("1"), human("2")])).toEqual([
      MessagesRemoved({ all: true }),
      MessagesAdded({ messages: [human("2"), human("1")] }),
    ]);
  });

  test.each([[5], [[null]], [{ role: "user" }], [{ type: "remove" }], [[["a", "b", "c"]]]])(
    "that is no message is refused: %j",
    (update) => {
      expect(() => fromUpdate(update)).toThrow(NotAMessageError);
    },
  );
});
