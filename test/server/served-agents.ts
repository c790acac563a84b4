import { Client } from "@langchain/langgraph-sdk";
import { afterEach } from "vitest";
import type { Agent, AgentOptions } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { type RunningServer, type StartServerOptions, startServer } from "../../apps/server/index.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { ScriptedModel, type ScriptedModelOptions } from "../actors/scripted-model.ts";

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const work of cleanUps.splice(0).reverse()) await work();
});

/** Runs after the test, before what was registered earlier. */
export function afterTest(work: () => Promise<void>): void {
  cleanUps.push(work);
}

export interface ServedAgents {
  readonly server: RunningServer;
  readonly client: Client;
  readonly store: Store;
  readonly agent: Agent;
  /** A request to a path of the server. */
  request(path: string, init?: RequestInit & { readonly json?: unknown }): Promise<Response>;
}

/** A server on a free port with one agent, `agent`, and a client of it. */
export async function serveAgent(
  options: {
    readonly answers?: ScriptedModelOptions["answers"];
    readonly model?: ScriptedModelOptions;
    readonly agent?: Partial<AgentOptions>;
    readonly server?: Partial<StartServerOptions>;
    readonly store?: Store | string;
    readonly title?: boolean;
  } = {},
): Promise<ServedAgents> {
  const given = options.store ?? "memory:";
  const store = typeof given === "string" ? await openStore(given) : given;
  if (typeof given === "string") afterTest(() => store.close());
  const model = new ScriptedModel({
    answers: options.answers ?? ["Hello there."],
    streaming: true,
    ...options.model,
  });
  const agent = createAgent({
    model,
    store,
    middleware: options.title === false ? [] : [titleMiddleware()],
    ...options.agent,
  });
  afterTest(() => agent.close());
  const server = await startServer({ agents: { agent }, store, port: 0, graceMs: 0, ...options.server });
  afterTest(() => server.stop());
  return {
    server,
    store,
    agent,
    client: new Client({ apiUrl: server.url, callerOptions: { maxRetries: 0 } }),
    request(path, { json, ...init } = {}) {
      const body = json === undefined ? {} : { body: JSON.stringify(json), method: "POST" };
      const headers = { "content-type": "application/json", ...init.headers };
      return fetch(`${server.url}${path}`, { ...body, ...init, headers });
    },
  };
}

/** All parts of a stream. */
export async function collect<Part>(stream: AsyncIterable<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}
