import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { EventDraft } from "../../events/define-event.ts";
import type { Message, ToolCall } from "../../events/message.ts";
import type { AnyReducerDefinition } from "../../reducers/define-reducer.ts";
import type { State } from "../../reducers/thread-state.ts";
import { names } from "../arbitraries/hostile-strings.ts";
import { folds } from "./field-steps.ts";
import { type Law, LawBreach, shown } from "./law.ts";
import { foldDrafts, type LawSubject, lastState, tryApply } from "./law-subject.ts";
import { bringsNothing } from "./no-ops.ts";

const calls = ["c0", "c1", "c2"] as const;
const steering = new Set([
  "MessagesAdded",
  "MessagesReplaced",
  "MessagesRemoved",
  "ModelResponded",
  "HistoryCompacted",
  "ToolCallCompleted",
  "ToolCallFailed",
  "ToolCallAbandoned",
]);

/** What a tool may record beside its result: no messages of its own, and no edit from outside. */
function isStateEvent({ type, data }: EventDraft): boolean {
  return !steering.has(type) && (data as { readonly replace?: unknown } | null)?.replace !== true;
}

interface Block {
  readonly drafts: readonly EventDraft[];
}

/** A tool's result with its state events, one block for each call that finished. */
function blocksOf(drafts: readonly EventDraft[]): Block[] {
  const blocks: { drafts: EventDraft[] }[] = [];
  for (const draft of drafts) {
    if (draft.type === "ToolCallCompleted" || blocks.length === 0) blocks.push({ drafts: [] });
    blocks[blocks.length - 1]?.drafts.push(draft);
  }
  return blocks;
}

function result(callId: string, content: string): EventDraft {
  const message = { id: `result-${callId}`, type: "tool", content, tool_call_id: callId };
  return { type: "ToolCallCompleted", data: { callId, message, durationMs: 0 } };
}

const answer: EventDraft = {
  type: "ModelResponded",
  data: {
    callId: "m",
    latencyMs: 0,
    message: {
      id: "answer",
      type: "ai",
      content: "",
      tool_calls: calls.map((id): ToolCall => ({ id, name: "tool", args: {} })),
    } satisfies Message,
  },
};

/** Other orders in which the same tools might have finished. */
function orders(blocks: readonly Block[]): (readonly Block[])[] {
  const swaps = blocks
    .slice(1)
    .map((_, at) =>
      blocks.with(at, blocks[at + 1] ?? { drafts: [] }).with(at + 1, blocks[at] ?? { drafts: [] }),
    );
  return [...swaps, blocks.toReversed()];
}

/** True when a tool empties the field: what another one writes is there or not, as they happened to finish. */
function clears(
  { reducer }: LawSubject,
  definition: AnyReducerDefinition,
  blocks: readonly Block[],
): boolean {
  const { field, initial } = definition;
  return blocks.some(({ drafts }) =>
    drafts.some((draft) => {
      if (!folds(definition, draft) || bringsNothing({ ...draft, version: 1 })) return false;
      const fresh = tryApply(reducer, reducer.initial, { ...draft, version: 1 });
      return fresh !== undefined && isDeepStrictEqual(fresh[field], initial);
    }),
  );
}

/** True when two values of a field are more different than the field's algebra allows. */
function difference(
  definition: AnyReducerDefinition,
  writers: number,
  one: unknown,
  other: unknown,
): boolean {
  if (writers <= 1) return !isDeepStrictEqual(one, other);
  switch (definition.algebra) {
    case "grow-only-set":
      return !isDeepStrictEqual(new Set(one as unknown[]), new Set(other as unknown[]));
    case "keyed-merge":
      return !isDeepStrictEqual(new Set(Object.keys(one as object)), new Set(Object.keys(other as object)));
    case "sequence":
      return !isDeepStrictEqual(one, other);
    default:
      // The last one wins, or the first: which that is was decided by who finished when.
      return false;
  }
}

/** Whichever tool finishes first, the conversation is the same, and so are the fields up to the order they declare. */
export const parallelTools: Law = {
  name: "parallel-tools",
  statement:
    "parallel tools may finish in any order: equal messages, and fields equal up to their declared order",
  appliesTo: ({ definition, reducer }) => definition === undefined && reducer.definitions.has("messages"),
  drafts: (subject) => {
    const stateEvents = fc.array(subject.drafts.filter(isStateEvent), { maxLength: 2 });
    return fc
      .tuple(
        fc.shuffledSubarray([...calls], { minLength: 2 }),
        fc.array(fc.tuple(names(), stateEvents), { minLength: 3, maxLength: 3 }),
      )
      .map(([order, work]) => [
        answer,
        ...order.flatMap((callId, at) => [result(callId, work[at]?.[0] ?? ""), ...(work[at]?.[1] ?? [])]),
      ]);
  },
  check(subject, drafts) {
    const { reducer } = subject;
    const [first, ...rest] = drafts;
    if (!first) return;
    const begin = tryApply(reducer, reducer.initial, { ...first, version: 1 });
    if (!begin) return;
    const blocks = blocksOf(rest);
    const fold = (order: readonly Block[]) =>
      foldDrafts(
        subject,
        order.flatMap((block) => block.drafts),
        begin,
      );
    const given = fold(blocks);
    const writers = (definition: AnyReducerDefinition) =>
      blocks.filter((block) => block.drafts.some((draft) => folds(definition, draft))).length;
    for (const order of orders(blocks)) {
      const other = fold(order);
      // An event that only one order refuses steers which values are there at all.
      if (other.events.length !== given.events.length) continue;
      const [one, two]: [State, State] = [lastState(given), lastState(other)];
      for (const [field, definition] of reducer.definitions) {
        if (clears(subject, definition, blocks)) continue;
        if (!difference(definition, writers(definition), one[field], two[field])) continue;
        const events = [
          { ...first, version: 1 },
          ...given.events.map((event) => ({ ...event, version: event.version + 1 })),
        ];
        throw new LawBreach(
          `"${field}" is ${shown(one[field])}, and in another order of completion ${shown(two[field])}`,
          events,
        );
      }
    }
  },
};
