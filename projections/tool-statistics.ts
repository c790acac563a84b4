import type { BriefEvent } from "../events/envelope.ts";
import { defineProjection, type Rows } from "./define-projection.ts";
import type { ProjectionView } from "./projection-view.ts";

interface ToolRow {
  readonly kind: "tool";
  readonly name: string;
  readonly calls: number;
  readonly completed: number;
  readonly failed: number;
  readonly abandoned: number;
  readonly totalMs: number;
  readonly maxMs: number;
  readonly lastAt: string;
  /** Calls by duration: the n-th took less than 2^n milliseconds and no less than 2^(n-1). */
  readonly buckets: readonly number[];
}

/** Calls of one tool over all threads; or a call that has no result yet. */
export type ToolStatisticsRow = ToolRow | { readonly kind: "call"; readonly name: string };

type ToolRows = Rows<ToolStatisticsRow>;
type Outcome = "completed" | "failed" | "abandoned";

const callKey = (event: Pick<BriefEvent, "stream">, callId: string) => `call/${event.stream}/${callId}`;

function toolRow(rows: ToolRows, name: string, lastAt: string): ToolRow {
  const row = rows.get(`tool/${name}`);
  if (row?.kind === "tool") return { ...row, lastAt };
  const none = { calls: 0, completed: 0, failed: 0, abandoned: 0, totalMs: 0, maxMs: 0 };
  return { kind: "tool", name, ...none, lastAt, buckets: [] };
}

function end(
  rows: ToolRows,
  event: Omit<BriefEvent, "data">,
  callId: string,
  outcome: Outcome,
  durationMs?: number,
): void {
  const key = callKey(event, callId);
  const call = rows.get(key);
  // A call that never started has no tool to count it for.
  if (call?.kind !== "call") return;
  rows.delete(key);
  const row = toolRow(rows, call.name, event.recordedAt);
  const counted = { ...row, [outcome]: row[outcome] + 1 };
  if (durationMs === undefined) {
    rows.put(`tool/${call.name}`, counted);
    return;
  }
  const bucket = durationMs < 1 ? 0 : Math.floor(Math.log2(durationMs)) + 1;
  const buckets = Array.from(
    { length: Math.max(bucket + 1, row.buckets.length) },
    (_, index) => (row.buckets[index] ?? 0) + (index === bucket ? 1 : 0),
  );
  rows.put(`tool/${call.name}`, {
    ...counted,
    totalMs: row.totalMs + durationMs,
    maxMs: Math.max(row.maxMs, durationMs),
    buckets,
  });
}

/** How often each tool was called, how it ended and how long it took. */
export const toolStatistics = defineProjection<ToolStatisticsRow, "brief">({
  name: "tool-statistics",
  version: 1,
  envelope: "brief",
  handlers: {
    ToolCallStarted(rows, event) {
      const { callId, name } = event.data;
      rows.put(callKey(event, callId), { kind: "call", name });
      const row = toolRow(rows, name, event.recordedAt);
      rows.put(`tool/${name}`, { ...row, calls: row.calls + 1 });
    },
    ToolCallCompleted: (rows, event) =>
      end(rows, event, event.data.callId, "completed", event.data.durationMs),
    ToolCallFailed: (rows, event) => end(rows, event, event.data.callId, "failed", event.data.durationMs),
    ToolCallAbandoned: (rows, event) => end(rows, event, event.data.callId, "abandoned"),
  },
});

export interface ToolStatistics extends Omit<ToolRow, "kind" | "buckets"> {
  /** Calls without a result. */
  readonly open: number;
  /** Upper bounds in milliseconds, exact to a factor of two; undefined: no call ended. */
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
}

function percentile(row: ToolRow, share: number): number | undefined {
  const ended = row.buckets.reduce((sum, calls) => sum + calls, 0);
  let seen = 0;
  for (const [index, calls] of row.buckets.entries()) {
    seen += calls;
    if (calls > 0 && seen >= ended * share) return Math.min(2 ** index, row.maxMs);
  }
  return undefined;
}

/** Statistics of all tools, by name. */
export async function readToolStatistics(
  view: ProjectionView<ToolStatisticsRow>,
): Promise<readonly ToolStatistics[]> {
  const found = await view.list({ prefix: "tool/" });
  return found
    .flatMap(({ row }) => {
      if (row.kind !== "tool") return [];
      const { kind: _, buckets: __, ...numbers } = row;
      const open = row.calls - row.completed - row.failed - row.abandoned;
      return [{ ...numbers, open, p50Ms: percentile(row, 0.5), p95Ms: percentile(row, 0.95) }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
