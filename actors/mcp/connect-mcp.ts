import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { builtInToolNames } from "../tools/built-in-names.ts";
import type { AgentTool } from "../tools/define-tool.ts";
import { checkMcpServers, type McpServerConfig } from "./mcp-config.ts";
import { createMcpConnection, type McpConnection } from "./mcp-connection.ts";
import { mcpTool } from "./mcp-tool.ts";

export interface McpOptions {
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  /** Longest text of one result in UTF-8 bytes. Default 400,000; longer ones are cut. */
  readonly maxResultBytes?: number;
  /** Names of your agents' own tools: a server's tool that comes out alike is left out, as with built-in tools. */
  readonly reservedNames?: readonly string[];
}

/** What is wrong with a server; the others work all the same. */
export interface McpProblem {
  readonly server: string;
  readonly error: Error;
}

/** The tools of several MCP servers. Hand it to `promotedToolsMiddleware`, or its tools to an agent. */
export interface McpTools {
  /** Tools as the servers list them now; the same array while nothing changed. */
  tools(): readonly AgentTool[];
  /** Servers that could not be used when they were last tried, and tools whose names are taken. */
  problems(): readonly McpProblem[];
  /** Tries the servers that are down again. */
  refresh(): Promise<void>;
  /** Ends the servers that were started. */
  close(): Promise<void>;
}

/** Two tools would have the same name. */
export class McpNameError extends Error {
  override readonly name = "McpNameError";
  constructor(
    readonly server: string,
    readonly tool: string,
    readonly takenBy: string,
  ) {
    super(
      `The tool "${tool}" of the MCP server "${server}" is left out: ${takenBy} has a tool of that name. Rename the server.`,
    );
  }
}

/**
 * Connects MCP servers, over standard input and output or HTTP. A server that does not come up is a problem of its
 * own, not of the others; `refresh` tries it again. One that dies later is started again at the next call.
 *
 * @throws {McpConfigError}
 * @example
 * const mcp = await connectMcp({ servers: { git: { command: "uvx", args: ["mcp-server-git"] } } });
 * const agent = createAgent({ model, middleware: [promotedToolsMiddleware({ tools: mcp })] });
 */
export async function connectMcp(options: McpOptions): Promise<McpTools> {
  const servers = checkMcpServers(options.servers);
  const lists = new Map<string, readonly Tool[]>();
  const connections = new Map<string, McpConnection>();
  const failures = new Map<string, Error>();
  let current: { readonly tools: readonly AgentTool[]; readonly clashes: readonly McpProblem[] } | undefined;

  const collect = () => {
    const owners = new Map<string, string>([
      ...(options.reservedNames ?? []).map((name) => [name, "the agent"] as const),
      ...builtInToolNames.map((name) => [name, "the harness"] as const),
    ]);
    const tools: AgentTool[] = [];
    const clashes: McpProblem[] = [];
    for (const [server, connection] of connections) {
      for (const listed of lists.get(server) ?? []) {
        const tool = mcpTool(server, listed, connection, options.maxResultBytes);
        const owner = owners.get(tool.name);
        if (owner === undefined) tools.push(tool);
        else clashes.push({ server, error: new McpNameError(server, listed.name, owner) });
        owners.set(tool.name, owner ?? `the server "${server}"`);
      }
    }
    return { tools, clashes };
  };
  const known = () => {
    current ??= collect();
    return current;
  };
  const refresh = async () => {
    const tries = [...connections].map(async ([server, connection]) => {
      failures.delete(server);
      await connection.connect().catch((error: Error) => failures.set(server, error));
    });
    await Promise.all(tries);
  };

  for (const [server, config] of Object.entries(servers)) {
    const take = (tools: readonly Tool[]) => {
      lists.set(server, tools);
      current = undefined;
    };
    connections.set(server, createMcpConnection(server, config, take));
  }
  await refresh();
  return {
    tools: () => known().tools,
    problems: () => [...[...failures].map(([server, error]) => ({ server, error })), ...known().clashes],
    refresh,
    async close() {
      await Promise.all([...connections.values()].map((connection) => connection.close()));
    },
  };
}
