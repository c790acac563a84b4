import type { z } from "zod";
import { lazySchema } from "../../events/zod.ts";

const timeouts = lazySchema((z) => ({
  /** Milliseconds until a server that does not come up is given up. Default 10,000. */
  connectTimeoutMs: z.number().int().positive().optional(),
  /** Milliseconds until a call without an answer fails. Default 60,000. */
  callTimeoutMs: z.number().int().positive().optional(),
}));

const stdioServer = lazySchema((z) =>
  z.strictObject({
    /** Program that speaks MCP on its standard input and output. */
    command: z.string().min(1),
    args: z.array(z.string()).optional(),
    /** Added to a small safe environment; nothing else of this process's environment reaches the server. */
    env: z.record(z.string(), z.string()).optional(),
    cwd: z.string().optional(),
    /** Longest message in bytes: a server that sends more is ended. Default 10 MiB. */
    maxMessageBytes: z.number().int().positive().optional(),
    ...timeouts(),
  }),
);

const httpServer = lazySchema((z) =>
  z.strictObject({
    /** Address of a server that speaks streamable HTTP. */
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(z.string(), z.string()).optional(),
    ...timeouts(),
  }),
);

/** How to reach one MCP server. */
const mcpServerSchema = lazySchema((z) => z.union([stdioServer(), httpServer()]));
export type McpServerConfig = z.infer<ReturnType<typeof mcpServerSchema>>;

/** Servers by name. The name becomes the prefix of their tools. */
const mcpServersSchema = lazySchema((z) =>
  z.record(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/), mcpServerSchema()),
);

/** The configuration of MCP servers is wrong. */
export class McpConfigError extends Error {
  override readonly name = "McpConfigError";
}

/**
 * Checks a configuration of MCP servers.
 *
 * @throws {McpConfigError} with the path of what is wrong
 */
export function checkMcpServers(servers: unknown): Readonly<Record<string, McpServerConfig>> {
  const result = mcpServersSchema().safeParse(servers);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => `${issue.path.join(".") || "servers"}: ${issue.message}`);
  throw new McpConfigError(
    `The MCP servers are not configured well: ${issues.join("; ")}. A server has a name of letters, digits, _ and -, and either { command, args } or { url }.`,
  );
}
