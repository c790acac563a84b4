import type { AIMessageChunk, BaseMessage } from "@langchain/core/messages";
import type { Message } from "../../events/message.ts";
import { AIMessage, BaseChatModel, ChatPromptValue, isBaseMessage } from "../langchain.ts";
import { toStored } from "../messages/to-stored.ts";
import type { ModelRequest } from "../middleware/define-middleware.ts";
import { mintId } from "../mint-id.ts";
import { recordedAnswers } from "./recorded-answers.ts";
import type { StepContext } from "./step-contract.ts";
import { bindableTool } from "./tool-schemas.ts";

/** A model, or a middleware in its place, gave no assistant message. */
export class ModelAnswerError extends Error {
  override readonly name = "ModelAnswerError";
  constructor(
    /** Name of the model, or `middleware:<name>`. */
    readonly source: string,
    problem: string,
  ) {
    super(`${source} ${problem}. The run can be tried again; nothing was added to the conversation.`);
  }
}

/** The model cannot call tools, and the agent has some. */
export class ToolsNotSupportedError extends Error {
  override readonly name = "ToolsNotSupportedError";
  constructor(readonly model: string) {
    super(`The model ${model} cannot call tools. Use a model that can, or leave out the tools.`);
  }
}

type Callable = Pick<BaseChatModel, "invoke" | "stream">;

/**
 * The messages as LangChain's own models pass them on inside. Given as a list, each of them would be looked at once
 * more. Models that bring an `invoke` of their own get the list.
 */
function asInput(model: BaseChatModel, bound: Callable, messages: readonly BaseMessage[]): BaseMessage[] {
  const list = [...messages];
  const plain = bound === model || (bound as { readonly bound?: unknown }).bound === model;
  if (!plain || model.invoke !== BaseChatModel.prototype.invoke) return list;
  return new ChatPromptValue(list) as unknown as BaseMessage[];
}

function bind(request: ModelRequest): Callable {
  const { model, tools, toolChoice } = request;
  if (tools.length === 0) return model;
  if (typeof model.bindTools !== "function") throw new ToolsNotSupportedError(model.getName());
  const bindable = tools.map((tool) => ("run" in tool || "invoke" in tool ? bindableTool(tool) : tool));
  const choice = toolChoice === undefined ? {} : { tool_choice: toolChoice };
  return model.bindTools(bindable as never, choice as never) as unknown as Callable;
}

/** LangChain's models answer `stream` in one piece when they cannot stream. */
function canStream(model: BaseChatModel): boolean {
  const own = model._streamResponseChunks;
  return (
    own !== undefined &&
    own !== BaseChatModel.prototype._streamResponseChunks &&
    model.disableStreaming !== true
  );
}

/** Tag of LangGraph's for models whose tokens nobody should see. */
const silent = new Set(["nostream", "langsmith:nostream"]);

async function streamed(
  bound: Callable,
  messages: readonly BaseMessage[],
  options: object,
  ctx: StepContext,
  callId: string,
  tags: readonly string[],
): Promise<AIMessageChunk | undefined> {
  const quiet = tags.some((tag) => silent.has(tag));
  const fallbackId = mintId();
  let whole: AIMessageChunk | undefined;
  for await (const chunk of await bound.stream([...messages], options as never)) {
    whole = whole === undefined ? chunk : whole.concat(chunk);
    if (quiet) continue;
    const messageId = whole.id ?? fallbackId;
    ctx.publish({ kind: "token", callId, messageId, text: chunk.text, chunk, tags });
  }
  if (whole && whole.id === undefined) whole.id = fallbackId;
  return whole;
}

/**
 * Calls a model with a request, streaming tokens where it can.
 *
 * @param messages what the model is given, system message first
 * @returns the assistant message as it was given, with an id
 * @throws {ModelAnswerError} @throws {ToolsNotSupportedError} @throws what the model throws
 */
export async function callModel(
  ctx: StepContext,
  callId: string,
  request: ModelRequest,
  messages: readonly BaseMessage[],
): Promise<Message> {
  const recorded = recordedAnswers();
  if (recorded) return recorded.model();
  const { model, modelSettings } = request;
  const tags = model.tags ?? [];
  const options = {
    ...modelSettings,
    signal: ctx.signal,
    metadata: { thread_id: ctx.threadId, run_id: ctx.runId, call_id: callId },
  };
  const bound = bind(request);
  const answer: unknown = canStream(model)
    ? await streamed(bound, messages, options, ctx, callId, tags)
    : await bound.invoke(asInput(model, bound, messages), options as never).catch((error: unknown) => {
        throw isMissingGeneration(error) ? new ModelAnswerError(model.getName(), "gave no answer") : error;
      });
  return storedAnswer(answer, model.getName());
}

/** LangChain reads the first generation without looking whether there is one. */
function isMissingGeneration(error: unknown): boolean {
  return error instanceof TypeError && /\(reading '(message|0)'\)/.test(error.message);
}

/** @throws {ModelAnswerError} */
export function storedAnswer(answer: unknown, source: string): Message {
  if (answer === undefined || answer === null) throw new ModelAnswerError(source, "gave no answer");
  if (!isBaseMessage(answer) || !AIMessage.isInstance(answer)) {
    throw new ModelAnswerError(source, "gave something that is no assistant message");
  }
  const stored = toStored(answer, mintId);
  if (typeof stored.content !== "string" && !Array.isArray(stored.content)) {
    throw new ModelAnswerError(source, "gave an assistant message without content");
  }
  return stored;
}
