import { describe, expect, test } from "vitest";
import type { FoldEvent } from "../../events/envelope.ts";
import type { Message } from "../../events/message.ts";
import { MessagesAdded, MessagesRemoved, MessagesReplaced } from "../../events/messages.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { UnknownMessageError } from "../../reducers/message-list.ts";
import { messages as definition, MessageWithoutIdError } from "../../reducers/messages.ts";
import { FoldError, type State } from "../../reducers/thread-state.ts";

const reducer = createThreadReducer();
const human = (id: string, content = id): Message => ({ id, type: "human", content });
const result = (id: string, tool_call_id: string): Message => ({
  id,
  type: "tool",
  content: id,
  tool_call_id,
});
const caller = (id: string, ...calls: string[]): Message => ({
  id,
  type: "ai",
  content: "",
  tool_calls: calls.map((call) => ({ id: call, name: "t", args: {} })),
});

function numbered(drafts: readonly { type: string; data: unknown }[]): FoldEvent[] {
  return drafts.map(({ type, data }, index) => ({ type, data, version: index + 1 }));
}
function completed(message: Message) {
  return { type: "ToolCallCompleted", data: { callId: message.tool_call_id, message, durationMs: 1 } };
}
function idsAfter(drafts: readonly { type: string; data: unknown }[]): string[] {
  return (reducer.fold(numbered(drafts)).messages as Message[]).map(({ id }) => id);
}

describe("results of tools", () => {
  test("stand in the order of the calls, whichever tool finished first", () => {
    const answer = { type: "ModelResponded", data: { message: caller("a", "c0", "c1", "c2") } };
    const finished = [result("r2", "c2"), result("r0", "c0"), result("r1", "c1")].map(completed);
    expect(idsAfter([answer, ...finished])).toEqual(["a", "r0", "r1", "r2"]);
  });

  test("stand behind their call even when other messages came in between", () => {
    const answer = MessagesAdded({ messages: [caller("a", "c0", "c1")] });
    const between = MessagesAdded({ messages: [human("h")] });
    expect(idsAfter([answer, completed(result("r1", "c1")), between, completed(result("r0", "c0"))])).toEqual(
      ["a", "r0", "r1", "h"],
    );
  });

  test("go to the end when nobody made the call", () => {
    const drafts = [MessagesAdded({ messages: [human("h"), human("i")] }), completed(result("r", "unknown"))];
    expect(idsAfter(drafts)).toEqual(["h", "i", "r"]);
  });

  test("of an abandoned call stand behind it, and a late result behind that", () => {
    const answer = MessagesAdded({ messages: [caller("a", "c0", "c1"), human("h")] });
    const abandoned = {
      type: "ToolCallAbandoned",
      data: { callId: "c0", message: result("x0", "c0"), reason: "" },
    };
    expect(
      idsAfter([answer, abandoned, completed(result("r0", "c0")), completed(result("r1", "c1"))]),
    ).toEqual(["a", "x0", "r0", "r1", "h"]);
  });

  test("that are recorded again with the same id take the old place", () => {
    const answer = MessagesAdded({ messages: [caller("a", "c0"), result("r", "c0"), human("h")] });
    const state = reducer.fold(numbered([answer, completed({ ...result("r", "c0"), content: "new" })]));
    expect((state.messages as Message[]).map(({ content }) => content)).toEqual(["", "new", "h"]);
  });
});

describe("changes by id", () => {
  const two = reducer.fold(numbered([MessagesAdded({ messages: [human("1"), human("2")] })]));
  const refusal = (draft: { type: string; data: unknown }) => {
    try {
      reducer.apply(two, { ...draft, version: 2 });
    } catch (error) {
      return (error as FoldError).cause;
    }
  };

  test("removing a message that is not there is refused, and the list stays usable", () => {
    const before = two.messages;
    expect(refusal(MessagesRemoved({ ids: ["1", "nope"] }))).toBeInstanceOf(UnknownMessageError);
    expect(two.messages).toBe(before);
    expect(
      reducer.apply(two, { ...MessagesAdded({ messages: [human("3")] }), version: 2 }).messages,
    ).toHaveLength(3);
  });

  test("replacing a message that is not there is refused", () => {
    expect(refusal(MessagesReplaced({ messages: [human("nope")] }))).toBeInstanceOf(UnknownMessageError);
  });

  test("an equal message is no change: the list stays the same by reference", () => {
    expect(reducer.apply(two, { ...MessagesAdded({ messages: [human("1")] }), version: 2 })).toBe(two);
  });

  test("two continuations of one list do not see each other", () => {
    const grow = (id: string) =>
      reducer.apply(two, { ...MessagesAdded({ messages: [human(id)] }), version: 2 });
    const left = grow("left");
    const right = grow("right");
    const again = reducer.apply(left, {
      ...MessagesReplaced({ messages: [human("left", "x")] }),
      version: 3,
    });
    expect((right.messages as Message[]).map(({ id }) => id)).toEqual(["1", "2", "right"]);
    expect((again.messages as Message[]).map(({ content }) => content)).toEqual(["1", "2", "x"]);
    expect(() => reducer.apply(right, { ...MessagesRemoved({ ids: ["left"] }), version: 3 })).toThrow(
      FoldError,
    );
  });

  test("StateUpdated merges by id, and with `replace` sets the list", () => {
    const merged = reducer.apply(two, {
      type: "StateUpdated",
      data: { field: "messages", value: [human("2", "new"), human("3")] },
      version: 2,
    });
    expect((merged.messages as Message[]).map(({ content }) => content)).toEqual(["1", "new", "3"]);
    const set = { field: "messages", value: [human("9")], replace: true };
    expect(reducer.apply(two, { type: "StateUpdated", data: set, version: 2 }).messages).toEqual([
      human("9"),
    ]);
  });

  test("reducers mint no ids", () => {
    expect(() => definition.fromUpdate?.({ role: "user", content: "x" }, [])).toThrow(MessageWithoutIdError);
  });
});

describe("long threads", () => {
  test("a million appended messages fold in time linear in their number", () => {
    function* appended(count: number): Generator<FoldEvent> {
      for (let n = 0; n < count; n++) {
        yield { type: "MessagesAdded", data: { messages: [human(`m${n}`, "x")] }, version: n + 1 };
      }
    }
    const foldTime = (count: number) => {
      const before = process.cpuUsage();
      expect(reducer.fold(appended(count)).messages).toHaveLength(count);
      return process.cpuUsage(before).user / 1000;
    };
    foldTime(10_000);
    const tenth = foldTime(100_000);
    // Quadratic time would be a hundred times as long; hash tables and the collector take their toll, too.
    expect(foldTime(1_000_000)).toBeLessThan(Math.max(tenth, 50) * 40);
  }, 120_000);

  test("a live append to a long thread looks at no old message again", () => {
    let reads = 0;
    const watched = Array.from({ length: 1000 }, (_, n): Message => {
      return Object.defineProperty({ ...human(`m${n}`) }, "id", {
        enumerable: true,
        get: () => {
          reads += 1;
          return `m${n}`;
        },
      });
    });
    let state: State = reducer.fold(numbered([MessagesAdded({ messages: watched })]));
    reads = 0;
    for (let n = 0; n < 20; n++) {
      state = reducer.apply(state, { ...MessagesAdded({ messages: [human(`new${n}`)] }), version: n + 2 });
    }
    expect(reads).toBe(0);
    expect(state.messages).toHaveLength(1020);
  });
});
