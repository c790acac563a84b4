import { type EventDraft, isEventDraft } from "../../events/define-event.ts";
import { AIMessage, isBaseMessage } from "../langchain.ts";
import type { Middleware, ModelRequest } from "../middleware/define-middleware.ts";
import type { RequestLayers } from "./announce-call.ts";
import { ModelAnswerError } from "./call-model.ts";
import type { DraftFold } from "./fold-drafts.ts";
import { HookError } from "./hook-error.ts";
import { isCommandLike } from "./hook-result.ts";
import { middlewareRuntime } from "./hook-runtime.ts";
import { jumpTarget } from "./jumps.ts";
import { ModelRequestError, passedRequest } from "./model-request.ts";
import type { StepContext } from "./step-contract.ts";
import { type FieldUpdate, updateToDrafts } from "./updates.ts";

/** What lies behind all middlewares. */
export type InnermostModelCall = (request: ModelRequest, layers: RequestLayers) => Promise<AIMessage>;

/** A middleware answered without asking the model. */
interface CachedAnswer {
  readonly middleware: string;
  readonly request: ModelRequest;
  readonly layers: RequestLayers;
}

export interface ModelChain {
  /** The outermost answer. @throws {HookError} for what middlewares throw; the model's errors pass as they are */
  run(request: ModelRequest): Promise<AIMessage>;
  /** The middleware whose answer was taken without a call of its handler, and the request it had. */
  cached(): CachedAnswer | undefined;
  /** The middleware that made or changed the outermost answer; undefined: it is the model's own. */
  author(): string | undefined;
}

interface Answer {
  readonly message: AIMessage;
  readonly events: readonly EventDraft[];
  readonly update: FieldUpdate | undefined;
}

/**
 * Nests the `wrapModelCall` of all middlewares, the first one outermost. Each gets an `AIMessage` from its handler;
 * events and updates that they return beside their answer are folded, inner ones first.
 */
export function createModelChain(
  ctx: StepContext,
  fold: DraftFold,
  innermost: InnermostModelCall,
): ModelChain {
  const wraps = ctx.assembly.middleware.filter(({ wrapModelCall }) => wrapModelCall !== undefined);
  const passing = new Set<unknown>();
  let cached: CachedAnswer | undefined;
  let author: string | undefined;

  const runLayer = async (
    depth: number,
    request: ModelRequest,
    layers: RequestLayers,
  ): Promise<AIMessage> => {
    const middleware = wraps[depth];
    if (!middleware?.wrapModelCall) {
      try {
        return await innermost(request, layers);
      } catch (error) {
        passing.add(error);
        throw error;
      }
    }
    const { name } = middleware;
    let last: AIMessage | undefined;
    let asked = false;
    const handler = async (passed: ModelRequest): Promise<AIMessage> => {
      asked = true;
      const next = passedRequest(request, passed, name, ctx.assembly);
      last = await runLayer(depth + 1, next, layersAfter(layers, request, next, name));
      return last;
    };
    try {
      const runtime = middlewareRuntime(ctx, middleware);
      const result: unknown = await middleware.wrapModelCall({ ...request, runtime }, handler);
      const answer = readAnswer(result, last, `middleware:${name}`);
      await foldAnswer(ctx, fold, middleware, answer);
      if (answer.message !== last) author = name;
      if (!asked) cached = { middleware: name, request, layers };
      return answer.message;
    } catch (error) {
      // What came from further in names its origin already.
      if (passing.has(error)) throw error;
      const named = error instanceof ModelRequestError || error instanceof ModelAnswerError;
      const failure = named ? error : new HookError(name, "wrapModelCall", error);
      passing.add(failure);
      throw failure;
    }
  };

  return {
    run: (request) => runLayer(0, request, { messages: [], system: ["agent"] }),
    cached: () => cached,
    author: () => author,
  };
}

function layersAfter(
  layers: RequestLayers,
  before: ModelRequest,
  after: ModelRequest,
  middleware: string,
): RequestLayers {
  const by = `middleware:${middleware}`;
  return {
    messages:
      after.messages === before.messages
        ? layers.messages
        : [...layers.messages, { by, messages: after.messages }],
    system: after.systemMessage === before.systemMessage ? layers.system : [...layers.system, by],
  };
}

async function foldAnswer(
  ctx: StepContext,
  fold: DraftFold,
  { name }: Middleware,
  { events, update }: Answer,
): Promise<void> {
  const by = `middleware:${name}` as const;
  await fold.add(events.map((draft) => ({ draft, by })));
  if (update) await fold.add(updateToDrafts(update, fold.state, ctx.assembly, by, { hook: "wrapModelCall" }));
}

function isAnswer(value: unknown): value is AIMessage {
  return isBaseMessage(value) && AIMessage.isInstance(value);
}

function readAnswer(result: unknown, last: AIMessage | undefined, source: string): Answer {
  if (isAnswer(result)) return { message: result, events: [], update: undefined };
  if (typeof result !== "object" || result === null) {
    throw new ModelAnswerError(source, "returned no answer from wrapModelCall");
  }
  const { message, modelResponse, command, events, update, goto } = result as Readonly<
    Record<string, unknown>
  >;
  const inner = isCommandLike(command) ? command : undefined;
  jumpTarget(goto ?? inner?.goto, { by: source, hook: "wrapModelCall", allowed: [] });
  const answer = [message, modelResponse, last].find(isAnswer);
  if (!answer) throw new ModelAnswerError(source, "returned no assistant message from wrapModelCall");
  return {
    message: answer,
    events: checkedEvents(events, source),
    update: (update ?? inner?.update) as FieldUpdate | undefined,
  };
}

function checkedEvents(events: unknown, source: string): readonly EventDraft[] {
  if (events === undefined) return [];
  const list = Array.isArray(events) ? events : [events];
  if (list.every(isEventDraft)) return list;
  throw new ModelAnswerError(source, "returned events from wrapModelCall that no event definition made");
}
