import type { Message } from "../../events/message.ts";
import { ToolCallCompleted, ToolCallFailed } from "../../events/tool.ts";
import { toErrorData } from "../error-data.ts";
import { toStored } from "../messages/to-stored.ts";
import { foldDrafts } from "./fold-drafts.ts";
import { HookError } from "./hook-error.ts";
import type { AttributedDraft, PendingToolCall, StepContext, ToolCallOutcome } from "./step-contract.ts";
import { createToolChain, type ToolChainResult } from "./tool-chain.ts";
import { toolError } from "./tool-result.ts";

/** A tool ran longer than `toolTimeoutMs`. What it did by then is not known. */
export class ToolTimeoutError extends Error {
  override readonly name = "ToolTimeoutError";
  constructor(
    readonly tool: string,
    readonly limitMs: number,
  ) {
    super(`${tool} did not finish within ${limitMs} ms and was given up. It may have done part of its work.`);
  }
}

/** Longest text of an error that the model gets, in characters. */
const maxDetailCharacters = 500;

/**
 * Runs one tool call through the `wrapToolCall` chain. Whatever goes wrong in it becomes an error message for the model
 * and `ToolCallFailed`; nothing is appended here.
 *
 * @throws only when the run was aborted: what the tool threw then
 * @example
 * const outcome = await executeToolCall(ctx, { call: { id: "c1", name: "ls", args: {} }, answers: [] });
 */
export async function executeToolCall(ctx: StepContext, pending: PendingToolCall): Promise<ToolCallOutcome> {
  const { call } = pending;
  const fold = foldDrafts(ctx);
  const begun = performance.now();
  const limit = timeLimit(ctx, call.name);
  const chain = createToolChain({ ...ctx, signal: limit.signal }, pending, fold);
  const ended = (result: AttributedDraft): ToolCallOutcome => ({
    kind: "ended",
    drafts: [result, ...fold.drafts],
    goto: chain.goto(),
    // After an error the model has the next word.
    returnDirect: chain.ran()?.returnDirect === true && result.draft.type === "ToolCallCompleted",
  });
  try {
    const result = await limit.race(chain.run());
    if (result.kind === "asked") return { kind: "interrupted", request: result.request, by: result.by };
    return ended(resultDraft(pending, result, begun));
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    return ended(failureDraft(pending, error, begun));
  } finally {
    limit.clear();
  }
}

function resultDraft(
  { call }: PendingToolCall,
  { message, error: refusal }: ToolChainResult & { readonly kind: "message" },
  begun: number,
): AttributedDraft {
  const stored = toStored(message, () => "");
  const durationMs = elapsed(begun);
  const callId = call.id;
  const by = `tool:${call.name}` as const;
  if (stored.status !== "error")
    return { draft: ToolCallCompleted({ callId, message: stored, durationMs }), by };
  const error = refusal ? toErrorData(refusal) : { name: "ToolError", message: textOf(stored) };
  return { draft: ToolCallFailed({ callId, message: stored, error, durationMs }), by };
}

function failureDraft({ call }: PendingToolCall, error: unknown, begun: number): AttributedDraft {
  const data = toErrorData(error);
  const shown =
    error instanceof HookError || error instanceof ToolTimeoutError
      ? data.message
      : `${data.name}: ${data.message}`;
  const text = `The tool ${call.name} failed: ${cut(shown)}`;
  const draft = ToolCallFailed({
    callId: call.id,
    message: toolError(call, text),
    error: data,
    durationMs: elapsed(begun),
  });
  return { draft, by: `tool:${call.name}` };
}

function elapsed(begun: number): number {
  return Math.round((performance.now() - begun) * 1000) / 1000;
}

function textOf({ content }: Message): string {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return cut(text);
}

function cut(text: string): string {
  return text.length <= maxDetailCharacters
    ? text
    : `${text.slice(0, maxDetailCharacters - 1).toWellFormed()}…`;
}

interface TimeLimit {
  readonly signal: AbortSignal;
  race<Value>(work: Promise<Value>): Promise<Value>;
  clear(): void;
}

function timeLimit(ctx: StepContext, tool: string): TimeLimit {
  const limitMs = ctx.toolTimeoutMs;
  if (limitMs === undefined) return { signal: ctx.signal, race: (work) => work, clear: () => undefined };
  const controller = new AbortController();
  const signal = AbortSignal.any([ctx.signal, controller.signal]);
  let timer: NodeJS.Timeout | undefined;
  return {
    signal,
    race(work) {
      work.catch(() => undefined);
      const timeout = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          const error = new ToolTimeoutError(tool, limitMs);
          reject(error);
          controller.abort(error);
        }, limitMs);
      });
      return Promise.race([work, timeout]);
    },
    clear: () => clearTimeout(timer),
  };
}
