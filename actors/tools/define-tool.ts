import type { StructuredToolInterface } from "@langchain/core/tools";
import type { z } from "zod";
import type { EventDraft } from "../../events/define-event.ts";
import type { Json } from "../../events/json.ts";
import type { Message } from "../../events/message.ts";
import type { HookRuntime, HookState } from "../middleware/define-middleware.ts";
import type { Sandbox } from "../sandboxes/sandbox.ts";

/** What a running tool knows. */
export interface ToolRuntime<Context = Record<string, unknown>> extends HookRuntime<Context> {
  /** Id of the tool call: stable across retries and restarts, usable as an idempotency key. */
  readonly callId: string;
  readonly toolCallId: string;
  readonly state: HookState;
  /** The thread's sandbox, made on first use. Undefined without the sandbox middleware. */
  readonly sandbox?: () => Promise<Sandbox>;
}

/** What a tool gives back besides plain text. */
export interface ToolResult {
  /** Content of the tool message. */
  readonly content: Message["content"];
  readonly status?: "success" | "error";
  /** Kept in the tool message, not shown to the model. */
  readonly artifact?: Json;
  readonly additional_kwargs?: Readonly<Record<string, Json>>;
  /** Recorded together with the result. */
  readonly events?: readonly EventDraft[];
  /** Plain updates by field, recorded as events together with the result. */
  readonly update?: Readonly<Record<string, unknown>>;
  readonly goto?: unknown;
}

export interface ToolDefinition<Args = unknown> {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType<Args>;
  /** True: running it twice does no harm, so it is run again after a crash. Default false: its outcome is reported as unknown. */
  readonly idempotent: boolean;
  /** True: the run ends with this tool's result. */
  readonly returnDirect: boolean;
  run(args: Args, runtime: ToolRuntime): Promise<unknown> | unknown;
  /** Turns the answer to an interrupt of this tool into its result; left out: the answer is the result. */
  readonly onAnswer?: (answer: Json, args: Args, runtime: ToolRuntime) => Promise<unknown> | unknown;
}

/** A tool of this package, or any LangChain tool. */
export type AgentTool =
  // biome-ignore lint/suspicious/noExplicitAny: tools of different arguments stand in one list
  | ToolDefinition<any>
  | (StructuredToolInterface & { readonly idempotent?: boolean; readonly returnDirect?: boolean });

/**
 * Defines a tool: name, description and zod schema for the model, and what it does.
 * `run` may return text, JSON, a `ToolResult` (with events), a LangChain `ToolMessage`, a `Command` shape or `interrupt(…)`.
 *
 * @example
 * const add = defineTool({ name: "add", description: "Adds two numbers", schema: z.object({ a: z.number(), b: z.number() }),
 *   idempotent: true, run: ({ a, b }) => String(a + b) });
 */
export function defineTool<Args>(options: {
  name: string;
  description: string;
  schema: z.ZodType<Args>;
  idempotent?: boolean;
  returnDirect?: boolean;
  run: (args: Args, runtime: ToolRuntime) => Promise<unknown> | unknown;
  onAnswer?: (answer: Json, args: Args, runtime: ToolRuntime) => Promise<unknown> | unknown;
}): ToolDefinition<Args> {
  return { idempotent: false, returnDirect: false, ...options };
}
