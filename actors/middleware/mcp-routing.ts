import { ToolsPromoted } from "../../events/promoted-tools.ts";
import { type PromotedTools, promoted as promotedReducer } from "../../reducers/promoted-tools.ts";
import { createMiddleware } from "./define-middleware.ts";
import { lastUserIndex } from "./hidden-message.ts";
import { typedText } from "./message-text.ts";
import { catalogueOf, type DeferredTools, promotedNames } from "./promoted-tools.ts";

/** When a tool is promoted without a search. */
export interface RoutingRule {
  /** Promoted when the user's message contains one of these, in any case. */
  readonly keywords: readonly string[];
  /** Higher ones come first. Default 0. */
  readonly priority?: number;
}

export interface McpRoutingOptions {
  readonly tools: DeferredTools;
  /** Rules by tool name. */
  readonly routing: Readonly<Record<string, RoutingRule>>;
  /** Most tools that one message promotes, 1 to 5. Default 3. */
  readonly topK?: number;
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/**
 * Promotes deferred tools whose keywords are in the user's newest message, so that the model need not search for
 * them. Put it before `promotedToolsMiddleware`, with the same tools.
 *
 * @example
 * mcpRoutingMiddleware({ tools: mcp, routing: { crm_orders: { keywords: ["order"], priority: 10 } } })
 */
export function mcpRoutingMiddleware(options: McpRoutingOptions) {
  const current = catalogueOf(options.tools);
  const topK = Math.min(5, Math.max(1, Math.trunc(options.topK ?? 3)));
  const rules = Object.entries(options.routing)
    .map(([name, { keywords, priority = 0 }]) => ({
      name,
      priority,
      keywords: keywords.map(fold).filter((keyword) => keyword !== ""),
    }))
    .sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
  return createMiddleware<{ readonly promoted?: PromotedTools }>({
    name: "mcp-routing",
    events: [ToolsPromoted],
    reducers: [promotedReducer],
    beforeModel(state) {
      const message = state.messages[lastUserIndex(state.messages)];
      if (!message) return undefined;
      const text = fold(typedText(message));
      const catalogue = current();
      const unlocked = promotedNames(state, catalogue);
      const names = rules
        .filter(
          ({ name, keywords }) => catalogue.get(name) && keywords.some((keyword) => text.includes(keyword)),
        )
        .slice(0, topK)
        .map(({ name }) => name)
        .filter((name) => !unlocked.has(name));
      return names.length === 0 ? undefined : ToolsPromoted({ catalogHash: catalogue.hash, names });
    },
  });
}
