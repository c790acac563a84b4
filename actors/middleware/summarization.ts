import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import type { EventDraft } from "../../events/define-event.ts";
import { HistoryCompacted } from "../../events/messages.ts";
import type { Compaction } from "../../reducers/compaction.ts";
import { recordedAnswers } from "../steps/recorded-answers.ts";
import { planCompaction, visibleMessages } from "./compaction-plan.ts";
import { createMiddleware } from "./define-middleware.ts";
import { summaryInstructions, summaryPrompt } from "./summary-prompt.ts";

export interface SummarizationOptions {
  /** The model that writes summaries, or a function that makes it on first use. */
  readonly model: BaseChatModel | (() => BaseChatModel | Promise<BaseChatModel>);
  /** When to compact: so many messages or tokens that the model sees. Default 32,000 tokens. */
  readonly trigger?: { readonly messages?: number; readonly tokens?: number };
  /** Messages that stay at the end. Default 10. */
  readonly keep?: number;
  /** What the model is asked for. */
  readonly prompt?: string;
  /** Tokens of a list of messages. Default: four characters a token. */
  readonly countTokens?: (messages: readonly BaseMessage[]) => number;
  /** Longest prompt for a summary in characters; older messages are left out of it. Default 400,000. */
  readonly maxPromptCharacters?: number;
}

/** What compaction reads of a state; messages are LangChain's. */
export interface CompactionState {
  readonly messages: readonly BaseMessage[];
  readonly summary_text?: string | undefined;
  readonly compaction?: Compaction | undefined;
}

function estimateTokens(messages: readonly BaseMessage[]): number {
  const characters = messages.reduce((sum, message) => sum + JSON.stringify(message.content).length, 0);
  return Math.ceil(characters / 4);
}

async function askForSummary(
  prompt: string,
  model: SummarizationOptions["model"],
  signal: AbortSignal | undefined,
): Promise<string> {
  const recorded = recordedAnswers();
  if (recorded) return recorded.written("summary");
  const writer = typeof model === "function" ? await model() : model;
  const answer = await writer.invoke(prompt, {
    runName: "summary",
    // Its tokens are nobody's answer: they stay out of every stream.
    tags: ["summary", "nostream", "langsmith:nostream"],
    callbacks: [],
    ...(signal ? { signal } : {}),
  });
  return answer.text.trim();
}

/**
 * The event that compacts a conversation now, whatever its length; undefined: there is nothing to leave out.
 * Rejects with the model's error.
 *
 * @example
 * const event = await compactHistory(state, { model, keep: 10 });
 * if (event) await thread.record([event]);
 */
export async function compactHistory(
  state: CompactionState,
  options: SummarizationOptions,
  signal?: AbortSignal,
): Promise<EventDraft | undefined> {
  const plan = planCompaction(visibleMessages(state.messages, state.compaction), options.keep ?? 10);
  if (!plan) return undefined;
  const prompt = summaryPrompt(plan.summarized, state.summary_text, {
    instructions: options.prompt ?? summaryInstructions,
    maxCharacters: options.maxPromptCharacters ?? 400_000,
  });
  const summary = await askForSummary(prompt, options.model, signal);
  if (summary === "") return undefined;
  const { keptFrom, keptIds } = plan;
  return HistoryCompacted({ summary, keptFrom, ...(keptIds.length > 0 ? { keptIds: [...keptIds] } : {}) });
}

/**
 * Replaces old messages in the model's view by a summary when the conversation gets long. The thread keeps every
 * message; the user's newest message always stays in view, and no call is parted from its result. When the summary
 * fails, everything stays as it is and is tried again at the next model call.
 *
 * @example
 * createAgent({ model, middleware: [summarizationMiddleware({ model: small, trigger: { tokens: 50_000 } })] })
 */
export function summarizationMiddleware(options: SummarizationOptions) {
  const { trigger = { tokens: 32_000 }, countTokens = estimateTokens } = options;
  const isDue = (visible: readonly BaseMessage[]): boolean =>
    (trigger.messages !== undefined && visible.length >= trigger.messages) ||
    (trigger.tokens !== undefined && countTokens(visible) >= trigger.tokens);
  return createMiddleware<CompactionState>({
    name: "summarization",
    events: [HistoryCompacted],
    async beforeModel(state, runtime) {
      if (!isDue(visibleMessages(state.messages, state.compaction))) return undefined;
      try {
        return await compactHistory(state, options, runtime.signal);
      } catch (error) {
        // A long conversation is better than a failed run.
        if (runtime.signal.aborted) throw error;
        return undefined;
      }
    },
  });
}
