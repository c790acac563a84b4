import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { z } from "zod";
import type { EventRegistry } from "../events/event-registry.ts";
import type { StateReducer } from "../reducers/thread-state.ts";
import type { Middleware } from "./middleware/define-middleware.ts";
import type { AgentTool } from "./tools/define-tool.ts";

/** What a plain update of a field has to look like, and who says so. */
export interface FieldSchema {
  readonly schema: Pick<z.ZodType, "safeParse">;
  /** The same for a value that takes the place of the field's, past its reducer. */
  readonly whole: Pick<z.ZodType, "safeParse">;
  readonly source: string;
}

/** An agent put together: base ⊕ the fields, events, tools and hooks of each middleware, checked for conflicts. */
export interface Assembly {
  readonly name: string;
  /** In list order, names unique. */
  readonly middleware: readonly Middleware[];
  /** Tools of the agent and of its middlewares, names unique. */
  readonly tools: readonly AgentTool[];
  readonly reducer: StateReducer;
  readonly registry: EventRegistry;
  /** Schemas that plain updates are checked by, by field. */
  readonly fieldSchemas: ReadonlyMap<string, FieldSchema>;
  /** Shape of the context that the agent's own tools read; undefined: they get it as it was given. */
  readonly contextSchema: z.ZodObject<z.ZodRawShape> | undefined;
  readonly systemPrompt: string | undefined;
  readonly responseFormat: unknown;
  /** `provider:name` or the class's name, as recorded in `ModelCallStarted`. */
  readonly modelName: string;
  /** The model, resolved once. */
  model(): Promise<BaseChatModel>;
}

/** The parts of an agent do not fit together. Nothing ran. */
export class AssemblyError extends Error {
  override readonly name = "AssemblyError";
  constructor(
    /** Who brings what does not fit: `middleware planner`, `the agent`. */
    readonly source: string,
    problem: string,
    next: string,
  ) {
    super(`${source}: ${problem}. ${next}`);
  }
}
