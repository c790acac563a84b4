import { storableJson } from "../../events/storable-json.ts";
import type { State } from "../../reducers/thread-state.ts";
import { externalize } from "../externalize.ts";
import { deepFreeze } from "../messages/deep-freeze.ts";
import type { AttributedDraft, StepContext } from "./step-contract.ts";

/** State and drafts while a step collects them: each batch of drafts is checked and folded before the next one is asked for. */
export interface DraftFold {
  readonly state: State;
  readonly drafts: readonly AttributedDraft[];
  /**
   * Adds drafts: large content goes to the blob store, data is checked, and the state moves on.
   * @throws {InvalidEventError} @throws {FoldError} @throws {NotJsonError}
   */
  add(drafts: readonly AttributedDraft[]): Promise<void>;
}

/** Starts to fold drafts onto the state of a step. */
export function foldDrafts(ctx: Pick<StepContext, "assembly" | "state" | "version" | "blobs">): DraftFold {
  const { registry, reducer } = ctx.assembly;
  let state = ctx.state;
  const all: AttributedDraft[] = [];
  return {
    get state() {
      return state;
    },
    get drafts() {
      return all;
    },
    async add(drafts) {
      if (drafts.length === 0) return;
      const checked = (await externalize(drafts, ctx.blobs)).map(({ draft: { type, data }, by }) => {
        const draft = { type, data: deepFreeze(storableJson(data)) };
        registry.check(draft);
        return { draft, by };
      });
      let next = state;
      checked.forEach(({ draft }, index) => {
        next = reducer.apply(next, { ...draft, version: ctx.version + all.length + index + 1 });
      });
      state = next;
      all.push(...checked);
    },
  };
}
