import type { DataOf } from "../events/define-event.ts";
import type { Message } from "../events/message.ts";
import type { HistoryCompacted, MessagesAdded } from "../events/messages.ts";
import { defineReducer } from "./define-reducer.ts";
import { messagePosition } from "./message-list.ts";
import { keepWhenSame } from "./same-json.ts";
import type { State } from "./thread-state.ts";

/** Which messages the model still sees after a compaction. The list itself keeps them all. */
export interface Compaction {
  /** Id of the first message from which on the model sees everything; null: nothing that is there now. */
  readonly kept_from: string | null;
  /** Ids of earlier messages that the model sees all the same. */
  readonly kept_ids: readonly string[];
}

function compact(data: DataOf<typeof HistoryCompacted>): Compaction {
  return { kept_from: data.keptFrom, kept_ids: data.keptIds ?? [] };
}

/** After a compaction that kept nothing, the first message that comes is where the model's view begins. */
function beginAt(current: Compaction | undefined, first: Message | undefined): Compaction | undefined {
  return current && current.kept_from === null && first ? { ...current, kept_from: first.id } : current;
}

const added = (current: Compaction | undefined, data: DataOf<typeof MessagesAdded>) =>
  beginAt(current, data.messages[0]);
const answered = (current: Compaction | undefined, data: { readonly message: Message }) =>
  beginAt(current, data.message);

/** The summary that stands for the messages which the model no longer sees. */
export const summaryText = defineReducer<string | undefined>({
  field: "summary_text",
  initial: undefined,
  algebra: "last-write",
  on: { HistoryCompacted: (_current, data) => data.summary },
});

/** Where the model's view of the conversation begins. */
export const compaction = defineReducer<Compaction | undefined>({
  field: "compaction",
  initial: undefined,
  on: {
    HistoryCompacted: (current, data) => keepWhenSame<Compaction | undefined>(current, compact(data)),
    MessagesAdded: added,
    ModelResponded: answered,
    ToolCallCompleted: answered,
    ToolCallFailed: answered,
    ToolCallAbandoned: answered,
  },
});

/** True while the next message event decides where the model's view begins; otherwise messages leave the fields alone. */
export function awaitsFirstMessage(state: State): boolean {
  return (state.compaction as Compaction | undefined)?.kept_from === null;
}

/** Id of the message that carries the summary in the model's view. It is in no state and no event. */
export const summaryMessageId = "history-summary";

function summaryMessage(summary: string): Message {
  return {
    id: summaryMessageId,
    type: "human",
    name: "history_summary",
    content: `Summary of the conversation so far:\n\n${summary}`,
    additional_kwargs: { hide_from_ui: true },
  };
}

interface KnownView {
  readonly all: readonly Message[];
  readonly summary: string;
  readonly summaryMessage: Message;
  readonly messages: readonly Message[];
}

// The same state has the same view, by reference, so that what is derived from a list or a message is found again.
const knownViews = new WeakMap<Compaction, KnownView>();

/**
 * The messages that the model sees: all of them, or after a compaction the summary, the earlier messages that were
 * kept, and everything from the kept message on. System messages that were kept stand first.
 *
 * @example
 * modelView(reducer.fold(events)); // [summary, …tail]
 */
export function modelView(state: State): readonly Message[] {
  const all = (state.messages ?? []) as readonly Message[];
  const view = state.compaction as Compaction | undefined;
  const summary = state.summary_text;
  if (!view || typeof summary !== "string") return all;
  const known = knownViews.get(view);
  const sameSummary = known?.summary === summary;
  if (sameSummary && known.all === all) return known.messages;
  const shown = sameSummary ? known.summaryMessage : summaryMessage(summary);
  const messages = compactedView(all, view, shown);
  knownViews.set(view, { all, summary, summaryMessage: shown, messages });
  return messages;
}

function compactedView(all: readonly Message[], view: Compaction, summary: Message): readonly Message[] {
  // A boundary that was removed from the list hides nothing: too much is better than a hole.
  const start = view.kept_from === null ? all.length : (messagePosition(all, view.kept_from) ?? 0);
  const places = view.kept_ids.map((id) => messagePosition(all, id));
  const early = [...new Set(places)].filter((place) => place !== undefined && place < start) as number[];
  const kept = early.sort((a, b) => a - b).flatMap((place) => all[place] ?? []);
  const system = kept.filter(({ type }) => type === "system");
  const others = kept.filter(({ type }) => type !== "system");
  return [...system, summary, ...others, ...all.slice(start)];
}
