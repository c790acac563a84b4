import { ToolsPromoted } from "../../events/promoted-tools.ts";
import { type PromotedTools, promoted as promotedReducer } from "../../reducers/promoted-tools.ts";
import type { AgentTool } from "../tools/define-tool.ts";
import { createToolCatalogue, type ToolCatalogue } from "../tools/tool-catalogue.ts";
import { toolSearchName, toolSearchTool } from "../tools/tool-search.ts";
import { createMiddleware, type ModelRequest } from "./define-middleware.ts";
import { errorResult } from "./refused-call.ts";

interface PromotedFields {
  readonly promoted?: PromotedTools;
}

/** Deferred tools: a list that stays, or a source whose tools may change while the agent lives (MCP servers). */
export type DeferredTools = readonly AgentTool[] | { tools(): readonly AgentTool[] };

export interface PromotedToolsOptions {
  readonly tools: DeferredTools;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** The list for the system prompt: names only, sorted, and safe inside the tag. */
export function deferredToolsPrompt(names: readonly string[]): string {
  if (names.length === 0) return "";
  const lines = [...names].sort().map((name) => name.replace(/[&<>"]/g, (char) => escapes[char] ?? char));
  return [
    "These tools exist but are not loaded. Load what you need with tool_search before you call it:",
    "<available-deferred-tools>",
    ...lines,
    "</available-deferred-tools>",
  ].join("\n");
}

/** The catalogue of a source, rebuilt only when the source gives another list. */
export function catalogueOf(source: DeferredTools): () => ToolCatalogue {
  let known: { list: readonly AgentTool[]; catalogue: ToolCatalogue } | undefined;
  return () => {
    const list = "tools" in source ? source.tools() : source;
    if (known?.list !== list) known = { list, catalogue: createToolCatalogue(list) };
    return known.catalogue;
  };
}

/** Names that were promoted under this very catalogue. */
export function promotedNames(state: PromotedFields, catalogue: ToolCatalogue): ReadonlySet<string> {
  const { promoted } = state;
  return new Set(promoted?.catalog_hash === catalogue.hash ? promoted.names : []);
}

/**
 * Tools that the model finds with `tool_search` instead of having all their schemas in every request. Two lines of
 * defence: what is not promoted is not in the request, and a call of it is refused. Promotions are in the log; they
 * outlive a restart and end when the catalogue changes in any way. Put it before `humanApprovalMiddleware`, so that
 * nobody is asked about a call that is refused.
 *
 * @example
 * createAgent({ model, middleware: [promotedToolsMiddleware({ tools: mcp })] })
 */
export function promotedToolsMiddleware(options: PromotedToolsOptions) {
  const { tools: source } = options;
  const current = catalogueOf(source);
  const withVisibleTools = (request: ModelRequest<PromotedFields>): ModelRequest<PromotedFields> => {
    const catalogue = current();
    const unlocked = promotedNames(request.state, catalogue);
    const kept = request.tools.filter((tool) => catalogue.get(tool.name) !== tool || unlocked.has(tool.name));
    const names = new Set(kept.map(({ name }) => name));
    const added = catalogue.tools.filter(({ name }) => unlocked.has(name) && !names.has(name));
    const hidden = catalogue.tools.filter(({ name }) => !unlocked.has(name) && !names.has(name));
    const tools =
      hidden.length + added.length > 0 || kept.length < request.tools.length ? [...kept, ...added] : kept;
    const prompt = deferredToolsPrompt(hidden.map(({ name }) => name));
    if (prompt === "") return { ...request, tools };
    return {
      ...request,
      tools,
      systemPrompt: request.systemPrompt ? `${request.systemPrompt}\n\n${prompt}` : prompt,
    };
  };
  return createMiddleware<PromotedFields>({
    name: "promoted-tools",
    tools: [toolSearchTool(current), ...("tools" in source ? [] : source)],
    events: [ToolsPromoted],
    reducers: [promotedReducer],
    wrapModelCall: (request, handler) => handler(withVisibleTools(request)),
    wrapToolCall(request, handler) {
      const { toolCall, state } = request;
      const catalogue = current();
      const deferred = catalogue.get(toolCall.name);
      // A tool of the agent's own with the same name is not the deferred one.
      if (!deferred || (request.tool !== undefined && request.tool !== deferred)) return handler(request);
      if (promotedNames(state, catalogue).has(toolCall.name)) return handler({ ...request, tool: deferred });
      return errorResult(
        toolCall,
        `The tool ${toolCall.name} is not loaded. Call ${toolSearchName} with "select:${toolCall.name}" first, then call it again.`,
      );
    },
  });
}
