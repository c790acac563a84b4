import { basename } from "node:path";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";

/** What a one-tool turn consists of, in characters. Both sides use this file. */
const lengths = { question: 120, arguments: 40, toolResult: 400, answer: 300 } as const;

function textOf(length: number, start: string): string {
  const words = " the report of the last quarter shows what changed against the one before and why";
  return (start + words.repeat(Math.ceil(length / words.length))).slice(0, length);
}

export const questionOf = (turn: number): string => textOf(lengths.question, `Question ${turn}:`);
const answerText = textOf(lengths.answer, "Answer:");
export const toolResult = textOf(lengths.toolResult, "Found:");
const toolArguments = { query: textOf(lengths.arguments - JSON.stringify({ query: "" }).length, "look") };

/** What the bench needs of `@langchain/core`; each side has its own copy of the package, of the same version. */
export interface LangChainCore {
  readonly BaseChatModel: abstract new (
    fields: object,
  ) => {
    invoke(messages: BaseMessage[]): Promise<unknown>;
  };
  readonly AIMessage: new (fields: object) => AIMessage;
}

/**
 * A chat model whose answer follows from the last message: a tool call for a human, an answer for a tool result.
 *
 * @param latencyMs time that each answer takes, in milliseconds; 0 answers at once
 */
export function createModel(core: LangChainCore, latencyMs = 0) {
  abstract class Base extends core.BaseChatModel {}
  class DeterministicToolModel extends Base {
    _llmType(): string {
      return "deterministic";
    }
    bindTools() {
      return this;
    }
    async _generate(messages: BaseMessage[]): Promise<ChatResult> {
      if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
      const usage_metadata = { input_tokens: messages.length, output_tokens: 12, total_tokens: 12 };
      const asked = messages.at(-1)?.getType() !== "tool";
      const call = { id: `call_${messages.length}`, name: "lookup", args: toolArguments, type: "tool_call" };
      const message = asked
        ? new core.AIMessage({ content: "", tool_calls: [call], usage_metadata })
        : new core.AIMessage({ content: answerText, usage_metadata });
      return { generations: [{ text: asked ? "" : answerText, message }] };
    }
  }
  return new DeterministicToolModel({});
}

/** What a scripted model says: text, tool calls, or both. */
export interface ScriptedAnswer {
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly name: string; readonly args: object }[];
}

/** A chat model that asks a function for each answer. */
export function createScriptedModel(
  core: LangChainCore,
  answer: (messages: readonly BaseMessage[]) => ScriptedAnswer,
) {
  abstract class Base extends core.BaseChatModel {}
  class ScriptedToolModel extends Base {
    _llmType(): string {
      return "scripted";
    }
    bindTools() {
      return this;
    }
    async _generate(messages: BaseMessage[]): Promise<ChatResult> {
      const { content = "", tool_calls = [] } = answer(messages);
      return { generations: [{ text: content, message: new core.AIMessage({ content, tool_calls }) }] };
    }
  }
  return new ScriptedToolModel({});
}

/** The plain messages of one turn, as their JSON is counted. */
export function messagesOfTurn(turn: number, runId: string) {
  const tool_calls = [{ id: `call_${runId}`, name: "lookup", args: toolArguments, type: "tool_call" }];
  return [
    { id: `${runId}-1`, type: "human", content: questionOf(turn) },
    { id: `${runId}-2`, type: "ai", content: "", tool_calls },
    {
      id: `${runId}-3`,
      type: "tool",
      content: toolResult,
      tool_call_id: `call_${runId}`,
      name: "lookup",
      status: "success",
    },
    { id: `${runId}-4`, type: "ai", content: answerText, tool_calls: [] },
  ];
}

/** The same store may hold the threads of several runs. */
export const threadIdIn = (folder: string, index: number): string => `${basename(folder)}-${index}`;
