import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk, ChatResult } from "@langchain/core/outputs";
import { canonicalJson } from "../../../events/canonical-json.ts";
import { sha256 } from "../../../events/hash-chain.ts";
import { streamAnswer } from "../stream-answer.ts";
import { type BoundTool, fitArguments, readBoundTools } from "./bound-tools.ts";
import { nextTurn, type Turn } from "./next-turn.ts";
import { readTranscript } from "./transcript.ts";
import { languageOf, wordingFor } from "./wording.ts";

const plannerName = "builtin:planner";

interface PlannerCallOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
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

  #answer(messages: readonly BaseMessage[], options: this["ParsedCallOptions"]): AIMessage {
    const tools = readBoundTools(options.tools ?? []);
    const turn = turnFor(messages, tools);
    const calls = turn.kind === "calls" ? turn.calls : [];
    const idOf = callIdsFor(messages);
    return new AIMessage({
      content: turn.text,
      tool_calls: calls.map(({ name, args }, index) => {
        const tool = tools.find((bound) => bound.name === name);
        const fitted = fitArguments(args, tool, turn.text || name);
        return { id: idOf(index), name, args: fitted, type: "tool_call" as const };
      }),
      response_metadata: {
        model_name: plannerName,
        finish_reason: calls.length > 0 ? "tool_calls" : "stop",
      },
    });
  }

  async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    options.signal?.throwIfAborted();
    const message = this.#answer(messages, options);
    return { generations: [{ text: message.text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    yield* streamAnswer(this.#answer(messages, options), options.signal, runManager);
  }
}
