import type { BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { DataOf, EventDraft } from "../../events/define-event.ts";
import type { Emitter } from "../../events/envelope.ts";
import type { Json } from "../../events/json.ts";
import type { ToolCall } from "../../events/message.ts";
import { ToolCallStarted } from "../../events/tool.ts";
import { sameJson } from "../../reducers/same-json.ts";
import { type InterruptRequest, isInterruptRequest } from "../interrupt.ts";
import { plainJson } from "../messages/plain-json.ts";
import { toLangChain } from "../messages/to-langchain.ts";
import type { JumpTarget, ToolCallRequest, ToolCallResult } from "../middleware/define-middleware.ts";
import type { AgentTool, ToolRuntime } from "../tools/define-tool.ts";
import type { DraftFold } from "./fold-drafts.ts";
import { HookError } from "./hook-error.ts";
import { middlewareRuntime, runtimeFor } from "./hook-runtime.ts";
import { hookState } from "./hook-state.ts";
import { invokeTool, ToolArgumentsError } from "./invoke-tool.ts";
import { jumpTarget } from "./jumps.ts";
import { recordedAnswers } from "./recorded-answers.ts";
import { agentContext } from "./run-context.ts";
import type { PendingToolCall, StepContext } from "./step-contract.ts";
import { readToolResult, toolError } from "./tool-result.ts";
import { updateToDrafts } from "./updates.ts";

type IdentifiedCall = ToolCall & { readonly id: string };

/** What the whole chain gave: the tool's message, or a question with who asks. */
export type ToolChainResult =
  | { readonly kind: "message"; readonly message: ToolMessage; readonly error: Error | undefined }
  | { readonly kind: "asked"; readonly request: InterruptRequest; readonly by: Emitter };

export interface ToolChain {
  /** @throws what the tool or a middleware throws */
  run(): Promise<ToolChainResult>;
  /** The last jump that was asked for; `end` wins. */
  goto(): JumpTarget | undefined;
  /** The tool that ran last. */
  ran(): AgentTool | undefined;
}

/** The model called a tool that is not there. */
export class UnknownToolError extends Error {
  override readonly name = "UnknownToolError";
  constructor(
    readonly tool: string,
    readonly known: readonly string[],
  ) {
    const there = known.length > 0 ? `There are: ${known.join(", ")}.` : "There are no tools.";
    super(`There is no tool named "${tool}". ${there}`);
  }
}

const allTargets: readonly JumpTarget[] = ["model", "tools", "end"];

/**
 * Nests the `wrapToolCall` of all middlewares around one tool call, the first one outermost. Each gets a `ToolMessage`
 * (or a question) from its handler, whatever the tool returned; events and updates are folded as they come.
 */
export function createToolChain(ctx: StepContext, pending: PendingToolCall, fold: DraftFold): ToolChain {
  const wraps = ctx.assembly.middleware.filter(({ wrapToolCall }) => wrapToolCall !== undefined);
  const { call, answers } = pending;
  const passing = new Set<unknown>();
  const asked = new Map<InterruptRequest, Emitter>();
  const errors = new Map<BaseMessage, Error>();
  let goto: JumpTarget | undefined;
  let ran: AgentTool | undefined;
  let editor: Emitter = "runtime";
  let knownArgs = call.args;

  /** A call that runs with other arguments than the model gave says so before it runs. */
  const recordArgs = async (name: string, args: ToolCall["args"]): Promise<void> => {
    if (sameJson(knownArgs, args)) return;
    knownArgs = args;
    const edited = plainJson(args) as DataOf<typeof ToolCallStarted>["args"];
    await ctx.record?.([{ draft: ToolCallStarted({ callId: call.id, name, args: edited }), by: editor }]);
  };

  const refused = (at: IdentifiedCall, error: Error): ToolMessage => {
    const message = toLangChain(toolError(at, error.message)) as ToolMessage;
    errors.set(message, error);
    return message;
  };
  const answerFor = (by: Emitter) => answers.findLast((answer) => answer.by === by);
  const toolNamed = (name: string) => ctx.assembly.tools.find((tool) => tool.name === name);

  /** Folds what stands beside a result and gives the message, in the form that the next one out sees. */
  const settle = async (
    result: unknown,
    by: Emitter,
    at: IdentifiedCall,
    beside: readonly EventDraft[] = [],
  ): Promise<ToolMessage | InterruptRequest> => {
    if (isInterruptRequest(result)) {
      if (!asked.has(result)) asked.set(result, by);
      return result;
    }
    const read = readToolResult(at, result);
    await fold.add([...beside, ...read.events].map((draft) => ({ draft, by })));
    if (read.update) {
      await fold.add(updateToDrafts(read.update, fold.state, ctx.assembly, by, { hook: "a tool call" }));
    }
    const to = jumpTarget(read.goto, { by, hook: "a tool call", allowed: allTargets });
    if (to !== undefined && goto !== "end") goto = to;
    return toLangChain(read.message) as ToolMessage;
  };

  const innermost = async (request: ToolCallRequest): Promise<ToolCallResult> => {
    const { toolCall } = request;
    const tool = request.tool?.name === toolCall.name ? request.tool : toolNamed(toolCall.name);
    if (!tool) return refused(toolCall, new UnknownToolError(toolCall.name, namesOf(ctx)));
    const by: Emitter = `tool:${tool.name}`;
    try {
      const runtime = toolRuntime(ctx, tool, request, fold);
      ran = tool;
      await recordArgs(tool.name, toolCall.args);
      return await settle(await invokeTool(tool, toolCall, runtime, answerFor(by)), by, toolCall);
    } catch (error) {
      // Bad arguments are the model's to mend, and no reason for a middleware to try again.
      if (error instanceof ToolArgumentsError) return refused(toolCall, error);
      passing.add(error);
      throw error;
    }
  };

  const runLayer = async (depth: number, request: ToolCallRequest): Promise<ToolCallResult> => {
    const middleware = wraps[depth];
    if (!middleware?.wrapToolCall) return innermost(request);
    const { name } = middleware;
    const by: Emitter = `middleware:${name}`;
    const handler = (passed: ToolCallRequest) => {
      // The id ties call, result and log together; a middleware may change everything else.
      const toolCall = Object.freeze({ ...passed.toolCall, id: call.id });
      const state = hookState(fold.state);
      if (!sameJson(toolCall.args, request.toolCall.args)) editor = by;
      return runLayer(depth + 1, { ...passed, toolCall, state, decision: undefined });
    };
    try {
      const own = middlewareRuntime(ctx, middleware);
      const runtime = Object.freeze({
        ...own,
        ...request.runtime,
        context: own.context,
        state: request.state,
      });
      const decision: Json | undefined = answerFor(by)?.decision;
      const recorded = middleware.external ? recordedAnswers()?.wrap(name, call.id) : undefined;
      if (recorded) {
        await handler(request);
        return await settle({ ...recorded.message, type: "tool" }, by, call, recorded.events);
      }
      const result: unknown = await middleware.wrapToolCall({ ...request, runtime, decision }, handler);
      return await settle(result, by, call);
    } catch (error) {
      if (passing.has(error)) throw error;
      const failure = new HookError(name, "wrapToolCall", error);
      passing.add(failure);
      throw failure;
    }
  };

  return {
    async run() {
      const toolCall = Object.freeze({ ...call });
      const state = hookState(fold.state);
      const runtime = { ...runtimeFor(ctx, {}), callId: call.id, toolCallId: call.id, state };
      const tool = toolNamed(call.name);
      const result = await runLayer(0, { toolCall, tool, state, runtime, decision: undefined });
      if (!isInterruptRequest(result)) {
        const message = result as BaseMessage as ToolMessage;
        return { kind: "message", message, error: errors.get(message) };
      }
      return { kind: "asked", request: result, by: asked.get(result) ?? `tool:${call.name}` };
    },
    goto: () => goto,
    ran: () => ran,
  };
}

function namesOf(ctx: StepContext): readonly string[] {
  return ctx.assembly.tools.map((tool) => tool.name);
}

function toolRuntime(
  ctx: StepContext,
  tool: AgentTool,
  request: ToolCallRequest,
  fold: DraftFold,
): ToolRuntime {
  const owner = ctx.assembly.middleware.find(({ tools }) => tools?.includes(tool));
  const own = owner
    ? middlewareRuntime(ctx, owner)
    : runtimeFor(ctx, agentContext(ctx.assembly, ctx.context));
  const { id } = request.toolCall;
  // Whatever a middleware put into the runtime (a sandbox, its own signal) reaches the tool.
  return Object.freeze({
    ...own,
    ...request.runtime,
    context: own.context,
    state: hookState(fold.state),
    callId: id,
    toolCallId: id,
  });
}
