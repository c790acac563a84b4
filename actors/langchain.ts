import type * as ChatModels from "@langchain/core/language_models/chat_models";
import type * as Messages from "@langchain/core/messages";
import type * as Outputs from "@langchain/core/outputs";
import type * as Prompts from "@langchain/core/prompt_values";
import type * as Tools from "@langchain/core/tools";
import type * as FunctionCalling from "@langchain/core/utils/function_calling";
import type * as JsonSchemas from "@langchain/core/utils/json_schema";

/*
 * What this package uses of LangChain while an agent runs. It takes longer to load than all of this package, and who
 * reads a log needs none of it: it is loaded before an agent's first work, and the names below stand for it from then on.
 */
export let AIMessage: typeof Messages.AIMessage;
export type AIMessage = Messages.AIMessage;
export let AIMessageChunk: typeof Messages.AIMessageChunk;
export let ChatMessage: typeof Messages.ChatMessage;
export let FunctionMessage: typeof Messages.FunctionMessage;
export let HumanMessage: typeof Messages.HumanMessage;
export type HumanMessage = Messages.HumanMessage;
export let RemoveMessage: typeof Messages.RemoveMessage;
export let SystemMessage: typeof Messages.SystemMessage;
export let ToolMessage: typeof Messages.ToolMessage;
export type ToolMessage = Messages.ToolMessage;
export let coerceMessageLikeToMessage: typeof Messages.coerceMessageLikeToMessage;
export let isBaseMessage: typeof Messages.isBaseMessage;
export let BaseChatModel: typeof ChatModels.BaseChatModel;
export type BaseChatModel = ChatModels.BaseChatModel;
export let ChatPromptValue: typeof Prompts.ChatPromptValue;
export let ChatGenerationChunk: typeof Outputs.ChatGenerationChunk;
export let ToolInputParsingException: typeof Tools.ToolInputParsingException;
export let tool: typeof Tools.tool;
export let convertToOpenAITool: typeof FunctionCalling.convertToOpenAITool;
export let toJsonSchema: typeof JsonSchemas.toJsonSchema;

async function load(): Promise<void> {
  const [messages, chatModels, prompts, outputs, tools, functionCalling, jsonSchemas] = await Promise.all([
    import("@langchain/core/messages"),
    import("@langchain/core/language_models/chat_models"),
    import("@langchain/core/prompt_values"),
    import("@langchain/core/outputs"),
    import("@langchain/core/tools"),
    import("@langchain/core/utils/function_calling"),
    import("@langchain/core/utils/json_schema"),
  ]);
  ({ AIMessage, AIMessageChunk, ChatMessage, FunctionMessage, HumanMessage, RemoveMessage } = messages);
  ({ SystemMessage, ToolMessage, coerceMessageLikeToMessage, isBaseMessage } = messages);
  ({ BaseChatModel } = chatModels);
  ({ ChatPromptValue } = prompts);
  ({ ChatGenerationChunk } = outputs);
  ({ ToolInputParsingException, tool } = tools);
  ({ convertToOpenAITool } = functionCalling);
  ({ toJsonSchema } = jsonSchemas);
}

let loading: Promise<void> | undefined;

/** Loads LangChain, once. Whoever runs hooks, models or tools without an agent awaits this first. */
export function loadLangChain(): Promise<void> {
  loading ??= load();
  return loading;
}
