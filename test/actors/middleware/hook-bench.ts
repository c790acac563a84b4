import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { loadLangChain } from "../../../actors/langchain.ts";
import { toLangChain } from "../../../actors/messages/to-langchain.ts";
import type {
  Hook,
  HookOutcome,
  HookRuntime,
  HookState,
  Middleware,
  ModelCallResult,
  ModelRequest,
  RunFacts,
  ToolCallRequest,
  ToolCallResult,
} from "../../../actors/middleware/define-middleware.ts";
import type { AgentTool, ToolRuntime } from "../../../actors/tools/define-tool.ts";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import type { Json } from "../../../events/json.ts";
import type { Message } from "../../../events/message.ts";
import { ScriptedModel } from "../scripted-model.ts";

await loadLangChain();

/** A message of a case: an id is given where the case names one. */
export interface CaseMessage {
  readonly type: string;
  readonly content?: Message["content"];
  readonly id?: string;
  readonly [key: string]: unknown;
}

export function messagesOf(messages: readonly CaseMessage[]): BaseMessage[] {
  return messages.map((message, index) =>
    toLangChain({ id: `m${index}`, content: "", ...message } as unknown as Message),
  );
}

const noFacts: RunFacts = {
  modelCalls: 0,
  toolCalls: {},
  eventCounts: {},
  threadModelCalls: 0,
  threadToolCalls: {},
};

export interface BenchOptions {
  readonly threadId?: string;
  readonly runId?: string;
  readonly context?: Record<string, unknown>;
  readonly run?: Partial<RunFacts>;
  readonly signal?: AbortSignal;
  readonly folder?: string;
  readonly blobs?: HookRuntime["blobs"];
  readonly written?: Json[];
  readonly callId?: string;
}

export function hookRuntime(options: BenchOptions = {}): HookRuntime {
  const { threadId = "t", runId = "r1", context = {}, written = [] } = options;
  return {
    threadId,
    runId,
    step: 0,
    version: 1,
    context,
    configurable: { thread_id: threadId, run_id: runId },
    signal: options.signal ?? new AbortController().signal,
    blobs: options.blobs ?? createMemoryBlobs(),
    folder: options.folder ?? "/nowhere",
    writer: (chunk) => written.push(chunk),
    run: { ...noFacts, ...options.run },
  };
}

export function hookState(
  messages: readonly CaseMessage[],
  fields: Record<string, unknown> = {},
): HookState<Record<string, unknown>> {
  return { ...fields, messages: messagesOf(messages) };
}

/** What a hook gave, in one form. A plain update stands under `update`. */
export async function callHook(
  hook: Hook<never, never> | undefined,
  state: HookState,
  runtime: HookRuntime = hookRuntime(),
): Promise<HookOutcome | undefined> {
  if (!hook) throw new Error("The middleware has no such hook.");
  const call = typeof hook === "function" ? hook : hook.hook;
  const result = await call(state as never, runtime as never);
  if (result === undefined || result === null) return undefined;
  if (Array.isArray(result)) return { events: result };
  if ("type" in result && "data" in result) return { events: [result as never] };
  return result as HookOutcome;
}

export function modelRequest(
  messages: readonly CaseMessage[],
  options: BenchOptions & {
    readonly fields?: Record<string, unknown>;
    readonly tools?: readonly AgentTool[];
    readonly systemPrompt?: string;
    readonly model?: ModelRequest["model"];
  } = {},
): ModelRequest {
  const state = hookState(messages, options.fields);
  return {
    model: options.model ?? new ScriptedModel({ answers: ["unused"] }),
    messages: state.messages,
    systemPrompt: options.systemPrompt,
    tools: options.tools ?? [],
    toolChoice: undefined,
    responseFormat: undefined,
    modelSettings: undefined,
    state,
    runtime: hookRuntime(options),
  };
}

/** Calls `wrapModelCall` around a handler that answers "ok", and gives the requests that reached it. */
export async function callModel(
  middleware: Middleware,
  request: ModelRequest,
  answer: (request: ModelRequest, attempt: number) => AIMessage | Promise<AIMessage> = () =>
    new AIMessage("ok"),
): Promise<{ requests: ModelRequest[]; result: ModelCallResult }> {
  const requests: ModelRequest[] = [];
  if (!middleware.wrapModelCall) throw new Error("The middleware does not wrap model calls.");
  const result = await middleware.wrapModelCall(request, async (inner) => {
    requests.push(inner);
    return answer(inner, requests.length);
  });
  return { requests, result };
}

export function toolRuntime(state: HookState, options: BenchOptions = {}): ToolRuntime {
  const callId = options.callId ?? "c1";
  return { ...hookRuntime(options), callId, toolCallId: callId, state };
}

export function toolRequest(
  call: { readonly name: string; readonly id?: string; readonly args?: Record<string, unknown> },
  options: BenchOptions & {
    readonly tool?: AgentTool;
    readonly messages?: readonly CaseMessage[];
    readonly fields?: Record<string, unknown>;
    readonly decision?: Json;
  } = {},
): ToolCallRequest {
  const { id = "c1", name, args = {} } = call;
  const messages = options.messages ?? [{ type: "ai", tool_calls: [{ id, name, args }] }];
  const state = hookState(messages, options.fields);
  return {
    toolCall: { id, name, args, type: "tool_call" },
    tool: options.tool,
    state,
    runtime: toolRuntime(state, { ...options, callId: id }),
    decision: options.decision,
  };
}

/** Calls `wrapToolCall` around a handler, and gives the requests that reached the handler. */
export async function callTool(
  middleware: Middleware,
  request: ToolCallRequest,
  handle: (request: ToolCallRequest) => ToolCallResult | Promise<ToolCallResult> = () => ({ content: "ran" }),
): Promise<{ requests: ToolCallRequest[]; result: ToolCallResult }> {
  const requests: ToolCallRequest[] = [];
  if (!middleware.wrapToolCall) throw new Error("The middleware does not wrap tool calls.");
  const result = await middleware.wrapToolCall(request, async (inner) => {
    requests.push(inner);
    return handle(inner);
  });
  return { requests, result };
}
