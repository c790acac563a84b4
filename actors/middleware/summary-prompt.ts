import type { BaseMessage } from "@langchain/core/messages";
import { callsOf, isAnswer } from "./last-answer.ts";

/** Longest part of one message in the prompt, in characters. */
const maxMessageCharacters = 4_000;

const speakers: Readonly<Record<string, string>> = { human: "User", ai: "Assistant", tool: "Tool result" };

function cut(text: string): string {
  if (text.length <= maxMessageCharacters) return text;
  const half = maxMessageCharacters / 2;
  return `${text.slice(0, half)}\n[…]\n${text.slice(-half)}`.toWellFormed();
}

function line(message: BaseMessage): string {
  const type = message.getType();
  const calls = isAnswer(message)
    ? callsOf(message).map(({ name, args }) => `\n[calls ${name} ${cut(JSON.stringify(args))}]`)
    : [];
  return `${speakers[type] ?? type}: ${cut(message.text)}${calls.join("")}`;
}

export const summaryInstructions =
  "Summarise the conversation below for the assistant who will go on with it and will not see these messages again. " +
  "Keep: what the user wants and decided, what was done and found (with names, paths, figures), what failed and why, " +
  "and what is still to do. Leave out greetings and repetition. Answer with the summary only, in the user's language.";

/** The prompt for a summary: what was summarised before, and the messages, newest kept when it would get too long. */
export function summaryPrompt(
  messages: readonly BaseMessage[],
  earlier: string | undefined,
  options: { readonly instructions: string; readonly maxCharacters: number },
): string {
  const lines: string[] = [];
  let length = 0;
  for (const message of [...messages].reverse()) {
    const text = line(message);
    length += text.length;
    if (length > options.maxCharacters && lines.length > 0) break;
    lines.unshift(text);
  }
  const before = earlier ? `<earlier-summary>\n${earlier}\n</earlier-summary>\n\n` : "";
  return `${options.instructions}\n\n${before}<conversation>\n${lines.join("\n\n")}\n</conversation>`;
}
