import type { RunItem } from "../../../actors/agent-contract.ts";
import { type AssemblyOptions, assemble } from "../../../actors/assemble.ts";
import { loadLangChain } from "../../../actors/langchain.ts";
import type { AttributedDraft, StepContext } from "../../../actors/steps/step-contract.ts";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import type { State } from "../../../reducers/thread-state.ts";
import { ScriptedModel } from "../scripted-model.ts";

await loadLangChain();

/** A context for a step of its own, with what it published. */
export function stepContext(
  options: Partial<AssemblyOptions> = {},
  given: Partial<StepContext> = {},
): StepContext & { readonly published: RunItem[] } {
  const assembly = assemble({ model: new ScriptedModel({ answers: ["ok"] }), ...options });
  const published: RunItem[] = [];
  return {
    assembly,
    threadId: "t1",
    runId: "r1",
    step: 0,
    state: assembly.reducer.initial,
    version: 0,
    context: {},
    configurable: {},
    signal: new AbortController().signal,
    blobs: createMemoryBlobs(),
    folder: "/nowhere",
    run: { modelCalls: 0, toolCalls: {}, eventCounts: {}, threadModelCalls: 0, threadToolCalls: {} },
    published,
    publish: (item) => void published.push(item),
    ...given,
  };
}

/** State after drafts, as the actor folds them. */
export function foldOnto(ctx: StepContext, drafts: readonly AttributedDraft[]): State {
  const events = drafts.map(({ draft }, index) => ({ ...draft, version: ctx.version + index + 1 }));
  return ctx.assembly.reducer.fold(events, ctx.state);
}

/** Drafts without who made them. */
export function bare(drafts: readonly AttributedDraft[]) {
  return drafts.map(({ draft: { type, data } }) => ({ type, data }));
}
