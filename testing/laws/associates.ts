import { isDeepStrictEqual } from "node:util";
import { fieldSteps } from "./field-steps.ts";
import { type Law, LawBreach, shown } from "./law.ts";

/** Follows from `grow-only-set` and `keyed-merge`, where the reducer can merge values: batches may be cut anywhere. */
export const associates: Law = {
  name: "associates",
  statement: "merging values gives the same however they are bracketed",
  appliesTo: ({ definition }) =>
    (definition?.algebra === "grow-only-set" || definition?.algebra === "keyed-merge") &&
    definition.merge !== undefined,
  check(subject, drafts) {
    const { definition } = subject;
    if (!definition?.merge) return;
    const { merge } = definition;
    const steps = fieldSteps({ ...subject, definition }, drafts);
    for (let at = 2; at < steps.length; at++) {
      const [a, b, c] = [steps[at - 2]?.fresh, steps[at - 1]?.fresh, steps[at]?.fresh];
      if (!a || !b || !c) continue;
      const left: unknown = merge(merge(a.value, b.value), c.value);
      const right: unknown = merge(a.value, merge(b.value, c.value));
      if (isDeepStrictEqual(left, right)) continue;
      throw new LawBreach(
        `(a · b) · c gives ${shown(left)}, a · (b · c) gives ${shown(right)}`,
        steps[at]?.events,
      );
    }
  },
};
