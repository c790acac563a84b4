import { logApi, type ThreadRow } from "../api/log-api.ts";
import { RequestProblem } from "../api/request.ts";
import { createValueStore, type ValueStore } from "../api/value-store.ts";
import { onLiveEvents, threadOfStream } from "../thread-view/live-events.ts";

/** The part of the thread list that was read. */
export interface ThreadsPage {
  readonly rows: readonly ThreadRow[];
  /** Cursor of the next page; null: this is all. */
  readonly next: string | null;
  readonly loading: boolean;
  readonly problem: RequestProblem | undefined;
}

/** A list that grows while it is scrolled and follows what happens. */
export interface ListedThreads {
  readonly page: ValueStore<ThreadsPage>;
  readMore(): void;
  close(): void;
}

const pageSize = 40;
/** Milliseconds between two looks at threads that changed. */
const refreshMs = 400;

function inOrder(a: ThreadRow, b: ThreadRow): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
  if (a.updatedAt !== b.updatedAt) return a.updatedAt < b.updatedAt ? 1 : -1;
  return a.threadId < b.threadId ? 1 : -1;
}

/** Opens the list, or the part of it that fits a search. */
export function openListedThreads(search: string | undefined): ListedThreads {
  const closing = new AbortController();
  const { signal } = closing;
  const page = createValueStore<ThreadsPage>({ rows: [], next: null, loading: true, problem: undefined });
  const change = (part: Partial<ThreadsPage>) => page.set({ ...page.get(), ...part });
  const query = { search, limit: pageSize };

  const merge = (rows: readonly ThreadRow[]) => {
    const byId = new Map(page.get().rows.map((row) => [row.threadId, row]));
    for (const row of rows) byId.set(row.threadId, row);
    return [...byId.values()].sort(inOrder);
  };
  const fail = (error: unknown) => {
    if (signal.aborted) return;
    const problem = error instanceof RequestProblem ? error : new RequestProblem(0, "Error", String(error));
    change({ loading: false, problem });
  };
  const readFirst = async () => {
    const first = await logApi.threads(query, { signal });
    const isAll = page.get().rows.length <= first.threads.length;
    change({
      rows: isAll ? first.threads : merge(first.threads),
      ...(isAll && { next: first.next }),
      loading: false,
      problem: undefined,
    });
  };
  const readNext = async (after: string) => {
    change({ loading: true });
    const more = await logApi.threads({ ...query, after }, { signal });
    change({ rows: merge(more.threads), next: more.next, loading: false });
  };
  readFirst().catch(fail);

  const changed = new Set<string>();
  let timer: number | undefined;
  const refresh = async () => {
    timer = undefined;
    // Many at once are in the first page anyway.
    if (changed.size > 8 || search !== undefined) {
      changed.clear();
      await readFirst();
      return;
    }
    const ids = [...changed];
    changed.clear();
    for (const id of ids) {
      const row = await logApi.thread(id, { signal }).catch((error: unknown) => {
        if (error instanceof RequestProblem && error.status === 404) return undefined;
        throw error;
      });
      if (row && row.delegatedBy === null) change({ rows: merge([row]) });
      else change({ rows: page.get().rows.filter(({ threadId }) => threadId !== id) });
    }
  };
  const refreshSoon = () => {
    timer ??= window.setTimeout(() => refresh().catch(() => undefined), refreshMs);
  };
  const stop = onLiveEvents({
    onEvents(events) {
      for (const { stream } of events) {
        const id = threadOfStream(stream);
        if (id !== undefined) changed.add(id);
      }
      if (changed.size > 0) refreshSoon();
    },
    onStart: () => void readFirst().catch(() => undefined),
  });

  return {
    page,
    readMore() {
      const { next, loading } = page.get();
      if (next !== null && !loading) readNext(next).catch(fail);
    },
    close() {
      stop();
      window.clearTimeout(timer);
      closing.abort();
    },
  };
}
