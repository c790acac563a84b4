import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { EventRegistry } from "../events/event-registry.ts";
import type { StateReducer } from "../reducers/thread-state.ts";
import type { Middleware } from "./middleware/define-middleware.ts";
import type { AgentTool } from "./tools/define-tool.ts";

/** An agent put together: base ⊕ the fields, events, tools and hooks of each middleware, checked for conflicts. */
export interface Assembly {
  readonly name: string;
  /** In list order, names unique. */
  readonly middleware: readonly Middleware[];
  /** Tools of the agent and of its middlewares, names unique. */
  readonly tools: readonly AgentTool[];
  readonly reducer: StateReducer;
  readonly registry: EventRegistry;
  readonly systemPrompt: string | undefined;
  readonly responseFormat: unknown;
  /** `provider:name` or the class's name, as recorded in `ModelCallStarted`. */
  readonly modelName: string;
  /** The model, resolved once. */
  model(): Promise<BaseChatModel>;
}
