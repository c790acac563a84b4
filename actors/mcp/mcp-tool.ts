import { createHash } from "node:crypto";
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../tools/define-tool.ts";
import type { McpConnection } from "./mcp-connection.ts";
import { readMcpResult } from "./mcp-result.ts";

/** Longest tool name that all providers take. */
const maxNameLength = 64;
/** Longest description, in characters: a server cannot fill the context with it. */
const maxDescriptionLength = 4_000;

/**
 * Name of a server's tool for the model: the server's name as prefix, so that it never hides a tool of the agent, and
 * only characters that providers take.
 *
 * @example
 * mcpToolName("git", "log/show"); // "git_log_show"
 */
export function mcpToolName(server: string, tool: string): string {
  const name = `${server}_${tool}`.replace(/[^A-Za-z0-9_-]/g, "_");
  if (name.length <= maxNameLength) return name;
  const digest = createHash("sha256").update(tool).digest("hex").slice(0, 8);
  return `${name.slice(0, maxNameLength - 9)}_${digest}`;
}

/** Any object of arguments, shown to the model as the server's own JSON Schema: the server checks what it gets. */
function schemaOf(tool: Tool): z.ZodType<Record<string, unknown>> {
  const schema = z.record(z.string(), z.unknown());
  schema._zod.toJSONSchema = () => tool.inputSchema;
  return schema;
}

/** A tool of an MCP server as a tool of an agent. */
export function mcpTool(
  server: string,
  tool: Tool,
  connection: Pick<McpConnection, "call">,
  maxBytes?: number,
): ToolDefinition<Record<string, unknown>> {
  return defineTool({
    name: mcpToolName(server, tool.name),
    description: (tool.description ?? tool.title ?? "").slice(0, maxDescriptionLength).toWellFormed(),
    schema: schemaOf(tool),
    idempotent: tool.annotations?.readOnlyHint === true || tool.annotations?.idempotentHint === true,
    run: async (args, runtime) =>
      readMcpResult(await connection.call(tool.name, args, runtime.signal), runtime.blobs, maxBytes),
  });
}
