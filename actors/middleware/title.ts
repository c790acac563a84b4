import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { TitleSet } from "../../events/title.ts";
import { title as titleReducer } from "../../reducers/title.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { recordedAnswers } from "../steps/recorded-answers.ts";
import { createMiddleware, type HookRuntime, type Middleware } from "./define-middleware.ts";
import { messageType, textOfContent, typedText, userMessages } from "./message-text.ts";
import { readTitleConfig, type TitleConfig, type TitleConfigInput } from "./title-config.ts";
import { localTitle, titleInAnswer, titlePrompt } from "./title-text.ts";

/** Milliseconds that a title model may take before the local title is used. */
const titleTimeoutMs = 15_000;

export interface TitleMiddlewareOptions extends TitleConfigInput {
  /** Finds the model that `model_name` names. Default: as `createAgent` does (`openai:…`, `ollama:…`). */
  readonly resolveModel?: (name: string) => BaseChatModel | Promise<BaseChatModel>;
}

type Fields = { readonly title?: string | null };

/**
 * Gives a thread its title after the first answer: the beginning of what the user typed, or, with `model_name`, a title
 * that a model writes (never streamed, recorded in `TitleSet`, so that a replay asks nobody). Any error of that model
 * gives the local title. A thread that has a title keeps it; a first run that was stopped early gets one, too.
 *
 * @throws {TitleConfigError} when a value is out of range
 * @example
 * createAgent({ model, middleware: [titleMiddleware({ max_chars: 80 })] });
 */
export function titleMiddleware(options: TitleMiddlewareOptions = {}): Middleware {
  const { resolveModel: resolve = (name: string) => resolveModel(name), ...given } = options;
  const config = readTitleConfig(given);

  return createMiddleware<Fields>({
    name: "title",
    events: [TitleSet],
    reducers: [titleReducer],

    async afterModel(state, runtime) {
      const userText = untitledText(config, state.title, state.messages);
      const answer = state.messages?.find((message) => messageType(message) === "ai");
      if (userText === undefined || !answer) return;
      const written =
        config.model_name &&
        (await askForTitle(config, resolve, userText, textOfContent(answer.content), runtime));
      return written
        ? TitleSet({ title: written, origin: "llm" })
        : TitleSet({ title: localTitle(userText, config), origin: "auto" });
    },

    release(state) {
      const userText = untitledText(config, state.title, state.messages);
      if (userText === undefined) return;
      return TitleSet({ title: localTitle(userText, config), origin: "interrupted" });
    },
  });
}

/** What the user typed, if the thread is in its first turn and may get a title. */
function untitledText(config: TitleConfig, title: unknown, messages: unknown): string | undefined {
  if (!config.enabled || title || !Array.isArray(messages)) return undefined;
  const [first, ...more] = userMessages(messages);
  return first === undefined || more.length > 0 ? undefined : typedText(first);
}

/** A title by the model; undefined when anything goes wrong, for a title is never worth a failed run. */
async function askForTitle(
  config: TitleConfig,
  resolve: (name: string) => BaseChatModel | Promise<BaseChatModel>,
  userText: string,
  assistantText: string,
  runtime: HookRuntime,
): Promise<string | undefined> {
  try {
    const recorded = recordedAnswers();
    if (recorded) return recorded.written("title");
    const prompt = titlePrompt(config, userText, assistantText);
    const model = await resolve(config.model_name ?? "");
    const answer = await model.invoke(prompt, {
      runName: "title",
      // The tags keep its tokens out of LangGraph's streams, the empty list of callbacks out of ours.
      tags: ["title", "nostream", "langsmith:nostream"],
      callbacks: [],
      signal: AbortSignal.any([runtime.signal, AbortSignal.timeout(titleTimeoutMs)]),
    });
    return titleInAnswer(textOfContent(answer.content), config) || undefined;
  } catch {
    return undefined;
  }
}
