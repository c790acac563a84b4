import type { RecordedEvent } from "../events/envelope.ts";
import { threadIdOf } from "../events/envelope.ts";
import type { Json } from "../events/json.ts";
import { title as titleReducer } from "../reducers/title.ts";
import { defineProjection, type Rows } from "./define-projection.ts";
import type { RowMatch } from "./projection-store.ts";
import type { ProjectionView, ViewRow } from "./projection-view.ts";

export type ListedStatus =
  | "idle"
  | "running"
  | "interrupted"
  | "failed"
  | "cancelled"
  | "archived"
  | "erased";

/**
 * One thread of the list. Title and status follow the state, also after a rewind. Counts are of what happened,
 * abandoned branches included. Metadata is what was last set on the thread itself; a fork inherits none.
 */
export interface ListedThread {
  readonly threadId: string;
  readonly title: string | null;
  readonly status: ListedStatus;
  readonly pinned: boolean;
  readonly metadata: { readonly [key: string]: Json };
  /** ISO 8601. Pinning does not touch it. */
  readonly updatedAt: string;
  readonly createdAt: string;
  readonly version: number;
  readonly runs: number;
  readonly messages: number;
  readonly runId: string | null;
  /** The thread that this one was forked from. */
  readonly parentThreadId: string | null;
  readonly children: readonly string[];
  /** The thread whose tool call asked for this one's runs (sub-agents). */
  readonly delegatedBy: string | null;
  /** What title the state has from a version on, oldest first: a rewind looks its title up here. */
  readonly titles: readonly (readonly [version: number, title: string | null])[];
}

/** Metadata keys that pin a thread to the top of the list. The second is DeerFlow's. */
const pinKeys: readonly string[] = ["pinned", "deerflow_pinned"];

type ThreadRows = Rows<ListedThread>;
type Event = Pick<RecordedEvent, "stream" | "version" | "recordedAt">;
type Changes = Partial<ListedThread>;

function rowOf(rows: ThreadRows, event: Event): ListedThread {
  const threadId = threadIdOf(event.stream) ?? event.stream;
  return (
    rows.get(threadId) ?? {
      threadId,
      title: null,
      status: "idle",
      pinned: false,
      metadata: {},
      updatedAt: event.recordedAt,
      createdAt: event.recordedAt,
      version: 0,
      runs: 0,
      messages: 0,
      runId: null,
      parentThreadId: null,
      children: [],
      delegatedBy: null,
      titles: [],
    }
  );
}

function change(rows: ThreadRows, event: Event, changes?: (row: ListedThread) => Changes): void {
  if (threadIdOf(event.stream) === undefined) return;
  const row = rowOf(rows, event);
  const { version, recordedAt: updatedAt } = event;
  // Most events only move version and time: this is the hot path of a rebuild.
  rows.put(
    row.threadId,
    changes ? { ...row, version, updatedAt, ...changes(row) } : { ...row, version, updatedAt },
  );
}

/** The title that the state has at a version of the thread. */
function titleAt(row: ListedThread, version: number): string | null {
  return row.titles.findLast(([from]) => from <= version)?.[1] ?? null;
}

function withTitle(row: ListedThread, title: string | null, version: number): Changes {
  return { title, titles: [...row.titles, [version, title]] };
}

function setTitle(row: ListedThread, event: { type: string; version: number; data: unknown }): Changes {
  const fold = titleReducer.on.TitleSet;
  const next = (fold ? fold(row.title, event.data as never, event) : row.title) as string | null;
  return next === row.title ? {} : withTitle(row, next, event.version);
}

function withMetadata(row: ListedThread, changes: { readonly [key: string]: unknown } | undefined): Changes {
  const entries = new Map(Object.entries(row.metadata));
  for (const [key, value] of Object.entries(changes ?? {})) {
    if (value === null) entries.delete(key);
    else entries.set(key, value as Json);
  }
  return { metadata: Object.fromEntries(entries), pinned: pinKeys.some((key) => entries.get(key) === true) };
}

/** The thread and all that stand on its history. */
function family(rows: ThreadRows, threadId: string): string[] {
  const row = rows.get(threadId);
  return row ? [threadId, ...row.children.flatMap((child) => family(rows, child))] : [];
}

/** Takes titles away from a thread and from all that inherited them. */
function forgetTitles(rows: ThreadRows, threadId: string, gone: ReadonlySet<string>): void {
  for (const id of family(rows, threadId)) {
    const row = rows.get(id);
    if (!row?.titles.some(([, title]) => title !== null && gone.has(title))) continue;
    const titles = row.titles.map(
      ([version, title]) => [version, title !== null && gone.has(title) ? null : title] as const,
    );
    rows.put(id, { ...row, titles, title: titles.at(-1)?.[1] ?? null });
  }
}

const titlesOf = (row: ListedThread | undefined, versions?: readonly number[]): ReadonlySet<string> =>
  new Set(
    (row?.titles ?? []).flatMap(([version, title]) =>
      title !== null && (versions?.includes(version) ?? true) ? [title] : [],
    ),
  );

const endRun =
  (status: ListedStatus) =>
  (rows: ThreadRows, event: Event): void =>
    change(rows, event, () => ({ status, runId: null }));

const oneMoreMessage = (rows: ThreadRows, event: Event): void =>
  change(rows, event, (row) => ({ messages: row.messages + 1 }));

/** All threads with title, status and counts: pinned first, then the newest update, then the id, both descending. */
export const threadList = defineProjection<ListedThread, "brief">({
  name: "thread-list",
  version: 1,
  envelope: "brief",
  order: (row) => `${row.pinned ? 1 : 0}${row.updatedAt}`,
  search: (row) => `${row.title ?? ""}\n${row.threadId}`,
  handlers: {
    "*": (rows, event) => change(rows, event),
    ThreadCreated: (rows, event) => change(rows, event, (row) => withMetadata(row, event.data.metadata)),
    ThreadForked(rows, event) {
      const { parentThreadId, parentVersion, metadata } = event.data;
      const parent = rows.get(parentThreadId);
      const inherited = parent ? titleAt(parent, parentVersion) : null;
      const threadId = threadIdOf(event.stream);
      if (parent && threadId !== undefined) {
        rows.put(parentThreadId, { ...parent, children: [...parent.children, threadId] });
      }
      change(rows, event, (row) => ({
        parentThreadId,
        ...withMetadata(row, metadata),
        ...withTitle(row, inherited, event.version),
      }));
    },
    ThreadRewound: (rows, event) =>
      change(rows, event, (row) => {
        const title = titleAt(row, event.data.toVersion);
        return {
          status: "idle",
          runId: null,
          ...(title !== row.title && withTitle(row, title, event.version)),
        };
      }),
    ThreadMetadataChanged: (rows, event) =>
      change(rows, event, (row) => {
        const onlyPins = Object.keys(event.data.metadata).every((key) => pinKeys.includes(key));
        return { ...withMetadata(row, event.data.metadata), ...(onlyPins && { updatedAt: row.updatedAt }) };
      }),
    ThreadArchived: (rows, event) => change(rows, event, () => ({ status: "archived", runId: null })),
    ThreadRestored: (rows, event) => change(rows, event, () => ({ status: "idle" })),
    ThreadErased(rows, event) {
      const threadId = threadIdOf(event.stream) ?? "";
      forgetTitles(rows, threadId, titlesOf(rows.get(threadId)));
      if (event.data.deleted) {
        rows.delete(threadId);
        return;
      }
      change(rows, event, () => ({ status: "erased", runId: null, title: null, titles: [] }));
    },
    ContentRedacted(rows, event) {
      const threadId = threadIdOf(event.stream) ?? "";
      forgetTitles(rows, threadId, titlesOf(rows.get(threadId), event.data.versions));
      change(rows, event);
    },
    RunStarted: (rows, event) =>
      change(rows, event, (row) => {
        const { runId, parent } = event.data;
        const delegatedBy = parent?.threadId ?? row.delegatedBy;
        return { status: "running", runs: row.runs + 1, runId, delegatedBy };
      }),
    RunCompleted: endRun("idle"),
    RunFailed: endRun("failed"),
    RunCancelled: endRun("cancelled"),
    RunInterrupted: endRun("interrupted"),
    TitleSet: (rows, event) => change(rows, event, (row) => setTitle(row, event)),
    StateUpdated: (rows, event) =>
      change(rows, event, (row) => {
        const { field, value } = event.data;
        if (field !== "title") return {};
        return withTitle(row, typeof value === "string" ? value : null, event.version);
      }),
    MessagesAdded: (rows, event) =>
      change(rows, event, (row) => ({ messages: row.messages + event.data.messages.length })),
    ModelResponded: oneMoreMessage,
    ToolCallCompleted: oneMoreMessage,
    ToolCallFailed: oneMoreMessage,
    ToolCallAbandoned: oneMoreMessage,
  },
});

export interface ThreadListQuery {
  /** Part of the title or the id, in any case. */
  readonly search?: string;
  readonly status?: ListedStatus;
  /** Metadata that must be equal. */
  readonly metadata?: { readonly [key: string]: string | number | boolean };
  /** Forks of this thread. */
  readonly parentThreadId?: string;
  /** Threads of sub-agents: left out by default; an id gives those that this thread asked for. */
  readonly delegatedBy?: string;
  readonly limit?: number;
  /** `cursor` of the last row of the page before. */
  readonly after?: ViewRow<ListedThread>["cursor"];
}

/**
 * A page of threads in the order of the list.
 *
 * @example
 * const threads = await listThreads(viewOf(projectionStore, threadList), { search: "报告", limit: 20 });
 */
export function listThreads(
  view: ProjectionView<ListedThread>,
  query: ThreadListQuery = {},
): Promise<readonly ViewRow<ListedThread>[]> {
  const { search, status, metadata = {}, parentThreadId, delegatedBy = null, limit, after } = query;
  const match: RowMatch[] = Object.entries(metadata).map(([key, equals]) => ({
    path: ["metadata", key],
    equals,
  }));
  match.push({ path: ["delegatedBy"], equals: delegatedBy });
  if (status !== undefined) match.push({ path: ["status"], equals: status });
  if (parentThreadId !== undefined) match.push({ path: ["parentThreadId"], equals: parentThreadId });
  return view.list({
    match,
    ...(search !== undefined && { search }),
    ...(limit !== undefined && { limit }),
    ...(after && { after }),
  });
}
