import { describe, expect, test } from "vitest";
import type { Message } from "../../events/message.ts";
import { HistoryCompacted, MessagesAdded, MessagesRemoved } from "../../events/messages.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { modelView, summaryMessageId } from "../../reducers/compaction.ts";

const reducer = createThreadReducer();
const human = (id: string): Message => ({ id, type: "human", content: id });
const system = (id: string): Message => ({ id, type: "system", content: id });
const ai = (id: string): Message => ({ id, type: "ai", content: id });
const view = (...drafts: { type: string; data: unknown }[]) => {
  const state = reducer.fold(drafts.map((draft, index) => ({ ...draft, version: index + 1 })));
  return { state, seen: modelView(state).map(({ id }) => id) };
};

describe("what the model sees", () => {
  test("is the whole list before any compaction", () => {
    const { state, seen } = view(MessagesAdded({ messages: [human("h1"), ai("a1")] }));
    expect(seen).toEqual(["h1", "a1"]);
    expect(modelView(state)).toBe(state.messages);
  });

  test("SUM-01, SUM-06: is the summary and the tail, while the list keeps every turn", () => {
    const list = [human("h1"), ai("a1"), human("h2"), ai("a2"), human("h3"), ai("a3")];
    const compacted = HistoryCompacted({ summary: "S", keptFrom: "h3" });
    const { state, seen } = view(MessagesAdded({ messages: list }), compacted);
    expect(seen).toEqual([summaryMessageId, "h3", "a3"]);
    expect(modelView(state)[0]?.content).toContain("S");
    expect(state.summary_text).toBe("S");
    expect(state.messages).toEqual(list);
  });

  test("SUM-04: keeps reminders and the current request from before the cut", () => {
    const list = [system("d1"), human("h1"), ai("a1"), ai("a2"), ai("a3"), ai("a4")];
    const compacted = HistoryCompacted({ summary: "S", keptFrom: "a3", keptIds: ["h1", "d1"] });
    expect(view(MessagesAdded({ messages: list }), compacted).seen).toEqual([
      "d1",
      summaryMessageId,
      "h1",
      "a3",
      "a4",
    ]);
  });

  test("begins with the next message when a compaction kept none", () => {
    const first = MessagesAdded({ messages: [human("h1")] });
    const compacted = HistoryCompacted({ summary: "S", keptFrom: null });
    expect(view(first, compacted).seen).toEqual([summaryMessageId]);
    const after = [MessagesAdded({ messages: [human("h2")] }), MessagesAdded({ messages: [ai("a2")] })];
    expect(view(first, compacted, ...after).seen).toEqual([summaryMessageId, "h2", "a2"]);
  });

  test("follows the last compaction", () => {
    const list = MessagesAdded({ messages: [human("h1"), human("h2"), human("h3")] });
    const twice = [
      HistoryCompacted({ summary: "one", keptFrom: "h2" }),
      HistoryCompacted({ summary: "two", keptFrom: "h3" }),
    ];
    const { state, seen } = view(list, ...twice);
    expect(seen).toEqual([summaryMessageId, "h3"]);
    expect(modelView(state)[0]?.content).toContain("two");
  });

  test("hides nothing when the first kept message was removed", () => {
    const list = MessagesAdded({ messages: [human("h1"), human("h2"), human("h3")] });
    const compacted = HistoryCompacted({ summary: "S", keptFrom: "h2" });
    expect(view(list, compacted, MessagesRemoved({ ids: ["h2"] })).seen).toEqual([
      summaryMessageId,
      "h1",
      "h3",
    ]);
  });
});
