import fc from "fast-check";
import type { EventDraft } from "../../events/define-event.ts";
import type { FoldEvent } from "../../events/envelope.ts";
import { deepFreeze } from "../../events/log/deep-freeze.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { FoldError, type State } from "../../reducers/thread-state.ts";

const id = fc.constantFrom("1", "2", "3", "4", "__proto__");
const text = fc.oneof(fc.constantFrom("", "a", "b", "长文本"), fc.string({ unit: "binary", maxLength: 8 }));
const path = fc.constantFrom("/a", "/b", "/c", "__proto__", "constructor");
const callId = fc.constantFrom("c0", "c1", "c2");

const spoken = fc.record({ id, type: fc.constantFrom("human", "ai", "system"), content: text });
const calling = fc.record({
  id,
  type: fc.constant("ai"),
  content: text,
  tool_calls: fc.array(fc.record({ id: callId, name: text, args: fc.constant({}) }), { maxLength: 3 }),
});
const answered = fc.record({ id, type: fc.constant("tool"), content: text, tool_call_id: callId });
const message = fc.oneof(spoken, calling, answered);
const messages = fc.array(message, { maxLength: 3 });

function event(type: string, data: fc.Arbitrary<unknown>): fc.Arbitrary<EventDraft> {
  return data.map((of) => ({ type, data: of }));
}
function record(model: Record<string, fc.Arbitrary<unknown>>, requiredKeys: string[] = Object.keys(model)) {
  return fc.record(model, { requiredKeys, noNullPrototype: true });
}
const tool = record({ callId, message: answered });
const image = record({ mime_type: text, size: fc.nat(9) });
const delegation = record(
  { id, status: fc.constantFrom("in_progress", "completed", "failed"), created_at: text, run_id: text },
  ["id", "status"],
);
const skill = record({ path, name: text, description: text, loaded_at: fc.nat(9), body: text }, ["name"]);

/** Events of every field, some of which a state may refuse. */
export const anyDraft: fc.Arbitrary<EventDraft> = fc.oneof(
  { weight: 6, arbitrary: event("MessagesAdded", record({ messages })) },
  {
    weight: 2,
    arbitrary: event(
      "MessagesReplaced",
      record({ messages: fc.array(message, { minLength: 1, maxLength: 2 }) }),
    ),
  },
  {
    weight: 2,
    arbitrary: event("MessagesRemoved", record({ ids: fc.array(id, { minLength: 1, maxLength: 2 }) })),
  },
  event("MessagesRemoved", fc.constant({ all: true })),
  { weight: 3, arbitrary: event("ModelResponded", record({ callId, message: calling })) },
  { weight: 3, arbitrary: event("ToolCallCompleted", tool) },
  event("ToolCallFailed", tool),
  event("ToolCallAbandoned", tool),
  event(
    "HistoryCompacted",
    record({ summary: text, keptFrom: fc.option(id), keptIds: fc.array(id) }, ["summary", "keptFrom"]),
  ),
  event("SandboxBound", record({ sandbox_id: fc.constantFrom("s1", "s2", null) }, [])),
  event(
    "SandboxRebound",
    record({ sandbox_id: fc.constantFrom("s1", "s2"), previous: fc.constantFrom("s1", "s2") }),
  ),
  event("SandboxReleased", record({ sandbox_id: fc.constantFrom("s1", "s2") })),
  event("ThreadDataBound", record({ workspace_path: text, uploads_path: text, outputs_path: text }, [])),
  event(
    "FilesUploaded",
    record({ files: fc.array(record({ filename: text, size: fc.nat(9), path }), { maxLength: 2 }) }),
  ),
  event("ArtifactsPresented", record({ paths: fc.array(path, { maxLength: 3 }) })),
  event("TodosWritten", record({ todos: fc.array(record({ content: text }), { maxLength: 3 }) })),
  event(
    "ImagesViewed",
    record({ images: fc.dictionary(path, image, { maxKeys: 2, noNullPrototype: true }) }),
  ),
  event("ImagesCleared", fc.constant({})),
  event(
    "ToolsPromoted",
    record({ catalogHash: fc.constantFrom("x", "y"), names: fc.array(id, { maxLength: 3 }) }),
  ),
  event(
    "TitleSet",
    record({ title: fc.option(text), origin: fc.constantFrom("auto", "llm", "user", "interrupted") }),
  ),
  event("StructuredResponseProduced", record({ value: fc.option(text) })),
  event("GoalSet", record({ goal: fc.option(record({ objective: text })) })),
  event("DelegationsRecorded", record({ entries: fc.array(delegation, { maxLength: 3 }) })),
  event("SkillsLoaded", record({ entries: fc.array(skill, { maxLength: 3 }) })),
  event(
    "StateUpdated",
    record({ field: fc.constantFrom("mood", "__proto__", "artifacts"), value: fc.array(path) }),
  ),
  event(
    "StateUpdated",
    record({ field: fc.constant("messages"), value: fc.array(spoken), replace: fc.constant(true) }),
  ),
  event("NobodyKnowsThis", record({ anything: text })),
);

/** The reducer of these laws: every field, declared or not. */
export const reducer = createThreadReducer({ openFields: true });

/** Drafts as a log would hold them after `before`: what a state refuses is not there. */
export function accepted(drafts: readonly EventDraft[], before: State = reducer.initial): FoldEvent[] {
  const events: FoldEvent[] = [];
  let state = before;
  for (const draft of drafts) {
    const candidate = { type: draft.type, data: draft.data, version: events.length + 1 };
    try {
      state = reducer.apply(state, candidate);
    } catch (error) {
      if (error instanceof FoldError) continue;
      throw error;
    }
    events.push(candidate);
  }
  return deepFreeze(events);
}

/** Events of one thread that fold, deeply frozen. */
export const anyLog: fc.Arbitrary<FoldEvent[]> = fc
  .array(anyDraft, { maxLength: 40 })
  .map((drafts) => accepted(drafts));
