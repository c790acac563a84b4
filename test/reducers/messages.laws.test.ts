import { type BaseMessage, coerceMessageLikeToMessage, RemoveMessage } from "@langchain/core/messages";
import { messagesStateReducer, REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../events/log/deep-freeze.ts";
import type { Message } from "../../events/message.ts";
import { commonPrefix } from "../../reducers/message-lineage.ts";
import { changeMessages, UnknownMessageError } from "../../reducers/message-list.ts";
import { messagesFromUpdate } from "../../reducers/message-update.ts";
import { messages as definition } from "../../reducers/messages.ts";
import { sameJson } from "../../reducers/same-json.ts";

type Messages = readonly Message[];
type Item = { readonly type: string; readonly id: string; readonly content?: string };

const id = fc.constantFrom("1", "2", "3", "4", "5");
const written = fc.record({
  type: fc.constantFrom("human", "ai", "system"),
  id,
  content: fc.constantFrom("a", "b", "c"),
});
const removed = id.map((of) => ({ type: "remove", id: of }));
const removedAll = fc.constant({ type: "remove", id: REMOVE_ALL_MESSAGES });
const item: fc.Arbitrary<Item> = fc.oneof(
  { weight: 6, arbitrary: written },
  { weight: 3, arbitrary: removed },
  { weight: 1, arbitrary: removedAll },
);
const write = fc.array(item, { minLength: 1, maxLength: 6 });

function peerMessage({ type, id: of, content }: Item): BaseMessage {
  if (type === "remove") return new RemoveMessage({ id: of });
  return coerceMessageLikeToMessage({ type, id: of, content: content ?? "" });
}

function plain(message: BaseMessage): Item {
  return { type: message.getType(), id: message.id ?? "", content: message.text };
}

function applied(current: Messages, update: readonly Item[]): Messages {
  const drafts = messagesFromUpdate(update, current, () => "minted");
  return drafts.reduce<Messages>((list, draft) => {
    const handle = definition.on[draft.type];
    return handle ? handle(list, draft.data, { ...draft, version: 1 }) : list;
  }, current);
}

/** Where the peer keeps doubles and stray removals behind the clear marker, we refuse or fold them. */
function hasQuirk(update: readonly Item[]): boolean {
  const last = update.findLastIndex(({ id: of }) => of === REMOVE_ALL_MESSAGES);
  const rest = update.slice(last + 1);
  return (
    last >= 0 &&
    (rest.some(({ type }) => type === "remove") || new Set(rest.map((x) => x.id)).size < rest.length)
  );
}

describe("messages and LangGraph's own reducer", () => {
  test("agree on every sequence of writes, and refuse the same ones", () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 8 }), (writes) => {
        let ours: Messages = [];
        let theirs: BaseMessage[] = [];
        for (const update of writes.filter((candidate) => !hasQuirk(candidate))) {
          let next: BaseMessage[] | undefined;
          try {
            next = messagesStateReducer(theirs, update.map(peerMessage));
          } catch {
            expect(() => applied(ours, update)).toThrow(UnknownMessageError);
            continue;
          }
          theirs = next;
          ours = deepFreeze(applied(ours, update) as Message[]);
          expect(ours.map(({ type, id: of, content }) => ({ type, id: of, content }))).toEqual(
            theirs.map(plain),
          );
        }
      }),
      { numRuns: 500 },
    );
  });

  test("an update that hands the whole list back becomes events for the difference only", () => {
    fc.assert(
      fc.property(fc.uniqueArray(written, { selector: (m) => m.id, minLength: 1 }), written, (list, last) => {
        const changed = [...list.filter(({ id: of }) => of !== last.id), last];
        const drafts = messagesFromUpdate(changed, list, () => "minted");
        const carried = drafts.flatMap(({ data }) => (data as { messages?: Messages }).messages ?? []);
        expect(carried.every((message) => !list.some((known) => sameJson(known, message)))).toBe(true);
      }),
    );
  });
});

type Change =
  | { readonly op: "add" | "put"; readonly message: Message }
  | { readonly op: "remove"; readonly id: string }
  | { readonly op: "branch"; readonly back: number }
  | { readonly op: "clear" };

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constantFrom("add", "put"), message: written }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("remove"), id }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("branch"), back: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("clear") }) },
) as fc.Arbitrary<Change>;

function next(list: Messages, step: Change): Messages {
  const changed = changeMessages(list);
  const has = (of: string) => list.some((message) => message.id === of);
  if (step.op === "add") changed.add([step.message]);
  else if (step.op === "put" && has(step.message.id)) changed.replace([step.message]);
  else if (step.op === "remove" && has(step.id)) changed.remove([step.id]);
  else if (step.op === "clear") changed.clear();
  return changed.value();
}

test("the common prefix of two lists is the same whether their kinship is known or not", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (steps) => {
      const lists: Messages[] = [[]];
      for (const step of steps) {
        const from = step.op === "branch" ? (lists.at(-1 - step.back) ?? []) : (lists.at(-1) ?? []);
        lists.push(step.op === "branch" ? from : deepFreeze(next(from, step) as Message[]));
      }
      const last = lists.at(-1) ?? [];
      for (const other of lists) {
        const stranger = commonPrefix([...other], [...last]);
        expect(commonPrefix(other, last)).toBe(stranger);
        expect(commonPrefix(last, other)).toBe(stranger);
      }
    }),
    { numRuns: 300 },
  );
});

test("a tool's result stands behind the last message that makes its call, however the list came about", () => {
  const call = { id: "c", name: "tool", args: {} };
  const [one, other] = [
    { id: "1", type: "ai", content: "", tool_calls: [call] },
    { id: "2", type: "ai", content: "", tool_calls: [call] },
  ];
  const result = { id: "3", type: "tool", content: "", tool_call_id: "c" };
  const list = changeMessages([]);
  list.add([{ ...one, tool_calls: [] }, other]);
  // The first message gets the call later than the second: its place counts, not its time.
  list.replace([one]);
  list.place(result);
  expect(list.value()).toEqual([one, other, result]);
});
