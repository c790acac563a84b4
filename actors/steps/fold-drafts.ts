import type { State } from "../../reducers/thread-state.ts";
import { checkDrafts } from "../check-drafts.ts";
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

type FoldContext = Pick<StepContext, "assembly" | "state" | "version" | "blobs">;

// A class: an object with getters of its own costs the engine a hidden class that lives long.
class CollectingFold implements DraftFold {
  #state: State;
  readonly #drafts: AttributedDraft[] = [];
  readonly #ctx: FoldContext;

  constructor(ctx: FoldContext) {
    this.#ctx = ctx;
    this.#state = ctx.state;
  }

  get state() {
    return this.#state;
  }

  get drafts() {
    return this.#drafts;
  }

  async add(drafts: readonly AttributedDraft[]): Promise<void> {
    if (drafts.length === 0) return;
    const { assembly, blobs, version: base } = this.#ctx;
    const checked = await checkDrafts(drafts, assembly.registry, blobs);
    let next = this.#state;
    const folded = checked.map(({ draft, by }, index): AttributedDraft => {
      const from = next;
      const version = base + this.#drafts.length + index + 1;
      next = assembly.reducer.apply(from, { ...draft, version });
      return { draft, by, folded: { from, version, to: next } };
    });
    this.#state = next;
    this.#drafts.push(...folded);
  }
}

/** Starts to fold drafts onto the state of a step. */
export function foldDrafts(ctx: FoldContext): DraftFold {
  return new CollectingFold(ctx);
}
