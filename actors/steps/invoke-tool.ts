import type { StructuredToolInterface } from "@langchain/core/tools";
import { z } from "zod";
import type { Json } from "../../events/json.ts";
import { type InterruptRequest, interrupt } from "../interrupt.ts";
import { ToolInputParsingException } from "../langchain.ts";
import { plainJson } from "../messages/plain-json.ts";
import type { AgentTool, ToolDefinition, ToolRuntime } from "../tools/define-tool.ts";
import { recordedAnswers } from "./recorded-answers.ts";

/** The model gave arguments that the tool does not take. The tool did not run. */
export class ToolArgumentsError extends Error {
  override readonly name = "ToolArgumentsError";
  constructor(
    readonly tool: string,
    problem: string,
  ) {
    super(`The arguments of ${tool} are not valid, so it did not run. ${problem}`);
  }
}

type Call = { readonly id: string; readonly name: string; readonly args: Readonly<Record<string, unknown>> };

/**
 * Runs a tool with a call's arguments and gives what it gave, raw.
 *
 * @param answer the answer to an interrupt of this tool; undefined on the first pass
 * @throws {ToolArgumentsError} @throws what the tool throws
 */
export async function invokeTool(
  tool: AgentTool,
  call: Call,
  runtime: ToolRuntime,
  answer: { readonly decision: Json } | undefined,
): Promise<unknown> {
  try {
    if ("run" in tool) return await runOwn(tool, call, runtime, answer);
    const recorded = recordedAnswers();
    if (recorded) return await recorded.tool(call);
    // A tool of LangChain's that asked knows no answers: the answer is its result.
    return answer ? answer.decision : await invokeLangChain(tool, call, runtime);
  } catch (error) {
    const asked = askedByLangGraph(error);
    if (asked) return asked;
    throw error;
  }
}

async function runOwn(
  tool: ToolDefinition<unknown>,
  call: Call,
  runtime: ToolRuntime,
  answer: { readonly decision: Json } | undefined,
): Promise<unknown> {
  const parsed = await tool.schema.safeParseAsync(call.args);
  if (!parsed.success) throw new ToolArgumentsError(tool.name, z.prettifyError(parsed.error));
  const recorded = recordedAnswers();
  if (recorded) return recorded.tool(call);
  if (!answer) return tool.run(parsed.data, runtime);
  return tool.onAnswer ? tool.onAnswer(answer.decision, parsed.data, runtime) : answer.decision;
}

async function invokeLangChain(
  tool: StructuredToolInterface,
  { id, name, args }: Call,
  runtime: ToolRuntime,
): Promise<unknown> {
  const { signal, configurable, state, context, threadId, runId, writer } = runtime;
  const toolCall = { id, name, args, type: "tool_call" as const };
  const config = {
    signal,
    configurable,
    metadata: { thread_id: threadId, run_id: runId, call_id: id },
    toolCall,
    toolCallId: id,
    state,
    context,
    store: undefined,
    writer: (chunk: unknown) => writer(plainJson(chunk)),
  };
  const seen = watchRawResult(tool);
  try {
    const result: unknown = await seen.tool.invoke(toolCall as never, config as never);
    return seen.raw() ?? result;
  } catch (error) {
    if (error instanceof ToolInputParsingException) throw new ToolArgumentsError(name, error.message);
    throw error;
  }
}

/**
 * LangChain makes text of every object that a tool returns, and with it of results that hold events, updates or
 * questions. This looks at the result before that happens.
 */
function watchRawResult(tool: StructuredToolInterface): { tool: StructuredToolInterface; raw(): unknown } {
  const inner = (tool as unknown as { _call?: (...args: unknown[]) => unknown })._call;
  if (typeof inner !== "function") return { tool, raw: () => undefined };
  let result: unknown;
  const watched = Object.create(tool, {
    _call: {
      async value(...args: unknown[]) {
        result = await inner.apply(tool, args);
        return result;
      },
    },
  }) as StructuredToolInterface;
  const isPair = (tool as { responseFormat?: string }).responseFormat === "content_and_artifact";
  return { tool: watched, raw: () => (!isPair && isPlainObject(result) ? result : undefined) };
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** What LangGraph's `interrupt()` threw, as a question. */
function askedByLangGraph(error: unknown): InterruptRequest | undefined {
  if (!(error instanceof Error) || (error.name !== "GraphInterrupt" && error.name !== "NodeInterrupt")) {
    return undefined;
  }
  const { interrupts } = error as unknown as { interrupts?: readonly { value?: unknown }[] };
  return interrupt("interrupt", plainJson(interrupts?.[0]?.value ?? null));
}
