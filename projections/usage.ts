import { type BriefEvent, threadIdOf } from "../events/envelope.ts";
import { defineProjection, type Rows } from "./define-projection.ts";
import { addTokens, costOf, noTokens, type PriceTable, type TokenCounts, tokensOf } from "./prices.ts";
import type { ProjectionView } from "./projection-view.ts";

export interface ModelUsage extends TokenCounts {
  readonly calls: number;
  readonly failedCalls: number;
  /** Milliseconds that answered calls took, together. */
  readonly latencyMs: number;
}

/** Usage of one model, run or thread; or a call that has no answer yet. */
export type UsageRow =
  | {
      readonly kind: "model" | "run" | "thread" | "total";
      readonly id: string;
      readonly threadId: string | null;
      readonly lastAt: string;
      readonly models: { readonly [model: string]: ModelUsage };
    }
  | { readonly kind: "call"; readonly model: string };

type UsageRows = Rows<UsageRow>;

const noUsage: ModelUsage = { ...noTokens, calls: 0, failedCalls: 0, latencyMs: 0 };

/** Model of a call whose start is not in the log. */
const unknownModel = "unknown";

const callKey = (event: Pick<BriefEvent, "stream">, callId: string) => `call/${event.stream}/${callId}`;

function addTo(
  rows: UsageRows,
  key: string,
  row: { kind: "model" | "run" | "thread" | "total"; id: string; threadId: string | null; lastAt: string },
  model: string,
  added: ModelUsage,
): void {
  const before = rows.get(key);
  const models = before && before.kind !== "call" ? before.models : {};
  const usage = Object.hasOwn(models, model) ? (models[model] ?? noUsage) : noUsage;
  const sum: ModelUsage = {
    ...addTokens(usage, added),
    calls: usage.calls + added.calls,
    failedCalls: usage.failedCalls + added.failedCalls,
    latencyMs: usage.latencyMs + added.latencyMs,
  };
  rows.put(key, { ...row, models: Object.fromEntries([...Object.entries(models), [model, sum]]) });
}

function count(rows: UsageRows, event: Omit<BriefEvent, "data">, callId: string, added: ModelUsage): void {
  const call = rows.get(callKey(event, callId));
  const model = call?.kind === "call" ? call.model : unknownModel;
  const threadId = threadIdOf(event.stream) ?? event.stream;
  const { runId } = event.metadata;
  const lastAt = event.recordedAt;
  addTo(rows, "total", { kind: "total", id: "total", threadId: null, lastAt }, model, added);
  addTo(rows, `model/${model}`, { kind: "model", id: model, threadId: null, lastAt }, model, added);
  addTo(rows, `thread/${threadId}`, { kind: "thread", id: threadId, threadId, lastAt }, model, added);
  if (runId !== undefined) {
    addTo(rows, `run/${threadId}/${runId}`, { kind: "run", id: runId, threadId, lastAt }, model, added);
  }
}

/** Tokens and calls by model, run and thread. A rewind gives nothing back: what was asked was paid for. */
export const usage = defineProjection<UsageRow, "brief">({
  name: "usage",
  version: 1,
  envelope: "brief",
  handlers: {
    ModelCallStarted(rows, event) {
      rows.put(callKey(event, event.data.callId), { kind: "call", model: event.data.model });
    },
    ModelResponded(rows, event) {
      const { callId, latencyMs } = event.data;
      count(rows, event, callId, {
        ...noUsage,
        ...tokensOf(event.data.usage),
        calls: 1,
        latencyMs,
      });
      rows.delete(callKey(event, callId));
    },
    // The same call may be tried again, so its row stays.
    ModelCallFailed: (rows, event) => count(rows, event, event.data.callId, { ...noUsage, failedCalls: 1 }),
  },
});

/** Usage of one model, run, thread or of everything. */
export interface UsageReport extends ModelUsage {
  readonly kind: "model" | "run" | "thread" | "total";
  readonly id: string;
  readonly threadId: string | null;
  readonly lastAt: string;
  /** In the table's currency; undefined without a table. Models without a price are not in it. */
  readonly cost: number | undefined;
  /** Models that were used and have no price in the table. */
  readonly unpriced: readonly string[];
}

function report(row: Exclude<UsageRow, { kind: "call" }>, prices: PriceTable | undefined): UsageReport {
  const { kind, id, threadId, lastAt, models } = row;
  let sum = noUsage;
  let cost = 0;
  const unpriced: string[] = [];
  for (const [model, part] of Object.entries(models)) {
    sum = {
      ...addTokens(sum, part),
      calls: sum.calls + part.calls,
      failedCalls: sum.failedCalls + part.failedCalls,
      latencyMs: sum.latencyMs + part.latencyMs,
    };
    const price = prices && costOf(model, part, prices);
    if (price === undefined) unpriced.push(model);
    else cost += price;
  }
  return { kind, id, threadId, lastAt, ...sum, cost: prices && cost, unpriced: prices ? unpriced : [] };
}

/**
 * Usage and cost of all models, of all threads, of the runs of one thread, or of everything together.
 *
 * @example
 * await readUsage(viewOf(projectionStore, usage), { by: "run", threadId: "t", prices });
 */
export async function readUsage(
  view: ProjectionView<UsageRow>,
  query:
    | { readonly by: "model" | "thread" | "total"; readonly prices?: PriceTable }
    | { readonly by: "run"; readonly threadId?: string; readonly prices?: PriceTable },
): Promise<readonly UsageReport[]> {
  const prefix =
    query.by === "total"
      ? "total"
      : `${query.by}/${query.by === "run" && query.threadId !== undefined ? `${query.threadId}/` : ""}`;
  const found = await view.list({ prefix });
  return found.flatMap(({ row }) => (row.kind === "call" ? [] : [report(row, query.prices)]));
}
