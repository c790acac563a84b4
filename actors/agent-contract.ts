import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { z } from "zod";
import type { EventDraft } from "../events/define-event.ts";
import type { Emitter, RecordedEvent } from "../events/envelope.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import type { Json } from "../events/json.ts";
import type { ErrorData, Interrupt } from "../events/run.ts";
import type { Store } from "../events/store.ts";
import type { State, StateReducer } from "../reducers/thread-state.ts";
import type { HarnessOptions } from "./harness.ts";
import type { SchemaRegistry } from "./langgraph-values.ts";
import type { Middleware } from "./middleware/define-middleware.ts";

/** What an agent is made of. Names are LangChain's where LangChain has one. */
export interface AgentOptions {
  readonly name?: string;
  /** A LangChain chat model, or `provider:name`, `builtin:planner`, `replay:<file or thread>`. */
  readonly model: BaseChatModel | string;
  readonly tools?: readonly unknown[];
  readonly systemPrompt?: string;
  /** `harness`: the default chain of built-in middlewares, with `middleware` in its place for your own. Default: none. */
  readonly preset?: "harness" | "none";
  /** Options of the parts of the preset `harness`; false leaves a part out. */
  readonly harness?: HarnessOptions;
  readonly middleware?: readonly Middleware[];
  /** A zod object, or LangGraph's `StateSchema`. */
  readonly stateSchema?: z.ZodObject<z.ZodRawShape> | { readonly fields: object };
  readonly contextSchema?: z.ZodObject<z.ZodRawShape>;
  /** `schemaMetaRegistry` of `@langchain/langgraph/zod`, when fields have reducers by `withLangGraph`. */
  readonly schemaRegistry?: SchemaRegistry;
  /** A zod schema: the last answer is checked against it and recorded as `StructuredResponseProduced`. */
  readonly responseFormat?: unknown;
  /** An open store, or a store URL. Default `sqlite:.threadfold/threads.db`. */
  readonly store?: Store | string;
  readonly limits?: {
    /** Model calls per run. Default 100. */
    readonly maxModelCalls?: number;
    /** Phases per run, hooks and tools included. Default 1,000. */
    readonly maxSteps?: number;
    /** Milliseconds after which a tool call is given up; default none. */
    readonly toolTimeoutMs?: number;
  };
  /**
   * What to do with an open run whose owner is gone: close it (default) or go on. With `continue` a run whose store went
   * away stays open, too: its result is `failed`, and the next run of the thread goes on with it first.
   */
  readonly recovery?: "close" | "continue";
  /** A second input while a run is open: refuse it (default), wait in line, or cancel the open run first. */
  readonly whenBusy?: "reject" | "enqueue" | "interrupt";
  /** Milliseconds after which an idle thread leaves memory. Default 60,000. */
  readonly idleMs?: number;
  /** Milliseconds that a lease of a run lasts without renewal. Default 15,000. */
  readonly leaseMs?: number;
}

export interface Agent {
  readonly name: string;
  readonly reducer: StateReducer;
  readonly registry: EventRegistry;
  readonly middleware: readonly Middleware[];
  /** The open store. */
  store(): Promise<Store>;
  /** A thread by id; a new id makes a new thread with its first event. */
  thread(threadId?: string): Thread;
  /** LangChain's call: runs a thread (`configurable.thread_id`) to its end and gives the state. Throws what failed. */
  invoke(input: unknown, config?: RunConfig): Promise<Record<string, unknown>>;
  /** LangChain's call: streams in LangGraph's modes. */
  stream(
    input: unknown,
    config?: RunConfig & { streamMode?: string | readonly string[] },
  ): AsyncIterable<unknown>;
  close(): Promise<void>;
}

export interface RunConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly metadata?: Readonly<Record<string, Json>>;
}

export interface RunOptions {
  readonly runId?: string;
  readonly context?: Readonly<Record<string, unknown>>;
  /** LangGraph's spelling for what hooks and tools may read of the call; `thread_id` and `run_id` are added. */
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly metadata?: Readonly<Record<string, Json>>;
  /** Who gives the input. Default `user`. */
  readonly by?: Emitter;
  /** Run at this version only; default: wherever the thread is. */
  readonly expectedVersion?: number;
  readonly whenBusy?: "reject" | "enqueue" | "interrupt";
  readonly limits?: AgentOptions["limits"];
  /** The tool call of another thread that asked for this run. */
  readonly parent?: { readonly threadId: string; readonly runId: string; readonly callId: string };
}

/** What a run is given: text, messages, or a state update; null goes on from where the thread stands. */
export type RunInput = string | { readonly messages?: unknown; readonly [field: string]: unknown } | null;

export type RunStatus = "completed" | "interrupted" | "cancelled" | "failed";

export interface RunResult {
  readonly runId: string;
  readonly threadId: string;
  readonly status: RunStatus;
  readonly state: State;
  /** Versions before and after the run. */
  readonly fromVersion: number;
  readonly version: number;
  readonly interrupts: readonly Interrupt[];
  readonly error: ErrorData | undefined;
  /** Why the run ended early, when it completed early: `max-model-calls`, `loop` … */
  readonly stopReason: string | undefined;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** Live items of a run. Only events are stored. */
export type RunItem =
  | { readonly kind: "event"; readonly event: RecordedEvent }
  | {
      readonly kind: "token";
      readonly callId: string;
      readonly messageId: string;
      readonly text: string;
      readonly chunk: unknown;
      readonly tags: readonly string[];
    }
  | { readonly kind: "custom"; readonly data: Json };

/**
 * One run of a thread: iterate it for live items, await `result` for the end. `result` never rejects for a failed run;
 * it rejects when the run did not begin and nothing was recorded.
 */
export interface Run extends AsyncIterable<RunItem> {
  readonly runId: string;
  readonly threadId: string;
  readonly result: Promise<RunResult>;
  /**
   * Records the request, aborts what runs, and resolves when the end is recorded. A run that stands in line leaves it,
   * and its `result` rejects with `RunWithdrawnError`.
   */
  cancel(reason?: string): Promise<void>;
}

export type ThreadStatus = "idle" | "running" | "interrupted" | "failed" | "cancelled" | "archived";

export interface ThreadInfo {
  readonly threadId: string;
  readonly version: number;
  readonly status: ThreadStatus;
  readonly runId: string | undefined;
  readonly interrupts: readonly Interrupt[];
  readonly metadata: Readonly<Record<string, Json>>;
}

interface ThreadSnapshot extends ThreadInfo {
  readonly state: State;
}

export interface Thread {
  readonly id: string;
  /** Starts a run. Nothing happened before the first event is recorded. */
  run(input: RunInput, options?: RunOptions): Run;
  /** Answers interrupts by id (or all with one value) and goes on. @throws {InterruptAnsweredError} for a second answer */
  resume(answers: Readonly<Record<string, Json>> | { readonly all: Json }, options?: RunOptions): Run;
  info(): Promise<ThreadInfo>;
  /** `info` and `state` of one and the same version. */
  snapshot(): Promise<ThreadSnapshot>;
  state(): Promise<State>;
  stateAt(version: number): Promise<State>;
  events(options?: { from?: number; to?: number; types?: readonly string[] }): AsyncIterable<RecordedEvent>;
  /** New thread that stands on this one's history up to `at` (default: its end). */
  fork(options?: { at?: number; threadId?: string; metadata?: Record<string, Json> }): Promise<Thread>;
  /** The thread goes back to `to`; later events stay in the log as an abandoned branch. */
  rewind(options: { to: number; reason?: string; expectedVersion?: number }): Promise<{ version: number }>;
  /** Records events from outside a run. @throws {ThreadBusyError} while a run is open, unless only metadata changes */
  record(
    drafts: readonly EventDraft[],
    options?: { by?: Emitter; expectedVersion?: number },
  ): Promise<{ version: number }>;
  /** Plain updates by field from outside: fields are replaced, not merged. @throws {ThreadBusyError} @throws {UnknownFieldError} @throws {InvalidUpdateError} */
  update(
    values: Readonly<Record<string, unknown>>,
    options?: { by?: Emitter; expectedVersion?: number },
  ): Promise<{ version: number }>;
  /** The run that is open in this process, to follow or cancel it. One whose owner is gone is recovered first. */
  openRun(): Promise<Run | undefined>;
  /** Cancels the open run, in whichever process it is, and resolves when its end is recorded. Without one it does nothing. */
  cancel(reason?: string): Promise<void>;
  /** Drops the thread from memory; the log has everything. */
  passivate(): Promise<void>;
}
