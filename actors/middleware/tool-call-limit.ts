import { RunCapped } from "../../events/run.ts";
import { AIMessage } from "../langchain.ts";
import { createMiddleware, type RunFacts } from "./define-middleware.ts";
import { openCalls } from "./last-answer.ts";
import { refuseCall } from "./refused-call.ts";

/** A run or a thread made as many calls of a tool as it may. */
export class ToolCallLimitError extends Error {
  override readonly name = "ToolCallLimitError";
  constructor(
    readonly toolName: string | undefined,
    readonly scope: "run" | "thread",
    readonly limit: number,
  ) {
    super(
      `The limit of ${limit} calls ${toolName ? `of ${toolName} ` : "of tools "}in one ${scope} is reached. Go on without it.`,
    );
  }
}

export interface ToolCallLimitOptions {
  /** The tool that is counted. Default: all tools together. */
  readonly toolName?: string;
  readonly runLimit?: number;
  readonly threadLimit?: number;
  /** Refuse the surplus calls and go on (default), end the run with an answer that says so, or fail it. */
  readonly exitBehavior?: "continue" | "end" | "error";
}

function countOf(calls: RunFacts["toolCalls"], toolName: string | undefined): number {
  if (toolName !== undefined) return Object.hasOwn(calls, toolName) ? (calls[toolName] ?? 0) : 0;
  return Object.values(calls).reduce((sum, count) => sum + count, 0);
}

/**
 * Bounds the calls of one tool, or of all, in a run and in a thread. Calls that ended count, refused ones do not; the
 * first calls of an answer are taken, the surplus gets error messages.
 *
 * @throws {ToolCallLimitError} in the run, with `exitBehavior: "error"`
 * @example
 * createAgent({ model, tools, middleware: [toolCallLimitMiddleware({ toolName: "web_search", runLimit: 5 })] })
 */
export function toolCallLimitMiddleware(options: ToolCallLimitOptions) {
  const { toolName, exitBehavior = "continue" } = options;
  const { runLimit = Number.POSITIVE_INFINITY, threadLimit = Number.POSITIVE_INFINITY } = options;
  return createMiddleware({
    name: toolName === undefined ? "tool-call-limit" : `tool-call-limit:${toolName}`,
    afterModel: {
      canJumpTo: ["model", "end"],
      hook(state, { run, runId }) {
        const open = openCalls(state.messages);
        const counted = open.filter((call) => toolName === undefined || call.name === toolName);
        const leftInRun = runLimit - countOf(run.toolCalls, toolName);
        const leftInThread = threadLimit - countOf(run.threadToolCalls, toolName);
        const surplus = counted.slice(Math.max(0, Math.min(leftInRun, leftInThread)));
        if (surplus.length === 0) return undefined;
        const scope = leftInRun <= leftInThread ? "run" : "thread";
        const error = new ToolCallLimitError(toolName, scope, scope === "run" ? runLimit : threadLimit);
        switch (exitBehavior) {
          case "error":
            throw error;
          case "continue": {
            const events = surplus.map((call) => refuseCall(call, error.message, "tool-call-limit"));
            return surplus.length === open.length ? { events, jumpTo: "model" } : { events };
          }
          case "end": {
            // The other calls of the answer do not run either; without a result they would break the next request.
            const events = open.map((call) => refuseCall(call, error.message, "tool-call-limit"));
            return {
              events: [...events, RunCapped({ runId, reason: "tool_call_limit" })],
              update: { messages: [new AIMessage(error.message)] },
              jumpTo: "end",
            };
          }
          default:
            return exitBehavior satisfies never;
        }
      },
    },
  });
}
