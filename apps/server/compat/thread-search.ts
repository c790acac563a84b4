import type { z } from "zod";
import type { Json } from "../../../events/json.ts";
import { type ListedThread, threadList } from "../../../projections/thread-list.ts";
import { sameJson } from "../../../reducers/same-json.ts";
import { caughtUp, type Served, shownThread } from "../served.ts";
import type { threadSearchSchema } from "./request-schemas.ts";
import { wireStatus } from "./thread-wire.ts";

type Query = z.output<typeof threadSearchSchema>;

/** Rows that are read at a time. */
const pageRows = 500;

function holds(whole: unknown, part: unknown): boolean {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return sameJson(whole, part);
  if (typeof whole !== "object" || whole === null) return false;
  return Object.entries(part).every(([key, value]) => holds((whole as Record<string, unknown>)[key], value));
}

async function holdsValues(served: Served, row: ListedThread, values: Query["values"]): Promise<boolean> {
  if (!values || Object.keys(values).length === 0) return true;
  const state = await shownThread(served, row.metadata.graph_id, row.threadId).state();
  return holds(state, values);
}

const sortKeys: Readonly<Record<string, (row: ListedThread) => string>> = {
  thread_id: (row) => row.threadId,
  status: (row) => wireStatus(row.status),
  created_at: (row) => row.createdAt,
  updated_at: (row) => row.updatedAt,
  state_updated_at: (row) => row.updatedAt,
};

/** Threads that fit a query, pinned ones first, then the newest, unless it asks for another order. */
export async function findThreads(
  served: Served,
  query: Query,
  owner: string | undefined,
): Promise<{ rows: readonly ListedThread[]; total: number }> {
  await caughtUp(served);
  const view = served.projections.view(threadList);
  const wanted: Record<string, Json> = { ...query.metadata, ...(owner !== undefined && { owner }) };
  const match = Object.entries(wanted).flatMap(([key, equals]) =>
    typeof equals === "object" && equals !== null ? [] : [{ path: ["metadata", key], equals }],
  );
  match.push({ path: ["delegatedBy"], equals: null });
  const found: ListedThread[] = [];
  for (let after: { order: string; key: string } | undefined; ; ) {
    const page = await view.list({ match, limit: pageRows, ...(after && { after }) });
    for (const { row } of page) {
      if (query.ids && !query.ids.includes(row.threadId)) continue;
      if (query.status && wireStatus(row.status) !== query.status) continue;
      if (!holds(row.metadata, wanted) || !(await holdsValues(served, row, query.values))) continue;
      found.push(row);
    }
    after = page.at(-1)?.cursor;
    if (page.length < pageRows) break;
  }
  const key = query.sort_by ? sortKeys[query.sort_by] : undefined;
  if (key) {
    const direction = query.sort_order === "asc" ? 1 : -1;
    found.sort((a, b) => (key(a) < key(b) ? -direction : key(a) > key(b) ? direction : 0));
  } else if (query.sort_order === "asc") found.reverse();
  return { rows: found, total: found.length };
}
