import type { Logger } from "pino";
import type { Agent, Thread } from "../../actors/agent-contract.ts";
import { threadStream } from "../../events/envelope.ts";
import type { Json } from "../../events/json.ts";
import type { Store } from "../../events/store.ts";
import type { OpenProjections } from "../../projections/open-projections.ts";
import { type ListedThread, threadList } from "../../projections/thread-list.ts";
import type { Assistants } from "./compat/assistant-records.ts";
import { eventAt } from "./compat/checkpoint-id.ts";
import type { RunDirectory } from "./compat/run-directory.ts";
import type { RunLine } from "./compat/run-line.ts";
import type { WireOptions } from "./compat/wire-values.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { RedactedReads } from "./redacted-reads.ts";
import type { ServerConfig } from "./server-config.ts";

/** Everything that the routes of one server share. */
export interface Served {
  /** Agents by the name under which clients ask for them. */
  readonly agents: ReadonlyMap<string, Agent>;
  /** Read without what was redacted. */
  readonly store: Store;
  /** The same store with everything that it holds: to write, verify and copy. */
  readonly whole: Store;
  readonly redacted: RedactedReads;
  readonly projections: OpenProjections;
  readonly assistants: Assistants;
  readonly runs: RunDirectory;
  /** Runs that stand in line, in the store. */
  readonly line: RunLine;
  readonly config: ServerConfig;
  readonly logger: Logger;
  readonly metrics: ServerMetrics;
  /** Aborted when the server begins to stop: no run starts. */
  readonly stopping: AbortSignal;
  /** Aborted when it has no more runs: streams end. */
  readonly closing: AbortSignal;
  /** Work that goes on after its answer; the server waits for it before it is stopped. */
  readonly background: Set<Promise<void>>;
}

/** How a thread began, as far as requests need it. */
export interface ThreadOrigin {
  readonly createdAt: string;
  readonly owner: string | undefined;
}

/** Threads whose origin is remembered. */
const maxOrigins = 10_000;
const originsByStore = new WeakMap<Store, Map<string, ThreadOrigin>>();

/** How a thread began; undefined: there is no such thread. */
export async function originOf(
  { store }: Pick<Served, "store">,
  threadId: string,
): Promise<ThreadOrigin | undefined> {
  if (!/^[A-Za-z0-9._:-]{1,150}$/.test(threadId)) return undefined;
  const stream = threadStream(threadId);
  const { version, deleted } = await store.log.head(stream);
  if (version === 0 || deleted) return undefined;
  const origins = originsByStore.get(store) ?? new Map<string, ThreadOrigin>();
  originsByStore.set(store, origins);
  // The first event of a stream stays what it is.
  const known = origins.get(threadId);
  if (known) return known;
  const first = await eventAt(store.log, stream, 1);
  if (!first) return undefined;
  const { metadata } = first.data as { metadata?: Readonly<Record<string, Json>> };
  const owner = metadata?.owner;
  const origin = { createdAt: first.recordedAt, owner: typeof owner === "string" ? owner : undefined };
  origins.set(threadId, origin);
  const [oldest] = origins.keys();
  if (origins.size > maxOrigins && oldest !== undefined) origins.delete(oldest);
  return origin;
}

/** The row of a thread in the list, with everything that was recorded before the call. */
export async function listedThread(
  served: Pick<Served, "projections">,
  threadId: string,
): Promise<ListedThread | undefined> {
  await caughtUp(served);
  return served.projections.view(threadList).get(threadId);
}

/** Resolves when the thread list holds everything that was recorded before the call. */
export async function caughtUp({ projections }: Pick<Served, "projections">): Promise<void> {
  const list = projections.runs.find((run) => run.projection.name === threadList.name);
  for (;;) {
    const lag = await list?.lag();
    if (!lag || lag.events === 0) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** The agent that reads a thread: that of its graph, else the first one. */
export function agentFor(served: Pick<Served, "agents">, graphId: unknown): Agent {
  const named = typeof graphId === "string" ? served.agents.get(graphId) : undefined;
  const [first] = served.agents.values();
  const agent = named ?? first;
  if (!agent) throw new Error("The server has no agents.");
  return agent;
}

/** The graph that a thread belongs to, as far as that matters here. */
async function graphOf(
  served: Pick<Served, "agents" | "projections" | "runs">,
  threadId: string,
): Promise<unknown> {
  if (served.agents.size === 1) return undefined;
  return served.runs.graphOf(threadId) ?? (await listedThread(served, threadId))?.metadata.graph_id;
}

/** A thread with the agent of its graph, with everything that it holds. */
export async function wholeThread(
  served: Pick<Served, "agents" | "projections" | "runs">,
  threadId: string,
): Promise<Thread> {
  return agentFor(served, await graphOf(served, threadId)).thread(threadId);
}

/** A thread with the agent of a graph. Its states are shown without what was redacted. */
export function shownThread(
  served: Pick<Served, "agents" | "redacted">,
  graphId: unknown,
  threadId: string,
): Thread {
  const agent = agentFor(served, graphId);
  return served.redacted.shown(agent.thread(threadId), agent);
}

/** A thread with the agent of its graph. Its states are shown without what was redacted. */
export async function threadFor(
  served: Pick<Served, "agents" | "projections" | "runs" | "redacted">,
  threadId: string,
): Promise<Thread> {
  return shownThread(served, await graphOf(served, threadId), threadId);
}

/** How the values of a thread are written. */
export function wireOptionsFor(
  { store, config }: Pick<Served, "store" | "config">,
  threadId: string,
  inlineBlobBytes: number = config.inlineBlobBytes,
): WireOptions {
  return {
    blobs: store.blobsFor?.(threadId) ?? store.blobs,
    inlineBlobBytes,
    blobPath: `/log/v1/threads/${threadId}/blobs`,
  };
}
