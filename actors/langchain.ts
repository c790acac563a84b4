import type * as ChatModels from "@langchain/core/language_models/chat_models";
import type * as Messages from "@langchain/core/messages";
import type * as Prompts from "@langchain/core/prompt_values";
import type * as Tools from "@langchain/core/tools";
import type * as FunctionCalling from "@langchain/core/utils/function_calling";
import type * as JsonSchemas from "@langchain/core/utils/json_schema";

/** A hook or a tool that uses LangChain's classes was called without an agent, before these were loaded. */
export class LangChainNotLoadedError extends Error {
  override readonly name = "LangChainNotLoadedError";
  constructor() {
    super(
      "LangChain's classes are not loaded yet. Agents load them before their first run; who calls a hook without an agent does it with `await loadLangChain()`.",
    );
  }
}

function refuse(): never {
  throw new LangChainNotLoadedError();
}

const notLoaded = new Proxy(refuse, { apply: refuse, construct: refuse, get: refuse }) as never;

/*
 * What this package uses of LangChain while an agent runs. It takes longer to load than all of this package, and who
 * reads a log needs none of it: it is loaded before an agent's first work, and the names below stand for it from then on.
 */
export let AIMessage: typeof Messages.AIMessage = notLoaded;
export type AIMessage = Messages.AIMessage;
export let ChatMessage: typeof Messages.ChatMessage = notLoaded;
export let FunctionMessage: typeof Messages.FunctionMessage = notLoaded;
export let HumanMessage: typeof Messages.HumanMessage = notLoaded;
export type HumanMessage = Messages.HumanMessage;
export let RemoveMessage: typeof Messages.RemoveMessage = notLoaded;
export let SystemMessage: typeof Messages.SystemMessage = notLoaded;
export let ToolMessage: typeof Messages.ToolMessage = notLoaded;
export type ToolMessage = Messages.ToolMessage;
export let coerceMessageLikeToMessage: typeof Messages.coerceMessageLikeToMessage = notLoaded;
export let isBaseMessage: typeof Messages.isBaseMessage = notLoaded;
export let BaseChatModel: typeof ChatModels.BaseChatModel = notLoaded;
export type BaseChatModel = ChatModels.BaseChatModel;
export let ChatPromptValue: typeof Prompts.ChatPromptValue = notLoaded;
export let ToolInputParsingException: typeof Tools.ToolInputParsingException = notLoaded;
export let tool: typeof Tools.tool = notLoaded;
export let convertToOpenAITool: typeof FunctionCalling.convertToOpenAITool = notLoaded;
export let toJsonSchema: typeof JsonSchemas.toJsonSchema = notLoaded;

async function load(): Promise<void> {
  const [messages, chatModels, prompts, tools, functionCalling, jsonSchemas] = await Promise.all([
    import("@langchain/core/messages"),
    import("@langchain/core/language_models/chat_models"),
    import("@langchain/core/prompt_values"),
    import("@langchain/core/tools"),
    import("@langchain/core/utils/function_calling"),
    import("@langchain/core/utils/json_schema"),
  ]);
  ({ AIMessage, ChatMessage, FunctionMessage, HumanMessage, RemoveMessage, SystemMessage } = messages);
  ({ ToolMessage, coerceMessageLikeToMessage, isBaseMessage } = messages);
  ({ BaseChatModel } = chatModels);
  ({ ChatPromptValue } = prompts);
  ({ ToolInputParsingException, tool } = tools);
  ({ convertToOpenAITool } = functionCalling);
  ({ toJsonSchema } = jsonSchemas);
}

let loading: Promise<void> | undefined;

/**
 * Loads the classes of LangChain that agents, hooks and tools use, once. Agents do it before their first run; only who
 * calls hooks of the built-in middlewares without an agent (in a test, or in LangChain's own agent) has to.
 *
 * @example
 * await loadLangChain();
 * await loopDetectionMiddleware().afterModel?.(state, runtime);
 */
export function loadLangChain(): Promise<void> {
  loading ??= load();
  return loading;
}
