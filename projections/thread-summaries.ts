import type { DataOf } from "../events/define-event.ts";
import { threadIdOf } from "../events/envelope.ts";
import type { EventLog, StreamSummary } from "../events/log/event-log.ts";
import type { ThreadForked } from "../events/thread.ts";
import { title as titleReducer } from "../reducers/title.ts";
import { BrokenLineageError, readLineage, resolveLineage } from "./lineage.ts";

type SummaryStatus = "idle" | "running" | "interrupted" | "failed" | "cancelled" | "archived" | "erased";

/** One thread in a list, read from the log itself. */
export interface ThreadSummary {
  readonly threadId: string;
  readonly title: string | null;
  readonly status: SummaryStatus;
  /** Events in its stream. */
  readonly version: number;
  /** Runs in its history, those of a fork's parent included. */
  readonly runs: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly parentThreadId: string | null;
}

export interface SummaryQuery {
  readonly status?: string;
  /** Part of the title or the id, in any case. */
  readonly search?: string;
  /** Only threads with an event at or after this ISO time. */
  readonly since?: string;
  readonly sort?: "updated" | "created" | "events";
  readonly limit?: number;
}

const statusAfter: Readonly<Record<string, SummaryStatus>> = {
  ThreadCreated: "idle",
  ThreadForked: "idle",
  ThreadRewound: "idle",
  ThreadArchived: "archived",
  ThreadRestored: "idle",
  ThreadErased: "erased",
  RunStarted: "running",
  RunCompleted: "idle",
  RunFailed: "failed",
  RunCancelled: "cancelled",
  RunInterrupted: "interrupted",
};
const summaryTypes = [...Object.keys(statusAfter), "TitleSet", "StateUpdated"];

const orders = {
  updated: (stream: StreamSummary) => stream.lastRecordedAt,
  created: (stream: StreamSummary) => stream.firstRecordedAt,
  events: (stream: StreamSummary) => String(stream.version).padStart(16, "0"),
} as const;

/** Events of the whole lineage; of the thread alone when its parent is missing, so that it is listed all the same. */
async function* summaryEvents(log: EventLog, { stream, version }: StreamSummary) {
  const types = { types: summaryTypes };
  try {
    await resolveLineage(log, stream, version);
  } catch (error) {
    if (!(error instanceof BrokenLineageError)) throw error;
    yield* log.read(stream, { to: version, ...types });
    return;
  }
  yield* readLineage(log, stream, version, types);
}

async function summarize(log: EventLog, stream: StreamSummary, threadId: string): Promise<ThreadSummary> {
  let title: string | null | undefined;
  let status: SummaryStatus = "idle";
  let runs = 0;
  let parentThreadId: string | null = null;
  const setTitle = titleReducer.on.TitleSet;
  for await (const page of summaryEvents(log, stream)) {
    for (const event of page) {
      status = statusAfter[event.type] ?? status;
      if (event.type === "RunStarted") runs += 1;
      if (event.type === "ThreadForked" && event.stream === stream.stream) {
        parentThreadId = (event.data as DataOf<typeof ThreadForked>).parentThreadId;
      }
      if (event.type === "TitleSet") title = setTitle?.(title, event.data, event) as typeof title;
      if (event.type === "StateUpdated") {
        const { field, value } = event.data as { field: string; value: unknown };
        if (field === "title") title = typeof value === "string" ? value : null;
      }
    }
  }
  return {
    threadId,
    title: title ?? null,
    status,
    version: stream.version,
    runs,
    createdAt: stream.firstRecordedAt,
    updatedAt: stream.lastRecordedAt,
    parentThreadId,
  };
}

/**
 * Threads of a log, the latest first, without a projection. Reads the events of those threads only that it gives,
 * unless it has to look into all of them for a status or a title.
 *
 * @example
 * for await (const thread of threadSummaries(store.log, { limit: 20 })) print(thread.title);
 */
export async function* threadSummaries(
  log: EventLog,
  query: SummaryQuery = {},
): AsyncGenerator<ThreadSummary> {
  const { status, since, sort = "updated", limit = Number.POSITIVE_INFINITY } = query;
  const search = query.search?.toLocaleLowerCase();
  const keyOf = orders[sort];
  const streams = (await log.streams({ prefix: "thread-" }))
    .filter((stream) => since === undefined || stream.lastRecordedAt >= since)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : keyOf(a) > keyOf(b) ? -1 : a.stream < b.stream ? -1 : 1));
  let given = 0;
  for (const stream of streams) {
    if (given >= limit) return;
    const threadId = threadIdOf(stream.stream);
    if (threadId === undefined) continue;
    const summary = await summarize(log, stream, threadId);
    if (status !== undefined && summary.status !== status) continue;
    const text = `${summary.title ?? ""}\n${threadId}`.toLocaleLowerCase();
    if (search !== undefined && !text.includes(search)) continue;
    given += 1;
    yield summary;
  }
}
