import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { connectMcp, type McpOptions, type McpTools } from "../../../actors/mcp/connect-mcp.ts";
import type { McpServerConfig } from "../../../actors/mcp/mcp-config.ts";
import type { ToolDefinition, ToolResult } from "../../../actors/tools/define-tool.ts";
import { hookState, toolRuntime } from "../middleware/hook-bench.ts";

const serverFile = fileURLToPath(new URL("./mcp-server.mjs", import.meta.url));

export function testServer(options: { args?: string[] } & Partial<McpServerConfig> = {}): McpServerConfig {
  const { args = [], ...rest } = options;
  return { command: process.execPath, args: [serverFile, ...args], ...rest } as McpServerConfig;
}

/** Connects servers and ends them with the test. */
export async function connected(
  servers: McpOptions["servers"],
  options: Partial<McpOptions> = {},
): Promise<McpTools> {
  const mcp = await connectMcp({ servers, ...options });
  onTestFinished(() => mcp.close());
  return mcp;
}

/** Calls a tool by name. */
export async function callMcp(
  mcp: McpTools,
  name: string,
  args: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<ToolResult & { runtime: ReturnType<typeof toolRuntime> }> {
  const tool = mcp.tools().find((candidate) => candidate.name === name) as ToolDefinition | undefined;
  if (!tool) throw new Error(`There is no tool ${name}.`);
  const runtime = toolRuntime(hookState([]), signal ? { signal } : {});
  return { ...((await tool.run(args, runtime)) as ToolResult), runtime };
}
