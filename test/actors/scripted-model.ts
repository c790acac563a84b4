import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";

/** What the model was given, as it came: messages by reference, options as LangChain merged them. */
export interface RecordedCall {
  readonly messages: readonly BaseMessage[];
  readonly options: Readonly<Record<string, unknown>>;
}

type Answer = AIMessage | string;
type AnswerFunction = (
  messages: readonly BaseMessage[],
  options: Readonly<Record<string, unknown>>,
) => Answer | Promise<Answer>;

export interface ScriptedModelOptions {
  /** One entry a call, in order; or one function for all calls. The last entry answers every further call. */
  readonly answers: AnswerFunction | readonly (Answer | Error | AnswerFunction)[];
  /** Answers in chunks of a word. */
  readonly streaming?: boolean;
  /** Milliseconds before the answer; an abort ends the wait. */
  readonly latencyMs?: number;
  readonly name?: string;
}

/** A chat model whose answers are written down beforehand, and which remembers what it was asked. */
export class ScriptedModel extends BaseChatModel {
  readonly calls: RecordedCall[] = [];
  private readonly script: ScriptedModelOptions;

  constructor(script: ScriptedModelOptions) {
    super({});
    this.script = script;
    if (script.streaming) this._streamResponseChunks = this.streamWords;
  }

  static override lc_name(): string {
    return "ScriptedModel";
  }

  override getName(): string {
    return this.script.name ?? "ScriptedModel";
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(tools: readonly object[], kwargs: object = {}) {
    const schemas = tools.map((tool) =>
      convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0]),
    );
    return this.withConfig({ tools: schemas, ...kwargs } as never);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const message = await this.answer(messages, options);
    return { generations: [{ text: message.text, message }] };
  }

  private async answer(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<AIMessage> {
    const { answers, latencyMs } = this.script;
    const recorded = { messages: [...messages], options: { ...options } as Record<string, unknown> };
    this.calls.push(recorded);
    if (latencyMs) await wait(latencyMs, options.signal);
    const entry =
      typeof answers === "function" ? answers : answers[Math.min(this.calls.length, answers.length) - 1];
    if (entry instanceof Error) throw entry;
    const answer = typeof entry === "function" ? await entry(messages, recorded.options) : entry;
    if (answer === undefined) throw new Error("The scripted model has no answers.");
    // A copy: LangChain writes ids and metadata into what a model gives.
    return new AIMessage(typeof answer === "string" ? { content: answer } : copyOf(answer));
  }

  private async *streamWords(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { content, tool_calls = [], ...rest } = copyOf(await this.answer(messages, options));
    const words = typeof content === "string" ? (content.match(/\S+\s*|\s+/g) ?? []) : [content];
    for (const word of words) {
      options.signal?.throwIfAborted();
      const message = new AIMessageChunk({ content: word });
      if (rest.id !== undefined) message.id = rest.id;
      const text = typeof word === "string" ? word : "";
      yield new ChatGenerationChunk({ text, message });
      await runManager?.handleLLMNewToken(text);
    }
    const tool_call_chunks = tool_calls.map(({ id, name, args }, index) => ({
      name,
      args: JSON.stringify(args),
      index,
      type: "tool_call_chunk" as const,
      ...(id !== undefined && { id }),
    }));
    yield new ChatGenerationChunk({
      text: "",
      message: new AIMessageChunk({ ...rest, content: "", tool_call_chunks }),
    });
  }
}

function copyOf(message: AIMessage) {
  const { id, content, tool_calls, name, usage_metadata } = message;
  return {
    content,
    additional_kwargs: { ...message.additional_kwargs },
    response_metadata: { ...message.response_metadata },
    ...(tool_calls?.length && { tool_calls: tool_calls.map((call) => ({ ...call })) }),
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
    ...(usage_metadata !== undefined && { usage_metadata }),
  };
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const give = () => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
    };
    if (signal?.aborted) give();
    else signal?.addEventListener("abort", give, { once: true });
  });
}
