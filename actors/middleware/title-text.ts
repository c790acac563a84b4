import type { TitleConfig } from "./title-config.ts";

/** Characters of the user's text that a local title takes at most. */
const localCharacters = 50;
/** Characters of each text that the title model is shown. */
const promptCharacters = 500;
/** A character of a person may have many code points; this many are looked at beyond a limit. */
const graphemeSlack = 64;

const untitled = "New Conversation";

/** The first `limit` characters (code points), and no half of what people see as one character. */
function firstCharacters(text: string, limit: number): string {
  const points = [...text.slice(0, (limit + graphemeSlack) * 2)];
  if (points.length <= limit) return text;
  const cut = points.slice(0, limit).join("");
  let whole = "";
  for (const { segment, index } of new Intl.Segmenter().segment(points.join(""))) {
    if (index + segment.length > cut.length) break;
    whole += segment;
  }
  return whole === "" ? cut : whole;
}

function isLongerThan(text: string, limit: number): boolean {
  return text.length > limit && [...text.slice(0, limit * 2 + 2)].length > limit;
}

/**
 * A title from the user's text alone: the text itself, or its beginning and three dots, never longer than `max_chars`.
 *
 * @example
 * localTitle("abcdefghijk", { ...config, max_chars: 10 }); // "abcdefg..."
 */
export function localTitle(text: string, config: Pick<TitleConfig, "max_chars">): string {
  if (text.trim() === "") return untitled;
  const limit = Math.min(config.max_chars, localCharacters);
  if (!isLongerThan(text, limit)) return text;
  const start = firstCharacters(text, Math.min(limit, config.max_chars - 3)).trimEnd();
  return start === "" ? localTitle(text.trimStart(), config) : `${start}...`;
}

/** The title prompt names something that there is not. */
export class TitlePromptError extends Error {
  override readonly name = "TitlePromptError";
  constructor(readonly placeholder: string) {
    super(
      `The title's prompt_template names {${placeholder}}. Use {max_words}, {user_msg} and {assistant_msg}, and write other braces twice.`,
    );
  }
}

/**
 * The prompt for the title model.
 *
 * @throws {TitlePromptError}
 */
export function titlePrompt(config: TitleConfig, userText: string, assistantText: string): string {
  const values: Readonly<Record<string, string>> = {
    max_words: String(config.max_words),
    user_msg: firstCharacters(userText, promptCharacters),
    assistant_msg: firstCharacters(assistantText, promptCharacters),
  };
  return config.prompt_template.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (found, name?: string) => {
    if (found === "{{" || found === "}}") return found.charAt(0);
    const value = name !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) throw new TitlePromptError(name ?? found);
    return value;
  });
}

/** The title in a model's answer: no thoughts, no quotes around it, cut at `max_chars`; empty: there is none. */
export function titleInAnswer(answer: string, config: Pick<TitleConfig, "max_chars">): string {
  const text = answer
    .replace(/<think>[\s\S]*?<\/think>/gi, "")
    .trim()
    .replace(/^"+|"+$/g, "")
    .replace(/^'+|'+$/g, "")
    .trim();
  return isLongerThan(text, config.max_chars) ? firstCharacters(text, config.max_chars).trimEnd() : text;
}
