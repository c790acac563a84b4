import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk, ChatResult } from "@langchain/core/outputs";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { moveToBlobs, resolveBlobs } from "../../../events/blobs/blob-content.ts";
import type { BlobStore } from "../../../events/blobs/blob-store.ts";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import { canonicalJson } from "../../../events/canonical-json.ts";
import { sha256 } from "../../../events/hash-chain.ts";
import { plainJson } from "../../messages/plain-json.ts";
import { toLangChain } from "../../messages/to-langchain.ts";
import { toStored } from "../../messages/to-stored.ts";
import { streamAnswer } from "../stream-answer.ts";
import type { RecordedCall } from "./recorded-calls.ts";
import { ReplayMissError } from "./replay-miss.ts";
import { requestKey, type VisibleMessage, visibleMessages } from "./visible-request.ts";

interface ReplayCallOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

/** Characters of a message that a difference shows. */
const shownCharacters = 80;

/** `replay:<file or thread>`: a chat model that gives recorded answers to recorded requests, and fails on all others. */
export class ReplayModel extends BaseChatModel<ReplayCallOptions> {
  override lc_namespace = ["threadfold", "models"];
  /** Name that stands in `ModelCallStarted`. */
  readonly model: string;
  readonly #source: string;
  readonly #calls: readonly RecordedCall[];
  readonly #blobs: BlobStore;

  constructor(source: string, calls: readonly RecordedCall[], blobs: BlobStore) {
    super({});
    this.model = `replay:${source}`;
    this.#source = source;
    this.#calls = calls;
    this.#blobs = blobs;
  }

  static override lc_name(): string {
    return "ReplayModel";
  }

  _llmType(): string {
    return "replay";
  }

  override bindTools(tools: BindToolsInput[], kwargs?: Partial<ReplayCallOptions>) {
    return this.withConfig({ ...kwargs, tools });
  }

  async #answer(messages: readonly BaseMessage[], options: this["ParsedCallOptions"]): Promise<AIMessage> {
    options.signal?.throwIfAborted();
    const scratch = createMemoryBlobs();
    const stored = await Promise.all(
      messages.map((message) =>
        moveToBlobs(
          toStored(message, () => "unnamed"),
          scratch,
        ),
      ),
    );
    const request = visibleMessages(stored);
    const key = requestKey(request);
    const tools = toolsDigest(options.tools ?? []);
    const same = this.#calls.filter((call) => call.key === key);
    const call = same.find((candidate) => candidate.tools === undefined || candidate.tools === tools);
    if (!call) throw this.#miss(request, same[0]);
    const answer = await resolveBlobs(call.answer, this.#blobs);
    const recorded = toLangChain(answer);
    if (!AIMessage.isInstance(recorded)) throw this.#miss(request, call);
    // A copy: LangChain writes into the messages that models give.
    const { id, content, tool_calls, additional_kwargs, response_metadata, usage_metadata } = recorded;
    return new AIMessage({
      content: typeof content === "string" ? content : [...content],
      tool_calls: structuredClone(tool_calls ?? []),
      additional_kwargs: structuredClone(additional_kwargs),
      response_metadata: structuredClone(response_metadata),
      ...(id !== undefined && { id }),
      ...(usage_metadata && { usage_metadata: structuredClone(usage_metadata) }),
    });
  }

  #miss(request: readonly VisibleMessage[], sameMessages: RecordedCall | undefined): ReplayMissError {
    if (sameMessages) {
      return new ReplayMissError(
        this.#source,
        sameMessages.at,
        "the messages are the same, the tools are others.",
      );
    }
    const scored = this.#calls.map((call) => ({ call, shared: sharedMessages(call.request, request) }));
    scored.sort((a, b) => b.shared - a.shared || lengthGap(a.call, request) - lengthGap(b.call, request));
    const [nearest] = scored;
    if (!nearest) return new ReplayMissError(this.#source, undefined, "It holds no model calls.");
    const { call, shared } = nearest;
    return new ReplayMissError(
      this.#source,
      call.at,
      `message ${shared + 1} differs,\n  recorded: ${shown(call.request[shared])}\n  asked:    ${shown(request[shared])}\n`,
    );
  }

  async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const message = await this.#answer(messages, options);
    return { generations: [{ text: message.text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    yield* streamAnswer(await this.#answer(messages, options), options.signal, runManager);
  }
}

/** Digest of the tools as `ModelCallStarted` records it. */
function toolsDigest(tools: readonly BindToolsInput[]): string | null {
  if (tools.length === 0) return null;
  return sha256(canonicalJson(tools.map((tool) => plainJson(schemaOf(tool)))));
}

function schemaOf(tool: BindToolsInput): unknown {
  return "invoke" in tool || "schema" in tool
    ? convertToOpenAITool(tool as Parameters<typeof convertToOpenAITool>[0])
    : tool;
}

function sharedMessages(a: readonly VisibleMessage[], b: readonly VisibleMessage[]): number {
  const differs = a.findIndex((message, index) => canonicalJson(message) !== canonicalJson(b[index] ?? null));
  return differs < 0 ? a.length : differs;
}

function lengthGap(call: RecordedCall, request: readonly VisibleMessage[]): number {
  return Math.abs(call.request.length - request.length);
}

function shown(message: VisibleMessage | undefined): string {
  if (!message) return "(no message)";
  const { type, content, calls } = message;
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const cut = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
  const called = calls?.map(({ name, args }) => `${name}(${JSON.stringify(args)})`.slice(0, shownCharacters));
  return [`${type}: ${JSON.stringify(cut)}`, ...(called ?? [])].join(" ");
}
