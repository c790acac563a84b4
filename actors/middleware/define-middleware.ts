import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AIMessage, BaseMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import type { z } from "zod";
import type { BlobStore } from "../../events/blobs/blob-store.ts";
import type { AnyEventDefinition, EventDraft } from "../../events/define-event.ts";
import type { Json } from "../../events/json.ts";
import type { ToolCall } from "../../events/message.ts";
import type { AnyReducerDefinition } from "../../reducers/define-reducer.ts";
import type { State } from "../../reducers/thread-state.ts";
import type { InterruptRequest } from "../interrupt.ts";
import type { AgentTool, ToolResult, ToolRuntime } from "../tools/define-tool.ts";

/** Where a hook may send the run: the model phase, the tools of the last answer, or the end (through `afterAgent`). */
export type JumpTarget = "model" | "tools" | "end";

/** The state as hooks see it: frozen; messages are LangChain's classes. Only what a hook returns changes the state. */
export type HookState<Fields = Record<string, unknown>> = Readonly<Fields> & {
  readonly messages: readonly BaseMessage[];
} & State;

/** What a hook or tool knows about where it runs. Frozen. */
export interface HookRuntime<Context = Record<string, unknown>> {
  readonly threadId: string;
  readonly runId: string;
  /** Ordinal of the step in the run, from 0. */
  readonly step: number;
  /** Version of the stream whose fold the hook sees. */
  readonly version: number;
  /** This run's context, checked by `contextSchema`: read only, never stored. */
  readonly context: Context;
  /** LangGraph's spelling for `{ thread_id, run_id, … }`. */
  readonly configurable: Readonly<Record<string, unknown>>;
  /** Aborted when the run is cancelled. */
  readonly signal: AbortSignal;
  readonly blobs: BlobStore;
  /** Folder of the store, for the thread's files. */
  readonly folder: string;
  /** Publishes a live item that is never stored. */
  writer(chunk: Json): void;
  /** Folded facts of the run: counters live in the log, not in the process. */
  readonly run: RunFacts;
}

/** Counters of the run, folded from the log. */
export interface RunFacts {
  /** Model calls that were answered in this run. */
  readonly modelCalls: number;
  /** Tool calls that ended in this run, by tool name. */
  readonly toolCalls: Readonly<Record<string, number>>;
  /** Events of this run by type, for counters of middlewares (reminders, warnings). */
  readonly eventCounts: Readonly<Record<string, number>>;
  /** Model calls that were answered in the thread. */
  readonly threadModelCalls: number;
  /** Tool calls that ended in the thread, by tool name. */
  readonly threadToolCalls: Readonly<Record<string, number>>;
}

/** Events with something beside them. */
export interface HookOutcome {
  readonly events?: readonly EventDraft[];
  /** Plain updates by field: they become events of those fields and of no others. */
  readonly update?: Readonly<Record<string, unknown>>;
  readonly jumpTo?: JumpTarget;
  /** Stops the run with `RunInterrupted` once the step's events are recorded. */
  readonly interrupts?: readonly InterruptRequest[];
}

/**
 * What a node hook gives back: nothing; events; events with a jump; or a plain update object, whose keys (besides
 * `jumpTo`) are field names.
 */
export type HookResult =
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook may have no return statement
  | void
  | null
  | undefined
  | EventDraft
  | readonly EventDraft[]
  | HookOutcome
  | (Readonly<Record<string, unknown>> & { readonly jumpTo?: JumpTarget });

export type HookFunction<Fields, Context> = (
  state: HookState<Fields>,
  runtime: HookRuntime<Context>,
) => HookResult | Promise<HookResult>;

/** A hook, alone or with the jumps that it declares. A jump that is not declared is refused. */
export type Hook<Fields, Context> =
  | HookFunction<Fields, Context>
  | { readonly hook: HookFunction<Fields, Context>; readonly canJumpTo?: readonly JumpTarget[] };

/** One request to a model, as `wrapModelCall` sees and changes it. */
export interface ModelRequest<Fields = Record<string, unknown>, Context = Record<string, unknown>> {
  readonly model: BaseChatModel;
  /** Without the system message. */
  readonly messages: readonly BaseMessage[];
  readonly systemPrompt: string | undefined;
  /** LangChain's other spelling of the system prompt. Change one of the two, not both. */
  readonly systemMessage?: SystemMessage;
  readonly tools: readonly AgentTool[];
  readonly toolChoice: unknown;
  readonly responseFormat: unknown;
  readonly modelSettings: Readonly<Record<string, Json>> | undefined;
  readonly state: HookState<Fields>;
  readonly runtime: HookRuntime<Context>;
}

/** The answer with events beside it (`events`), or with LangGraph's `Command` shape. */
export type ModelCallResult =
  | AIMessage
  | {
      readonly message: AIMessage;
      readonly events?: readonly EventDraft[];
      readonly update?: Readonly<Record<string, unknown>>;
    }
  | { readonly modelResponse: AIMessage; readonly command?: CommandLike }
  /** LangGraph's form: the answer is what the handler gave. */
  | CommandLike;

type ModelCallHandler<Fields = Record<string, unknown>, Context = Record<string, unknown>> = (
  request: ModelRequest<Fields, Context>,
) => Promise<AIMessage>;

/** LangGraph's `Command`, recognised by its shape. */
export interface CommandLike {
  readonly update?: Readonly<Record<string, unknown>> | readonly (readonly [string, unknown])[];
  readonly goto?: unknown;
  readonly resume?: unknown;
}

/** One tool call, as `wrapToolCall` sees and changes it. */
export interface ToolCallRequest<Fields = Record<string, unknown>, Context = Record<string, unknown>> {
  readonly toolCall: ToolCall & { readonly id: string };
  /** Undefined for a name that no tool has. */
  readonly tool: AgentTool | undefined;
  readonly state: HookState<Fields>;
  readonly runtime: ToolRuntime<Context>;
  /** The answer to an interrupt that this call asked for; undefined on the first pass. */
  readonly decision: Json | undefined;
}

/** A call gives a message (with events beside it), a `Command` shape, or asks first. */
export type ToolCallResult = ToolResult | ToolMessage | CommandLike | InterruptRequest;

type ToolCallHandler<Fields = Record<string, unknown>, Context = Record<string, unknown>> = (
  request: ToolCallRequest<Fields, Context>,
) => Promise<ToolCallResult>;

/** Declares how one field folds: a full reducer, or `initial` with one handler per event type. */
export type FieldReducer =
  | AnyReducerDefinition
  | {
      readonly initial: unknown;
      readonly on: Readonly<Record<string, (value: never, data: never, event: never) => unknown>>;
    };

export interface MiddlewareOptions<Fields, Context> {
  readonly name: string;
  /** Fields that this middleware uses. Plain zod fields keep the last value; `reducers` gives them rules of their own. */
  readonly stateSchema?: z.ZodObject<z.ZodRawShape> | undefined;
  /** Shape of the run's context that this middleware reads. */
  readonly contextSchema?: z.ZodObject<z.ZodRawShape> | undefined;
  /**
   * What this middleware finds out lies outside of the log (files, a sandbox): a rerun takes the events of its
   * `beforeAgent`, `wrapToolCall` and `release` from the log and runs no hook of it. Default false.
   */
  readonly external?: boolean;
  readonly tools?: readonly unknown[];
  readonly events?: readonly AnyEventDefinition[];
  readonly reducers?: Readonly<Record<string, FieldReducer>> | readonly AnyReducerDefinition[];
  readonly beforeAgent?: Hook<Fields, Context>;
  readonly beforeModel?: Hook<Fields, Context>;
  readonly wrapModelCall?: (
    request: ModelRequest<Fields, Context>,
    handler: ModelCallHandler<Fields, Context>,
  ) => ModelCallResult | Promise<ModelCallResult>;
  readonly afterModel?: Hook<Fields, Context>;
  readonly wrapToolCall?: (
    request: ToolCallRequest<Fields, Context>,
    handler: ToolCallHandler<Fields, Context>,
  ) => ToolCallResult | Promise<ToolCallResult>;
  readonly afterAgent?: Hook<Fields, Context>;
  /** Runs once at the end of every run, however it ended (also cancel, failure, interrupt): give back what was acquired. */
  readonly release?: (
    state: HookState<Fields>,
    runtime: HookRuntime<Context>,
  ) => HookResult | Promise<HookResult>;
}

/** A middleware as `createMiddleware` gives it. */
// biome-ignore lint/suspicious/noExplicitAny: middlewares of different fields stand in one list
export interface Middleware<Fields = any, Context = any> extends MiddlewareOptions<Fields, Context> {
  readonly middleware: true;
}

/**
 * Makes a middleware: hooks around an agent's phases, and the fields, events and reducers that they need.
 *
 * @example
 * const counter = createMiddleware({
 *   name: "counter",
 *   events: [Counted],
 *   reducers: { count: { initial: 0, on: { Counted: (count: number) => count + 1 } } },
 *   afterModel: () => Counted({}),
 * });
 */
export function createMiddleware<Fields = Record<string, unknown>, Context = Record<string, unknown>>(
  options: MiddlewareOptions<Fields, Context>,
): Middleware<Fields, Context> {
  return { ...options, middleware: true };
}
