import { type RecordedEvent, threadIdOf, threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { describeAction } from "./audit-trail.ts";
import { checkVersion } from "./lineage.ts";
import { addTokens, costOf, noTokens, type PriceTable, type TokenCounts, tokensOf } from "./prices.ts";

export type TraceKind = "run" | "model" | "tool" | "event";

/** One node of a trace: something that took time, or an event that it led to. */
export interface TraceNode {
  readonly kind: TraceKind;
  /** Run id, call id, or event id. */
  readonly id: string;
  /** Name of the model or tool, or what happened, in words. */
  readonly name: string;
  readonly threadId: string;
  /** Version at which it began. */
  readonly version: number;
  /** Version at which it ended; undefined: it has not. */
  readonly endVersion: number | undefined;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string | undefined;
  /** Milliseconds; undefined while it goes on. */
  readonly durationMs: number | undefined;
  readonly status: "open" | "ok" | "failed" | "cancelled" | "interrupted" | "abandoned";
  /** Its own and those of everything below it. */
  readonly tokens: TokenCounts;
  /** In the table's currency; undefined without a price. */
  readonly cost: number | undefined;
  readonly children: readonly TraceNode[];
}

export interface TraceOptions {
  /** Only this run. */
  readonly runId?: string;
  readonly prices?: PriceTable;
  /** Also the runs of sub-agents, below the tool call that asked for them; the log is searched for their threads. */
  readonly delegated?: boolean;
}

interface Draft {
  readonly kind: TraceKind;
  readonly id: string;
  readonly name: string;
  readonly start: RecordedEvent;
  end: RecordedEvent | undefined;
  status: TraceNode["status"];
  durationMs: number | undefined;
  tokens: TokenCounts;
  failedTries: number;
  readonly children: Draft[];
}

const runEnds: Readonly<Record<string, TraceNode["status"]>> = {
  RunCompleted: "ok",
  RunFailed: "failed",
  RunCancelled: "cancelled",
  RunInterrupted: "interrupted",
};
const toolEnds: Readonly<Record<string, TraceNode["status"]>> = {
  ToolCallCompleted: "ok",
  ToolCallFailed: "failed",
  ToolCallAbandoned: "abandoned",
};

interface AnyData {
  readonly runId?: string;
  readonly callId?: string;
  readonly model?: string;
  readonly name?: string;
  readonly message?: { readonly tool_calls?: readonly { readonly id?: string }[] };
  readonly usage?: { readonly [key: string]: unknown };
  readonly latencyMs?: number;
  readonly durationMs?: number;
}

function draftOf(kind: TraceKind, id: string, name: string, start: RecordedEvent): Draft {
  const status = kind === "event" ? "ok" : "open";
  const durationMs = kind === "event" ? 0 : undefined;
  const end = kind === "event" ? start : undefined;
  return { kind, id, name, start, end, status, durationMs, tokens: noTokens, failedTries: 0, children: [] };
}

/** Puts the events of one stream into trees, one for each run, and one for each event outside of runs. */
function buildForest(events: Iterable<RecordedEvent>): Draft[] {
  const roots: Draft[] = [];
  const runs = new Map<string, Draft>();
  const calls = new Map<string, Draft>();
  /** Which node an event belongs to, by its id: where its effects hang. */
  const owners = new Map<string, Draft>();
  /** The model call that asked for a tool call. */
  const askedBy = new Map<string, Draft>();

  const runOf = (event: RecordedEvent) => runs.get(event.metadata.runId ?? "");
  const parentOf = (event: RecordedEvent) => {
    const { causationId } = event.metadata;
    return (causationId === event.id ? undefined : owners.get(causationId)) ?? runOf(event);
  };
  const attach = (draft: Draft, parent: Draft | undefined, event: RecordedEvent) => {
    (parent?.children ?? roots).push(draft);
    owners.set(event.id, draft);
  };
  const finish = (draft: Draft, event: RecordedEvent, status: TraceNode["status"], durationMs?: number) => {
    draft.end = event;
    draft.status = status;
    draft.durationMs =
      durationMs ?? Math.max(0, Date.parse(event.recordedAt) - Date.parse(draft.start.recordedAt));
    owners.set(event.id, draft);
  };

  for (const event of events) {
    const data = event.data as AnyData;
    const call = data.callId === undefined ? undefined : calls.get(data.callId);
    if (event.type === "RunStarted") {
      const run = draftOf("run", data.runId ?? event.id, `run ${data.runId}`, event);
      runs.set(run.id, run);
      attach(run, undefined, event);
    } else if (Object.hasOwn(runEnds, event.type)) {
      const run = runs.get(data.runId ?? "");
      if (run) finish(run, event, runEnds[event.type] ?? "ok");
    } else if (event.type === "ModelCallStarted" && data.callId !== undefined) {
      // The same call asked again after a failure or a restart goes on in its node.
      if (call && call.status !== "ok") {
        call.status = "open";
        owners.set(event.id, call);
      } else {
        const model = draftOf("model", data.callId, data.model ?? "", event);
        calls.set(model.id, model);
        // Calls follow each other; each hangs on its run, not on what came before it.
        attach(model, runOf(event) ?? parentOf(event), event);
      }
    } else if (event.type === "ModelResponded" && call) {
      call.tokens = addTokens(call.tokens, tokensOf(data.usage));
      finish(call, event, "ok", data.latencyMs);
      for (const { id } of data.message?.tool_calls ?? []) if (id !== undefined) askedBy.set(id, call);
    } else if (event.type === "ModelCallFailed" && call) {
      call.failedTries += 1;
      finish(call, event, "failed");
    } else if (event.type === "ToolCallStarted" && data.callId !== undefined) {
      const tool = draftOf("tool", data.callId, data.name ?? "", event);
      calls.set(tool.id, tool);
      attach(tool, askedBy.get(tool.id) ?? parentOf(event), event);
    } else if (Object.hasOwn(toolEnds, event.type) && data.callId !== undefined) {
      const tool = call ?? draftOf("tool", data.callId, "", event);
      if (!call) attach(tool, askedBy.get(data.callId) ?? parentOf(event), event);
      finish(tool, event, toolEnds[event.type] ?? "ok", data.durationMs);
    } else {
      attach(draftOf("event", event.id, describeAction(event), event), parentOf(event), event);
    }
  }
  return roots;
}

function nodeOf(
  draft: Draft,
  prices: PriceTable | undefined,
  delegated: ReadonlyMap<string, TraceNode[]>,
): TraceNode {
  const { kind, id, start, end, status, durationMs } = draft;
  const threadId = threadIdOf(start.stream) ?? start.stream;
  const below = kind === "tool" ? (delegated.get(`${threadId}\n${id}`) ?? []) : [];
  const children = [...draft.children.map((child) => nodeOf(child, prices, delegated)), ...below];
  const own = kind === "model" && prices ? costOf(draft.name, draft.tokens, prices) : undefined;
  const costs = [own, ...children.map(({ cost }) => cost)].filter((cost) => cost !== undefined);
  return {
    kind,
    id,
    name: draft.failedTries > 0 ? `${draft.name} (${draft.failedTries} failed)` : draft.name,
    threadId,
    version: start.version,
    endVersion: end?.version,
    startedAt: start.recordedAt,
    endedAt: end?.recordedAt,
    durationMs,
    status,
    tokens: children.reduce((sum, child) => addTokens(sum, child.tokens), draft.tokens),
    cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
    children,
  };
}

async function readStream(log: EventLog, stream: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of log.read(stream)) events.push(...page);
  return events;
}

interface Delegation {
  readonly stream: string;
  readonly runId: string;
  readonly parent: { readonly threadId: string; readonly callId: string };
}

async function findDelegations(log: EventLog): Promise<Delegation[]> {
  const found: Delegation[] = [];
  for await (const page of log.readAll({ types: ["RunStarted"] })) {
    for (const { stream, data } of page) {
      const { runId, parent } = data as unknown as { runId: string; parent?: Delegation["parent"] };
      if (parent) found.push({ stream, runId, parent });
    }
  }
  return found;
}

/**
 * What a thread did, as trees: run → model call → tool call → effects, with times, tokens and cost. A tool call hangs
 * on the model call that asked for it, every other event on what caused it.
 *
 * @throws {UnknownThreadError}
 * @example
 * const [run] = await readTrace(store.log, "0190c3…", { prices });
 * run?.children; // model calls
 */
export async function readTrace(
  log: EventLog,
  threadId: string,
  options: TraceOptions = {},
): Promise<readonly TraceNode[]> {
  const { runId, prices, delegated: withDelegated = false } = options;
  const stream = threadStream(threadId);
  await checkVersion(log, stream, undefined);
  const delegations = withDelegated ? await findDelegations(log) : [];

  const traceOf = async (of: string, seen: ReadonlySet<string>): Promise<TraceNode[]> => {
    const id = threadIdOf(of) ?? of;
    const below = new Map<string, TraceNode[]>();
    for (const { stream: child, runId: childRun, parent } of delegations) {
      if (parent.threadId !== id || seen.has(child)) continue;
      const key = `${id}\n${parent.callId}`;
      const nodes = await traceOf(child, new Set([...seen, child]));
      const asked = nodes.filter((node) => node.kind === "run" && node.id === childRun);
      below.set(key, [...(below.get(key) ?? []), ...asked]);
    }
    return buildForest(await readStream(log, of)).map((draft) => nodeOf(draft, prices, below));
  };
  const forest = await traceOf(stream, new Set([stream]));
  return runId === undefined ? forest : forest.filter((node) => node.kind === "run" && node.id === runId);
}
