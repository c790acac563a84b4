import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { createScriptedModel, type LangChainCore, type ScriptedAnswer } from "../work.ts";

/** One situation, brought about with both products. Each side says in a sentence what came out. */
export interface Claim {
  readonly situation: string;
  ours(): Promise<string>;
  theirs(): Promise<string>;
}

export type Answer = (messages: readonly BaseMessage[]) => ScriptedAnswer;

/** The scripted model on our copy of `@langchain/core`. */
export function ownModel(answer: Answer): BaseChatModel {
  const core = { BaseChatModel, AIMessage } as unknown as LangChainCore;
  return createScriptedModel(core, answer) as unknown as BaseChatModel;
}

/** For a human message the calls, with ids that nothing else has; else "done". */
export function callsOnce(...names: readonly string[]): Answer {
  return (messages) => {
    if (messages.at(-1)?.getType() !== "human") return { content: "done" };
    return { tool_calls: names.map((name, n) => ({ id: `call-${messages.length}-${n}`, name, args: {} })) };
  };
}

/** Tool calls without a result before the next message that is no result. */
export function orphanCalls(messages: readonly BaseMessage[]): number {
  const answered = new Set(messages.map((message) => (message as { tool_call_id?: string }).tool_call_id));
  const calls = messages.flatMap((message) => (message as AIMessage).tool_calls ?? []);
  return calls.filter(({ id }) => !answered.has(id)).length;
}

/** Contents of the messages of a type. */
export function contentsOf(messages: unknown, type: string): readonly string[] {
  return (messages as readonly (BaseMessage & { type: string })[])
    .filter((message) => message.type === type)
    .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)));
}

/** What an error says, in one line. */
export function errorLine(error: unknown): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return `${name}: ${message.split("\n")[0]?.slice(0, 120)}`;
}
