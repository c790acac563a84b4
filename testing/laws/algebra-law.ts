import type { Algebra, AnyReducerDefinition } from "../../reducers/define-reducer.ts";
import { type FieldStep, fieldSteps } from "./field-steps.ts";
import { type Law, LawBreach } from "./law.ts";
import type { LawSubject } from "./law-subject.ts";

export type FieldSubject = LawSubject & { readonly definition: AnyReducerDefinition };

/**
 * A law that follows from what a reducer claims about itself, checked at every step of a log.
 *
 * @param broken the reason why the law does not hold at a step; undefined: it holds
 */
export function algebraLaw(options: {
  readonly name: string;
  readonly statement: string;
  readonly claims: readonly Algebra[];
  readonly broken: (step: FieldStep, subject: FieldSubject) => string | undefined;
}): Law {
  const { name, statement, claims, broken } = options;
  return {
    name,
    statement,
    appliesTo: ({ definition }) => definition?.algebra !== undefined && claims.includes(definition.algebra),
    check(subject, drafts) {
      const { definition } = subject;
      if (!definition) return;
      const field = { ...subject, definition };
      for (const step of fieldSteps(field, drafts)) {
        const reason = broken(step, field);
        if (reason) throw new LawBreach(reason, step.events);
      }
    },
  };
}
