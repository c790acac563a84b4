import { isDeepStrictEqual } from "node:util";
import { builtInReducers } from "../../reducers/built-in.ts";
import type { State } from "../../reducers/thread-state.ts";
import { type Law, LawBreach } from "./law.ts";
import { foldDrafts } from "./law-subject.ts";

/** A message that one event writes twice may come back to what it was, and nobody looks for that. */
function writesTwice(data: unknown): boolean {
  const { messages } = data as { readonly messages?: readonly { readonly id: string }[] };
  return messages !== undefined && new Set(messages.map(({ id }) => id)).size < messages.length;
}

/** True when every field has the same reference. */
function sameFields(before: State, after: State): boolean {
  const fields = Object.keys(before);
  return (
    fields.length === Object.keys(after).length && fields.every((field) => before[field] === after[field])
  );
}

/** Fields that stay as they are keep their reference, so that a look at the reference tells what changed. */
export const stableReference: Law = {
  name: "stable-reference",
  statement:
    "a built-in field whose content stays keeps its reference, and so does a state whose fields stay",
  appliesTo: ({ reducer }) => [...reducer.definitions.values()].some((one) => builtInReducers.includes(one)),
  check(subject, drafts) {
    const { events, states } = foldDrafts(subject, drafts);
    for (const [at, event] of events.entries()) {
      const [before, after] = [states[at] ?? {}, states[at + 1] ?? {}];
      if (before === after || !sameFields(before, after)) continue;
      throw new LawBreach(
        `${event.type} changed no field and gave the state a new reference`,
        events.slice(0, at + 1),
      );
    }
    for (const [field, definition] of subject.reducer.definitions) {
      if (!builtInReducers.includes(definition)) continue;
      for (const [at, event] of events.entries()) {
        const [before, after] = [states[at]?.[field], states[at + 1]?.[field]];
        if (
          before === after ||
          writesTwice(event.data) ||
          event.type === "StateUpdated" ||
          !isDeepStrictEqual(before, after)
        )
          continue;
        throw new LawBreach(
          `${event.type} gave "${field}" a new reference with the same content`,
          events.slice(0, at + 1),
        );
      }
    }
  },
};
