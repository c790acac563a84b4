import { isDeepStrictEqual } from "node:util";
import { builtInReducers } from "../../reducers/built-in.ts";
import type { AnyReducerDefinition } from "../../reducers/define-reducer.ts";
import { fieldModels } from "../reference/field-models.ts";
import { ReferenceRefusal } from "../reference/reference-refusal.ts";
import { type FieldStep, fieldSteps } from "./field-steps.ts";
import { type Law, LawBreach, shown } from "./law.ts";

/** The built-in reducer whose place a definition takes: of the same field, for some of the same events. */
function builtInFor(definition: AnyReducerDefinition | undefined): AnyReducerDefinition | undefined {
  return builtInReducers.find(
    ({ field, on }) =>
      field === definition?.field && Object.keys(on).some((type) => Object.hasOwn(definition.on, type)),
  );
}

function expectedOf({ before, event }: FieldStep, field: string): { readonly value: unknown } | undefined {
  try {
    return { value: fieldModels[field]?.(before, event as never) };
  } catch (error) {
    if (error instanceof ReferenceRefusal) return undefined;
    throw error;
  }
}

/** A built-in field does what the original system's field did, refusals included. */
export const asOriginal: Law = {
  name: "as-original",
  statement: "a built-in field takes, keeps and refuses what the original system's field does",
  appliesTo: ({ definition }) =>
    builtInFor(definition) !== undefined && Object.hasOwn(fieldModels, definition?.field ?? ""),
  check(subject, drafts) {
    const { definition } = subject;
    if (!definition) return;
    const { field } = definition;
    for (const step of fieldSteps({ ...subject, definition }, drafts)) {
      if (step.event.type === "StateUpdated") continue;
      const expected = expectedOf(step, field);
      if (isDeepStrictEqual(expected, step.after)) continue;
      const became = (value: { readonly value: unknown } | undefined) =>
        value ? shown(value.value) : "refused";
      throw new LawBreach(
        `${step.event.type} onto ${shown(step.before)}: expected ${became(expected)}, it was ${became(step.after)}`,
        step.events,
      );
    }
  },
};
