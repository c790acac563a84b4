import { isDeepStrictEqual } from "node:util";
import { builtInReducers } from "../../reducers/built-in.ts";
import { fieldSteps } from "./field-steps.ts";
import { type Law, LawBreach, shown } from "./law.ts";
import { tryApply, valueIn } from "./law-subject.ts";

/** An event that comes twice counts once. A reducer that counts claims no algebra: the log refuses doubles by their ids. */
export const redelivery: Law = {
  name: "redelivery",
  statement: "an event that comes twice changes nothing the second time, or is refused",
  appliesTo: ({ definition }) =>
    definition !== undefined && (definition.algebra !== undefined || builtInReducers.includes(definition)),
  check(subject, drafts) {
    const { reducer, definition } = subject;
    if (!definition) return;
    for (const { event, state, after, events } of fieldSteps({ ...subject, definition }, drafts)) {
      const once = after && tryApply(reducer, state, event);
      const twice = once && tryApply(reducer, once, event);
      if (!twice || isDeepStrictEqual(valueIn(subject, twice), after.value)) continue;
      throw new LawBreach(
        `${event.type} twice gives ${shown(valueIn(subject, twice))}, once it gives ${shown(after.value)}`,
        [...events, event],
      );
    }
  },
};
