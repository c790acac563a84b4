import type { BaseMessage } from "@langchain/core/messages";
import type { Compaction } from "../../reducers/compaction.ts";
import { lastUserIndex } from "./hidden-message.ts";
import { callsOf, isAnswer, isToolResult } from "./last-answer.ts";

/** What the model stops seeing, and what it still sees. */
export interface CompactionPlan {
  /** Goes into the summary. */
  readonly summarized: readonly BaseMessage[];
  /** Id of the first message that stays; null: none stays. */
  readonly keptFrom: string | null;
  /** Ids of earlier messages that stay all the same. */
  readonly keptIds: readonly string[];
}

/** The messages that the model sees now, without the summary. */
export function visibleMessages(
  messages: readonly BaseMessage[],
  compaction: Compaction | undefined,
): readonly BaseMessage[] {
  if (!compaction) return messages;
  const { kept_from: from, kept_ids: ids } = compaction;
  const found = from === null ? messages.length : messages.findIndex((message) => message.id === from);
  const start = Math.max(0, found);
  const early = messages
    .slice(0, start)
    .filter((message) => message.id !== undefined && ids.includes(message.id));
  return [...early, ...messages.slice(start)];
}

/** The cut moved back to where no call is parted from its result. */
function wholePairs(messages: readonly BaseMessage[], cut: number): number {
  const callAt = new Map<string, number>();
  for (const [index, message] of messages.entries()) {
    if (isAnswer(message)) for (const call of callsOf(message)) callAt.set(call.id, index);
  }
  let place = cut;
  for (let index = messages.length - 1; index >= place; index--) {
    const message = messages[index];
    if (!message || !isToolResult(message)) continue;
    const call = callAt.get(message.tool_call_id);
    if (call === undefined || call >= place || call > index) continue;
    place = call;
    // The answer may have further calls, and messages that now stay may have results of their own.
    index = messages.length;
  }
  return place;
}

/** Messages that no summary may replace: system messages and reminders. */
function isLasting(message: BaseMessage): boolean {
  return message.getType() === "system" || message.additional_kwargs?.dynamic_context_reminder === true;
}

/**
 * Where to cut: the last `keep` messages stay, and with them the calls that their results belong to; before the cut
 * stay the user's newest message and what is lasting. Undefined: there is nothing to leave out.
 *
 * @param visible what the model sees now
 */
export function planCompaction(visible: readonly BaseMessage[], keep: number): CompactionPlan | undefined {
  const cut = wholePairs(visible, Math.max(0, visible.length - Math.max(0, keep)));
  const newestUser = lastUserIndex(visible);
  const before = visible.slice(0, cut);
  const stays = (message: BaseMessage, index: number) => index === newestUser || isLasting(message);
  const summarized = before.filter((message, index) => !stays(message, index));
  if (summarized.length === 0) return undefined;
  return {
    summarized,
    keptFrom: visible[cut]?.id ?? null,
    keptIds: before.filter(stays).flatMap((message) => message.id ?? []),
  };
}
