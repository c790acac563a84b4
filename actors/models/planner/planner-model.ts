import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { canonicalJson } from "../../../events/canonical-json.ts";
import { sha256 } from "../../../events/hash-chain.ts";
import { type BoundTool, fitArguments, readBoundTools } from "./bound-tools.ts";
import { nextTurn, type Turn } from "./next-turn.ts";
import { readTranscript } from "./transcript.ts";
import { languageOf, wordingFor } from "./wording.ts";

export const plannerName = "builtin:planner";

interface PlannerCallOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

interface Answer {
  readonly text: string;
  readonly toolCalls: readonly {
    id: string;
    name: string;
    args: Record<string, unknown>;
    type: "tool_call";
  }[];
}

/** Ids that depend on the conversation alone, so that the same request gives the same calls. */
function callIdsFor(messages: readonly BaseMessage[]): (index: number) => string {
  const seen = messages.map(({ id, type, text }) => ({ id, type, text }));
  const digest = sha256(canonicalJson(seen)).slice(0, 16);
  return (index) => `call_${digest}_${index}`;
}

function turnFor(messages: readonly BaseMessage[], tools: readonly BoundTool[]): Turn {
  const { request, rounds, reminded } = readTranscript(messages);
  if (reminded) return { kind: "answer", text: wordingFor(languageOf(request ?? "")).reminded };
  return nextTurn(
    request ?? "",
    rounds,
    tools.map(({ name }) => name),
  );
}

/**
 * `builtin:planner`: a chat model made of rules. It understands a small grammar, drives the tools that are bound to
 * it, and says in its answer that it is no LLM. The same messages and tools always give the same answer.
 *
 * @example
 * const model = new PlannerModel().bindTools(tools);
 * await model.invoke("list the markdown files and count their words");
 */
export class PlannerModel extends BaseChatModel<PlannerCallOptions> {
  override lc_namespace = ["threadfold", "models"];
  /** Name that stands in `ModelCallStarted`. */
  readonly model = plannerName;

  constructor() {
    super({});
  }

  static override lc_name(): string {
    return "PlannerModel";
  }

  _llmType(): string {
    return plannerName;
  }

  override bindTools(tools: BindToolsInput[], kwargs?: Partial<PlannerCallOptions>) {
    return this.withConfig({ ...kwargs, tools });
  }

  #answer(messages: readonly BaseMessage[], options: this["ParsedCallOptions"]): Answer {
    const tools = readBoundTools(options.tools ?? []);
    const turn = turnFor(messages, tools);
    if (turn.kind === "answer") return { text: turn.text, toolCalls: [] };
    const idOf = callIdsFor(messages);
    const toolCalls = turn.calls.map(({ name, args }, index) => {
      const tool = tools.find((bound) => bound.name === name);
      const described = turn.text === "" ? name : turn.text;
      return { id: idOf(index), name, args: fitArguments(args, tool, described), type: "tool_call" as const };
    });
    return { text: turn.text, toolCalls };
  }

  async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    options.signal?.throwIfAborted();
    const { text, toolCalls } = this.#answer(messages, options);
    const message = new AIMessage({
      content: text,
      tool_calls: [...toolCalls],
      response_metadata: metadataFor(toolCalls.length),
    });
    return { generations: [{ text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { text, toolCalls } = this.#answer(messages, options);
    for (const piece of text.match(/\s*\S+\s*$|\s*\S+/gu) ?? []) {
      options.signal?.throwIfAborted();
      const chunk = new ChatGenerationChunk({ text: piece, message: new AIMessageChunk({ content: piece }) });
      yield chunk;
      await runManager?.handleLLMNewToken(piece, undefined, undefined, undefined, undefined, { chunk });
    }
    const message = new AIMessageChunk({
      content: "",
      tool_call_chunks: toolCalls.map(({ id, name, args }, index) => ({
        id,
        name,
        args: JSON.stringify(args),
        index,
        type: "tool_call_chunk" as const,
      })),
      response_metadata: metadataFor(toolCalls.length),
    });
    const chunk = new ChatGenerationChunk({ text: "", message });
    yield chunk;
    await runManager?.handleLLMNewToken("", undefined, undefined, undefined, undefined, { chunk });
  }
}

function metadataFor(calls: number): Record<string, string> {
  return { model_name: plannerName, finish_reason: calls > 0 ? "tool_calls" : "stop" };
}
