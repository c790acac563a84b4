import { lazySchema } from "../../events/zod.ts";

export const decisionTypes = ["approve", "edit", "reject"] as const;
export type DecisionType = (typeof decisionTypes)[number];

const actionSchema = lazySchema((z) =>
  z.looseObject({ name: z.string().optional(), args: z.record(z.string(), z.unknown()) }),
);

/** One decision as clients send it. Both spellings of the edited action are read. */
const decisionSchema = lazySchema((z) =>
  z.union([
    z.looseObject({ type: z.literal("approve") }),
    z.looseObject({ type: z.literal("reject"), message: z.string().optional() }),
    z.looseObject({ type: z.literal("edit"), editedAction: actionSchema() }),
    z
      .looseObject({ type: z.literal("edit"), edited_action: actionSchema() })
      .transform(({ type, edited_action }) => ({ type, editedAction: edited_action })),
  ]),
);

export type Decision =
  | { readonly type: "approve" }
  | { readonly type: "reject"; readonly message?: string | undefined }
  | {
      readonly type: "edit";
      readonly editedAction: { readonly name?: string | undefined; readonly args: Record<string, unknown> };
    };

const answerSchema = lazySchema((z) =>
  z.union([
    z.enum(["approve", "reject"]).transform((type) => [{ type }]),
    z.looseObject({ decisions: z.array(decisionSchema()).min(1) }).transform(({ decisions }) => decisions),
    decisionSchema().transform((decision) => [decision]),
  ]),
);

/**
 * Reads the answer to an approval: a decision, its type alone, or LangChain's `{ decisions: [...] }`, where a list for
 * several calls has one decision for each in the order of the calls.
 *
 * @returns the decision, or what is wrong with the answer
 */
export function readDecision(
  answer: unknown,
  place: { readonly index: number; readonly count: number },
): Decision | { readonly problem: string } {
  const result = answerSchema().safeParse(answer);
  if (!result.success) {
    return {
      problem: `The answer is no decision. Send { "type": "approve" }, { "type": "reject", "message": … } or { "type": "edit", "edited_action": { "name": …, "args": {…} } }.`,
    };
  }
  const decisions: readonly Decision[] = result.data;
  const only = decisions.length === 1 ? decisions[0] : undefined;
  const mine = decisions.length === place.count ? decisions[place.index] : only;
  return (
    mine ?? {
      problem: `${decisions.length} decisions came for ${place.count} calls. Send one for each call.`,
    }
  );
}
