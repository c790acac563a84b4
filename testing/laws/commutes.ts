import { isDeepStrictEqual } from "node:util";
import { fieldSteps } from "./field-steps.ts";
import { entriesOf } from "./keyed.ts";
import { type Law, LawBreach, shown } from "./law.ts";
import { tryApply, valueIn } from "./law-subject.ts";
import { bringsNothing } from "./no-ops.ts";

/** A value without its order. */
function unordered(value: unknown): unknown {
  return Array.isArray(value) ? new Set(value.map((element) => JSON.stringify(element))) : value;
}

/** Follows from `grow-only-set` and `keyed-merge`: two that work at the same time may come in any order. */
export const commutes: Law = {
  name: "commutes",
  statement: "two events come to the same in either order: as a set, or when they write different keys",
  appliesTo: ({ definition }) =>
    definition?.algebra === "grow-only-set" || definition?.algebra === "keyed-merge",
  check(subject, drafts) {
    const { reducer, definition } = subject;
    if (!definition) return;
    const steps = fieldSteps({ ...subject, definition }, drafts);
    for (const [at, second] of steps.entries()) {
      const first = steps[at - 1];
      if (!first?.after || !second.after || !first.fresh || !second.fresh) continue;
      if (definition.algebra === "keyed-merge") {
        const [a, b] = [entriesOf(first.fresh.value), entriesOf(second.fresh.value)];
        const clears = [first, second].some(
          ({ event, fresh }) => entriesOf(fresh?.value)?.size === 0 && !bringsNothing(event),
        );
        if (!a || !b || clears || [...a.keys()].some((key) => b.has(key))) continue;
      }
      const other = tryApply(reducer, first.state, second.event);
      const swapped = other && tryApply(reducer, other, first.event);
      const value = swapped && valueIn(subject, swapped);
      if (swapped && isDeepStrictEqual(unordered(value), unordered(second.after.value))) continue;
      throw new LawBreach(
        `${first.event.type} then ${second.event.type} gives ${shown(second.after.value)}, the other way round ${shown(value)}`,
        second.events,
      );
    }
  },
};
