import type { EventDraft } from "../events/define-event.ts";
import { mintId } from "./mint-id.ts";
import { addPending, RunClosedError, type RunScope, stepContext } from "./run-scope.ts";
import { foldDrafts } from "./steps/fold-drafts.ts";
import type { AttributedDraft } from "./steps/step-contract.ts";

/** Characters of JSON above which a batch is written by itself. */
const maxHeldLength = 64 * 1024;

const leadsOn = new Set(["ModelResponded", "ToolCallCompleted", "ToolCallFailed"]);

/**
 * True when nothing but the runtime's own work lies between the answer of the model and the next batch: no code of a
 * middleware could run, or fail, while the answer is in memory only.
 */
export function holdsAnswers({ environment: { hooks, releases } }: RunScope): boolean {
  return !hooks.has("afterModel") && !hooks.has("afterAgent") && !releases;
}

/** The same for the result of a tool and the model call that follows. */
export function holdsResults({ environment: { hooks, wrapsModelCalls, releases } }: RunScope): boolean {
  return !hooks.has("beforeModel") && !hooks.has("afterAgent") && !wrapsModelCalls && !releases;
}

/**
 * Holds drafts back for the batch that the next phase appends at once, so that both share one sync to disk. They are
 * checked and folded now.
 *
 * @returns false when they are too large for that; nothing is held then
 * @throws {RunClosedError} @throws {InvalidEventError} @throws {FoldError} @throws {NotJsonError}
 */
export async function holdBack(
  scope: RunScope,
  drafts: readonly AttributedDraft[],
  cause: string | undefined,
  step: number,
): Promise<boolean> {
  const fold = foldDrafts(stepContext(scope, step));
  await fold.add(drafts);
  if (scope.closed) throw new RunClosedError(scope.runId);
  if (lengthOf(fold.drafts.map(({ draft }) => draft)) > maxHeldLength) return false;
  const held = fold.drafts.map((draft) => ({ ...draft, id: mintId(), cause, step }));
  addPending(scope, held, fold.state);
  scope.trail.last = held.findLast(({ draft }) => leadsOn.has(draft.type))?.id ?? scope.trail.last;
  return true;
}

function lengthOf(drafts: readonly EventDraft[]): number {
  return JSON.stringify(drafts).length;
}
