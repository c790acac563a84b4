import { isDeepStrictEqual } from "node:util";
import type { FoldEvent } from "../../events/envelope.ts";
import { type Law, LawBreach, shown } from "./law.ts";
import { foldDrafts, valueIn } from "./law-subject.ts";

/** True for an event that brings only empty lists and maps, and at least one. */
export function bringsNothing({ data }: FoldEvent): boolean {
  if (typeof data !== "object" || data === null) return false;
  const members = Object.values(data);
  return (
    members.length > 0 &&
    members.every(
      (member) => typeof member === "object" && member !== null && Object.keys(member).length === 0,
    )
  );
}

/** Events that were stated to change nothing change nothing. */
export const statedNoOps: Law = {
  name: "no-ops",
  statement: "events that are stated to change nothing change nothing",
  appliesTo: ({ noOps }) => noOps !== undefined,
  check(subject, drafts) {
    const { events, states } = foldDrafts(subject, drafts);
    for (const [at, event] of events.entries()) {
      const before = valueIn(subject, states[at] ?? {});
      const after = valueIn(subject, states[at + 1] ?? {});
      if (!subject.noOps?.(before, event) || isDeepStrictEqual(before, after)) continue;
      throw new LawBreach(
        `${event.type} was stated to change nothing and turned ${shown(before)} into ${shown(after)}`,
        events.slice(0, at + 1),
      );
    }
  },
};

/** What grows or merges is not cleared by nothing: only an event of its own clears. */
export const emptyIsNoOp: Law = {
  name: "empty-is-no-op",
  statement: "an event with nothing in it changes nothing; only an event of its own clears",
  appliesTo: ({ definition }) =>
    definition?.algebra === "grow-only-set" || definition?.algebra === "keyed-merge",
  check(subject, drafts) {
    const { events, states } = foldDrafts(subject, drafts);
    for (const [at, event] of events.entries()) {
      const before = valueIn(subject, states[at] ?? {});
      const after = valueIn(subject, states[at + 1] ?? {});
      if (!bringsNothing(event) || isDeepStrictEqual(before, after)) continue;
      throw new LawBreach(
        `${event.type} brings nothing and turned ${shown(before)} into ${shown(after)}`,
        events.slice(0, at + 1),
      );
    }
  },
};
