import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage } from "@langchain/core/messages";
import type { Message } from "../../events/message.ts";
import { ModelCallFailed, ModelResponded } from "../../events/model.ts";
import { knowsToolCall, messagePosition } from "../../reducers/message-list.ts";
import type { State } from "../../reducers/thread-state.ts";
import { toErrorData } from "../error-data.ts";
import { toLangChain } from "../messages/to-langchain.ts";
import { uniqueToolCallIds } from "../messages/tool-call-ids.ts";
import type { ModelRequest } from "../middleware/define-middleware.ts";
import { finishReasonOf } from "../middleware/last-answer.ts";
import { mintId } from "../mint-id.ts";
import { modelNameOf } from "../models/resolve-model.ts";
import { type AnnouncedCall, announceCall, type RequestLayers, type ViewMemory } from "./announce-call.ts";
import { callModel, storedAnswer } from "./call-model.ts";
import { foldDrafts } from "./fold-drafts.ts";
import { runtimeFor } from "./hook-runtime.ts";
import { createModelChain } from "./model-chain.ts";
import { firstRequest } from "./model-request.ts";
import { recordedAnswers } from "./recorded-answers.ts";
import type { AttributedDraft, PreparedModelCall, PreviousView, StepContext } from "./step-contract.ts";

/** A model call failed for good. */
export class ModelCallError extends Error {
  override readonly name = "ModelCallError";
  constructor(
    readonly callId: string,
    /** `ModelCallFailed` for each try, to be recorded with the failure of the run. */
    readonly drafts: readonly AttributedDraft[],
    override readonly cause: unknown,
  ) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    super(`The model call failed: ${reason}`, { cause });
  }
}

/** The request was announced and is not wanted any more: the version it stood on is gone, or the run was cancelled. */
export class ModelCallAbandonedError extends Error {
  override readonly name = "ModelCallAbandonedError";
  constructor() {
    super(
      "The model was not called: the request was withdrawn before it went out. The run asks again where it goes on.",
    );
  }
}

type Record = (drafts: readonly AttributedDraft[]) => Promise<void>;

/** Holds what waits in the chain until `execute` gives it a way to record. */
interface Gate {
  readonly opened: Promise<Record>;
  open(record: Record): void;
  close(reason: Error): void;
}

function createGate(signal: AbortSignal): Gate {
  const { promise, resolve, reject } = withResolvers<Record>();
  promise.catch(() => undefined);
  const close = () => reject(new ModelCallAbandonedError());
  if (signal.aborted) close();
  signal.addEventListener("abort", close, { once: true });
  const release = () => signal.removeEventListener("abort", close);
  return {
    opened: promise,
    open: (record) => {
      release();
      resolve(record);
    },
    close: (reason) => {
      release();
      reject(reason);
    },
  };
}

function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/**
 * Prepares a model call: runs the `wrapModelCall` chain up to the model and gives what is to be recorded before the
 * request goes out.
 *
 * @param previousView what the thread's call before gave as `view()`; undefined records the view whole
 * @throws {HookError} @throws {ModelRequestError} the chain failed before it came to the model
 * @example
 * const call = await prepareModelCall(ctx, previous);
 * await append(call.started);
 * await append(await call.execute(append));
 */
export async function prepareModelCall(
  ctx: StepContext,
  previousView: PreviousView | undefined,
): Promise<PreparedModelCall> {
  const callId = ctx.callId ?? mintId();
  const gate = createGate(ctx.signal);
  const first = withResolvers<AnnouncedCall>();
  const fold = foldDrafts(ctx);
  const failures: AttributedDraft[] = [];
  let view = previousView as ViewMemory | undefined;
  let announced: AnnouncedCall | undefined;
  let attempt = 0;
  let latencyMs = 0;
  let model = ctx.assembly.modelName;
  let answered: { readonly stored: Message; readonly shown: AIMessage } | undefined;
  // Handlers that are called at the same time are announced one after the other.
  let line: Promise<unknown> = Promise.resolve();

  const announce = async (request: ModelRequest, layers: RequestLayers): Promise<AnnouncedCall> => {
    const next = await announceCall(ctx, callId, request, layers, view, nameIn(request));
    const isFirst = announced === undefined;
    const isSame = announced?.requestHash === next.requestHash;
    announced = next;
    if (isFirst) {
      view = next.view;
      first.resolve(next);
      await gate.opened;
    } else if (!isSame) {
      const record = await gate.opened;
      await record([...failures.splice(0), next.started]);
      view = next.view;
    }
    return next;
  };

  const innermost = async (request: ModelRequest, layers: RequestLayers): Promise<AIMessage> => {
    const turn = line.then(() => announce(request, layers));
    line = turn.catch(() => undefined);
    const { messages } = await turn;
    attempt += 1;
    const own = attempt;
    const begun = performance.now();
    try {
      const stored = freshIds(await callModel(ctx, callId, request, messages), ctx.state);
      latencyMs = performance.now() - begun;
      model = nameIn(request);
      answered = { stored, shown: toLangChain(stored) as AIMessage };
      return answered.shown;
    } catch (error) {
      const draft = ModelCallFailed({ callId, error: toErrorData(error), attempt: own });
      failures.push({ draft, by: "runtime" });
      throw error;
    }
  };

  const own = await ownModel(ctx);
  const nameIn = (request: ModelRequest): string =>
    request.model === own ? ctx.assembly.modelName : modelNameOf(request.model);
  const chain = createModelChain(ctx, fold, innermost);
  const answer = chain.run(firstRequest(ctx.assembly, ctx.state, own, runtimeFor(ctx, {})));
  answer.catch(() => undefined);
  await Promise.race([first.promise, answer]);
  if (!announced) {
    const { middleware, request, layers } = chain.cached() ?? {
      middleware: "",
      request: undefined,
      layers: undefined,
    };
    if (!request || !layers) throw new ModelCallAbandonedError();
    model = `middleware:${middleware}`;
    announced = await announceCall(ctx, callId, request, layers, view, model);
    view = announced.view;
  }

  const respond = (message: AIMessage): AttributedDraft => {
    const stored =
      answered?.shown === message ? answered.stored : freshIds(storedAnswer(message, model), ctx.state);
    const finishReason = finishReasonOf(message);
    const draft = ModelResponded({
      callId,
      message: stored,
      ...(message.usage_metadata && { usage: { ...message.usage_metadata } }),
      latencyMs: Math.round(latencyMs * 1000) / 1000,
      ...(finishReason !== undefined && { finishReason }),
    });
    // What a middleware says in the model's place, after the model failed, is not the model's word.
    const by = answered === undefined ? chain.author() : undefined;
    return { draft, by: by === undefined ? `model:${model}` : `middleware:${by}` };
  };

  return {
    callId,
    started: [announced.started],
    async execute(record) {
      gate.open(record);
      try {
        const message = await answer;
        return [...failures.splice(0), ...fold.drafts, respond(message)];
      } catch (error) {
        throw new ModelCallError(callId, failures.splice(0), error);
      }
    },
    abandon: () => gate.close(new ModelCallAbandonedError()),
    view: () => view ?? { callId },
  };
}

/** A rerun needs no key and no package of the model's: its answers are in the log. */
async function ownModel({ assembly, blobs }: StepContext): Promise<BaseChatModel> {
  if (!recordedAnswers()) return assembly.model();
  return assembly.model().catch(async () => {
    const { ReplayModel } = await import("../models/replay/replay-model.ts");
    return new ReplayModel(assembly.modelName, [], blobs);
  });
}

/** The answer with ids that nothing else in the thread has: some models count their calls from the start again. */
function freshIds(message: Message, state: State): Message {
  const messages = (state.messages ?? []) as readonly Message[];
  const known = messagePosition(messages, message.id) !== undefined;
  const own = known ? { ...message, id: mintId() } : message;
  if (!own.tool_calls || own.tool_calls.length === 0) return own;
  const taken = own.tool_calls.flatMap(({ id }) =>
    id !== undefined && knowsToolCall(messages, id) ? [id] : [],
  );
  return uniqueToolCallIds(own, mintId, new Set(taken));
}
