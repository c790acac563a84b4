import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import { modelView } from "../../reducers/compaction.ts";
import type { State } from "../../reducers/thread-state.ts";
import type { Assembly } from "../assembly.ts";
import { isBaseMessage, SystemMessage } from "../langchain.ts";
import { toLangChainList } from "../messages/to-langchain.ts";
import type { HookRuntime, ModelRequest } from "../middleware/define-middleware.ts";
import { hookState } from "./hook-state.ts";

/** A middleware made a request that cannot be sent. */
export class ModelRequestError extends Error {
  override readonly name = "ModelRequestError";
  constructor(
    readonly middleware: string,
    problem: string,
    next: string,
  ) {
    super(`The model request of middleware ${middleware} ${problem}. ${next}`);
  }
}

/** The request as it stands before any middleware has seen it. */
export function firstRequest(
  assembly: Assembly,
  state: State,
  model: BaseChatModel,
  runtime: HookRuntime,
): ModelRequest {
  const { systemPrompt, tools, responseFormat } = assembly;
  return {
    model,
    messages: toLangChainList(modelView(state)),
    systemPrompt,
    systemMessage: new SystemMessage(systemPrompt ?? ""),
    tools,
    toolChoice: undefined,
    responseFormat,
    modelSettings: undefined,
    state: hookState(state),
    runtime,
  };
}

/**
 * What a middleware hands on, checked, with both spellings of the system prompt in step.
 *
 * @param given the request that the middleware got
 * @param passed the request that it hands on
 * @throws {ModelRequestError}
 */
export function passedRequest(
  given: ModelRequest,
  passed: ModelRequest,
  middleware: string,
  assembly: Assembly,
): ModelRequest {
  if (typeof passed !== "object" || passed === null) {
    throw new ModelRequestError(middleware, "is no request", "Call handler({ ...request, … }).");
  }
  checkMessages(passed.messages, middleware);
  checkTools(given, passed, middleware, assembly);
  return { ...passed, ...systemOf(given, passed, middleware) };
}

function checkMessages(messages: readonly BaseMessage[], middleware: string): void {
  if (Array.isArray(messages) && messages.every((message) => isBaseMessage(message))) return;
  throw new ModelRequestError(
    middleware,
    "holds something in `messages` that is no LangChain message",
    "Make it with new HumanMessage(…) and the like.",
  );
}

function checkTools(given: ModelRequest, passed: ModelRequest, middleware: string, assembly: Assembly): void {
  if (passed.tools === given.tools) return;
  const names = new Set<string>();
  const canRunOthers = assembly.middleware.some(({ wrapToolCall }) => wrapToolCall !== undefined);
  for (const tool of passed.tools) {
    const { name } = tool;
    if (typeof name !== "string") continue;
    if (names.has(name)) {
      throw new ModelRequestError(middleware, `offers two tools named "${name}"`, "Offer each once.");
    }
    names.add(name);
    const own = assembly.tools.find((known) => known.name === name);
    if (own && own !== tool && !given.tools.includes(tool)) {
      throw new ModelRequestError(
        middleware,
        `puts another tool in the place of "${name}"`,
        "The agent's own would run: give yours another name, or change the call in wrapToolCall.",
      );
    }
    if (!own && !canRunOthers) {
      throw new ModelRequestError(
        middleware,
        `offers the tool "${name}", which nobody can run`,
        "Put it into `tools` of the agent or the middleware, or answer its calls in a wrapToolCall.",
      );
    }
  }
}

function systemOf(
  given: ModelRequest,
  passed: ModelRequest,
  middleware: string,
): Pick<ModelRequest, "systemPrompt" | "systemMessage"> {
  const { systemPrompt, systemMessage } = given;
  const promptChanged = passed.systemPrompt !== systemPrompt;
  // Left out is not taken away: a request may be put together anew by somebody who knows only the other spelling.
  const messageChanged = passed.systemMessage !== undefined && passed.systemMessage !== systemMessage;
  if (promptChanged && messageChanged) {
    throw new ModelRequestError(
      middleware,
      "changes both systemPrompt and systemMessage",
      "They are one prompt: change one of them.",
    );
  }
  if (promptChanged) {
    return {
      systemPrompt: passed.systemPrompt,
      systemMessage: new SystemMessage(passed.systemPrompt ?? ""),
    };
  }
  if (!messageChanged) return { systemPrompt, ...(systemMessage && { systemMessage }) };
  const message = passed.systemMessage ?? new SystemMessage("");
  return { systemPrompt: message.text, systemMessage: message };
}
