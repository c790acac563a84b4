import { existsSync } from "node:fs";
import type { BaseMessage } from "@langchain/core/messages";
import type { LangChainCore } from "../work.ts";

/** The peers of the bench are not installed. */
class PeersMissingError extends Error {
  override readonly name = "PeersMissingError";
  constructor() {
    super(
      "LangGraph.js is not installed for the bench. Run `npm run bench:install` (it compiles for minutes) first.",
    );
  }
}

export interface Config {
  readonly configurable: { readonly thread_id: string; readonly checkpoint_id?: string };
  readonly signal?: AbortSignal;
  readonly durability?: "async" | "sync" | "exit";
  readonly recursionLimit?: number;
}

export interface GraphSnapshot {
  readonly values: { readonly messages?: readonly BaseMessage[]; readonly [field: string]: unknown };
  readonly next: readonly string[];
  readonly config: Config;
}

interface GraphResult {
  readonly messages: readonly BaseMessage[];
  readonly __interrupt__?: readonly { readonly id: string; readonly value: unknown }[];
}

/** The few methods of a `createAgent` agent that the bench calls. */
interface GraphAgent {
  invoke(input: unknown, config: Config): Promise<GraphResult>;
  getState(config: Config): Promise<GraphSnapshot>;
  getStateHistory(config: Config, options?: { limit: number }): AsyncIterable<GraphSnapshot>;
}

export interface Checkpointer {
  setup?(): Promise<void>;
  end?(): Promise<void>;
  readonly db?: { pragma(text: string): unknown; close(): void };
}

/** A function of LangChain's whose options the bench writes as plain data. */
type Maker<Result = unknown> = (...options: unknown[]) => Result;

interface LangGraphPackages extends LangChainCore {
  readonly sqlite: { readonly SqliteSaver: { fromConnString(path: string): Checkpointer } };
  readonly postgres: { readonly PostgresSaver: { fromConnString(url: string): Checkpointer } };
  readonly langgraph: {
    readonly MemorySaver: new () => Checkpointer;
    readonly Command: new (options: object) => object;
    readonly interrupt: Maker;
  };
  readonly langchain: {
    createAgent(options: object): GraphAgent;
    tool(run: Maker, options: object): object;
    readonly createMiddleware: Maker<object>;
    readonly humanInTheLoopMiddleware: Maker<object>;
    readonly modelCallLimitMiddleware: Maker<object>;
    readonly toolRetryMiddleware: Maker<object>;
    readonly ToolMessage: new (fields: object) => BaseMessage;
  };
}

const packages = new URL("../peers/node_modules", import.meta.url);
const entry = new URL("../peers/load.js", import.meta.url);

/** True when `npm run bench:install` was run. */
export const peersInstalled = (): boolean => existsSync(packages);

/** Loads the pinned packages. @throws {PeersMissingError} */
export async function loadLangGraph(): Promise<LangGraphPackages> {
  if (!peersInstalled()) throw new PeersMissingError();
  return import(entry.href);
}
