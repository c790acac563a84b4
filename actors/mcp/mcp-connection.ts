import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import type { McpServerConfig } from "./mcp-config.ts";

/** An MCP server cannot be started or reached, or did not answer in time. */
export class McpConnectionError extends Error {
  override readonly name = "McpConnectionError";
  constructor(
    readonly server: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`The MCP server "${server}" ${reason}.`, options);
  }
}

/** A call of an MCP tool failed on the way, not in the tool. */
export class McpCallError extends Error {
  override readonly name = "McpCallError";
  constructor(
    readonly server: string,
    readonly tool: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super(`The tool ${tool} of the MCP server "${server}" ${reason}.`, options);
  }
}

/** Pages of a tool list at most: a server that never ends its list is cut off here. */
const maxToolPages = 100;
const defaultConnectTimeoutMs = 10_000;
const defaultCallTimeoutMs = 60_000;

export interface McpConnection {
  /** Tools of the server when it was last asked. */
  listed(): readonly Tool[];
  /** Starts the server or connects to it, unless it is up. @throws {McpConnectionError} */
  connect(): Promise<void>;
  /** @throws {McpCallError} @throws {McpConnectionError} */
  call(tool: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
}

/** Codes of the SDK's errors: it is loaded with the first server, so that agents without servers do not pay for it. */
const requestTimeout = -32001;
const connectionClosed = -32000;

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

async function transportFor(config: McpServerConfig): Promise<Transport> {
  if ("url" in config) {
    const { StreamableHTTPClientTransport } = await import(
      "@modelcontextprotocol/sdk/client/streamableHttp.js"
    );
    // The SDK's own transport types disagree about optional keys.
    return new StreamableHTTPClientTransport(new URL(config.url), {
      requestInit: { headers: { ...config.headers } },
    }) as Transport;
  }
  const { getDefaultEnvironment, StdioClientTransport } = await import(
    "@modelcontextprotocol/sdk/client/stdio.js"
  );
  const { command, args = [], env = {}, cwd, maxMessageBytes } = config;
  return new StdioClientTransport({
    command,
    args,
    env: { ...getDefaultEnvironment(), ...env },
    stderr: "ignore",
    ...(cwd === undefined ? {} : { cwd }),
    ...(maxMessageBytes === undefined ? {} : { maxBufferSize: maxMessageBytes }),
  });
}

async function listTools(client: Client, timeout: number): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxToolPages; page++) {
    const answer = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout });
    tools.push(...answer.tools);
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * One MCP server: started at the first call and again after it died, asked for its tools at each start and whenever it
 * says that they changed.
 *
 * @param onTools called after each list, also when it is the same
 */
export function createMcpConnection(
  server: string,
  config: McpServerConfig,
  onTools: (tools: readonly Tool[]) => void,
): McpConnection {
  const { connectTimeoutMs = defaultConnectTimeoutMs, callTimeoutMs = defaultCallTimeoutMs } = config;
  let tools: readonly Tool[] = [];
  let up: Promise<Client> | undefined;
  let closed = false;

  const take = (list: readonly Tool[]) => {
    tools = list;
    onTools(list);
  };
  const start = async (): Promise<Client> => {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { ToolListChangedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
    const client = new Client({ name: "threadfold", version: "1" });
    client.onclose = () => {
      up = undefined;
    };
    // Without an observer the client would throw what a broken server sends.
    client.onerror = () => undefined;
    client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
      // The list that is known stays in force when the new one does not come.
      await listTools(client, callTimeoutMs).then(take, () => undefined);
    });
    try {
      await client.connect(await transportFor(config), { timeout: connectTimeoutMs });
      take(await listTools(client, connectTimeoutMs));
      return client;
    } catch (cause) {
      await client.close().catch(() => undefined);
      const late = codeOf(cause) === requestTimeout;
      const reason = late
        ? `did not come up within ${connectTimeoutMs} ms. Start it by hand to see why`
        : `cannot be used: ${textOf(cause)}. Check its command or address`;
      throw new McpConnectionError(server, reason, { cause });
    }
  };
  const connected = (): Promise<Client> => {
    if (closed) return Promise.reject(new McpConnectionError(server, "was closed. Open it again"));
    if (!up) {
      const starting = start();
      up = starting;
      starting.catch(() => {
        if (up === starting) up = undefined;
      });
    }
    return up;
  };
  const reasonOf = (error: unknown): string => {
    const code = codeOf(error);
    if (code === requestTimeout) {
      return `gave no answer within ${callTimeoutMs} ms, and the call was given up. Try again with less to do, or do without it`;
    }
    if (code === connectionClosed || /not connected|EPIPE|fetch failed/i.test(textOf(error))) {
      return "did not answer: the server ended or sent more than can be read. It is started again at the next call";
    }
    return `failed: ${textOf(error)}`;
  };

  return {
    listed: () => tools,
    connect: async () => {
      await connected();
    },
    async call(tool, args, signal) {
      const client = await connected();
      try {
        const options = { timeout: callTimeoutMs, signal };
        return (await client.callTool({ name: tool, arguments: args }, undefined, options)) as CallToolResult;
      } catch (cause) {
        if (signal.aborted) throw cause;
        throw new McpCallError(server, tool, reasonOf(cause), { cause });
      }
    },
    async close() {
      closed = true;
      const client = await up?.catch(() => undefined);
      await client?.close();
    },
  };
}
