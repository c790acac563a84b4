import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planCompaction, visibleMessages } from "../../../actors/middleware/compaction-plan.ts";
import type { DataOf } from "../../../events/define-event.ts";
import type { HistoryCompacted } from "../../../events/messages.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { modelView, summaryMessageId } from "../../../reducers/compaction.ts";
import { type CaseMessage, messagesOf } from "./hook-bench.ts";

function foldOf(messages: readonly CaseMessage[], data: DataOf<typeof HistoryCompacted>) {
  const added = messages.map((message, index) => ({ id: `m${index}`, content: "", ...message }));
  return createThreadReducer().fold([
    { type: "MessagesAdded", data: { messages: added }, version: 1 },
    { type: "HistoryCompacted", data, version: 2 },
  ]);
}

describe("a compaction parts no call from its result and keeps the user's newest message", () => {
  it("for any conversation and any number kept", () => {
    const item = fc.oneof(
      fc.constant("human" as const),
      fc.record({ calls: fc.integer({ min: 0, max: 3 }), late: fc.boolean() }),
    );
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), fc.integer({ min: 0, max: 12 }), (items, keep) => {
        const list: CaseMessage[] = [];
        for (const [index, entry] of items.entries()) {
          if (entry === "human") {
            list.push({ type: "human", id: `h${index}` });
            continue;
          }
          const ids = Array.from({ length: entry.calls }, (_, place) => `${index}-${place}`);
          list.push({
            type: "ai",
            id: `a${index}`,
            tool_calls: ids.map((id) => ({ name: "t", args: {}, id })),
          });
          if (entry.late) list.push({ type: "human", id: `late${index}` });
          list.push(...ids.map((id) => ({ type: "tool", id: `r${id}`, tool_call_id: id })));
        }
        const plan = planCompaction(messagesOf(list), keep);
        if (!plan) return;
        const data: DataOf<typeof HistoryCompacted> = {
          summary: "S",
          keptFrom: plan.keptFrom,
          keptIds: [...plan.keptIds],
        };
        const state = foldOf(list, data);
        const view = modelView(state);
        const called = new Set(view.flatMap((message) => (message.tool_calls ?? []).map((call) => call.id)));
        const answered = new Set(view.flatMap((message) => message.tool_call_id ?? []));
        expect([...answered].filter((id) => !called.has(id))).toEqual([]);
        expect([...called].filter((id) => id !== undefined && !answered.has(id))).toEqual([]);
        const newest = list.findLast(({ type }) => type === "human");
        if (newest) expect(view.map(({ id }) => id)).toContain(newest.id);
        // Hooks see the same as the model's view without the summary.
        const seen = visibleMessages(messagesOf(list), state.compaction as never).map(({ id }) => id);
        expect(new Set(seen)).toEqual(
          new Set(view.map(({ id }) => id).filter((id) => id !== summaryMessageId)),
        );
      }),
    );
  });
});
