import { createMiddleware, type ToolCallRequest } from "./define-middleware.ts";
import { errorResult } from "./refused-call.ts";

/** Longest part of an error's text that the model gets, in characters. */
const maxDetailCharacters = 500;

export interface ToolErrorsOptions {
  /** Errors to leave alone: they fail the call as they would without this middleware. Default: none. */
  readonly passThrough?: (error: unknown) => boolean;
  /** Text for the model. Default: name of the tool, the error's text up to 500 characters, and what to do. */
  readonly describe?: (error: unknown, toolName: string) => string;
}

/** Signals of LangGraph's that pause a run. They are thrown like errors and are none. */
function isControlFlow(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { name, is_bubble_up: bubbles } = error as { name?: unknown; is_bubble_up?: unknown };
  return (
    bubbles === true || name === "GraphInterrupt" || name === "GraphBubbleUp" || name === "NodeInterrupt"
  );
}

function cut(text: string): string {
  if (text.length <= maxDetailCharacters) return text;
  return `${text.slice(0, maxDetailCharacters - 1).toWellFormed()}…`;
}

function describeError(error: unknown, toolName: string): string {
  const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return `The tool ${toolName} failed: ${cut(detail)}\nGo on with what you have, or try again in another way.`;
}

/**
 * Turns what a tool throws into an error message for the model. Cancels and pauses pass untouched.
 *
 * @example
 * createAgent({ model, tools, middleware: [toolErrorsMiddleware()] })
 */
export function toolErrorsMiddleware(options: ToolErrorsOptions = {}) {
  const { passThrough = () => false, describe = describeError } = options;
  const passes = (error: unknown, request: ToolCallRequest): boolean =>
    request.runtime.signal.aborted || isControlFlow(error) || passThrough(error);
  return createMiddleware({
    name: "tool-errors",
    async wrapToolCall(request, handler) {
      try {
        return await handler(request);
      } catch (error) {
        if (passes(error, request)) throw error;
        return errorResult(request.toolCall, describe(error, request.toolCall.name));
      }
    },
  });
}
