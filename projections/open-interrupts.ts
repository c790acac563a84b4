import { type BriefEvent, threadIdOf } from "../events/envelope.ts";
import type { Json } from "../events/json.ts";
import type { Interrupt } from "../events/run.ts";
import { defineProjection, type Rows } from "./define-projection.ts";
import type { RowMatch } from "./projection-store.ts";
import type { ProjectionView } from "./projection-view.ts";

/** A question to a human. */
export interface AskedQuestion {
  readonly kind: "question";
  readonly threadId: string;
  readonly interruptId: string;
  readonly runId: string;
  /** `approval`, `question`, or a word of the caller's. */
  readonly asks: string;
  readonly value: Json;
  readonly callId: string | null;
  readonly by: string | null;
  /** ISO 8601. */
  readonly askedAt: string;
  /** Version of the thread at which it was asked. */
  readonly version: number;
  /** It waits for an answer. */
  readonly open: boolean;
}

/** Which questions of a thread are open from a version on. A run in progress takes them along when it is left. */
interface Standing {
  readonly version: number;
  readonly open: readonly string[];
  readonly running: boolean;
}

/** A question, or how the questions of a thread stood over its versions: rewinds and forks look it up. */
export type OpenInterruptRow =
  | AskedQuestion
  | { readonly kind: "thread"; readonly standings: readonly Standing[] };

type InterruptRows = Rows<OpenInterruptRow>;
type Event = Pick<BriefEvent, "stream" | "version">;

const idOf = (stream: string) => threadIdOf(stream) ?? stream;
const threadKey = (threadId: string) => `thread/${threadId}`;
const questionPrefix = (threadId: string) => `question/${threadId}/`;

function standingsOf(rows: InterruptRows, threadId: string): readonly Standing[] {
  const row = rows.get(threadKey(threadId));
  return row?.kind === "thread" ? row.standings : [];
}

function standingAt(rows: InterruptRows, threadId: string, version: number): Standing | undefined {
  return standingsOf(rows, threadId).findLast((standing) => standing.version <= version);
}

function setOpen(rows: InterruptRows, threadId: string, interruptId: string, open: boolean): void {
  const key = questionPrefix(threadId) + interruptId;
  const row = rows.get(key);
  if (row?.kind === "question" && row.open !== open) rows.put(key, { ...row, open });
}

function stand(
  rows: InterruptRows,
  event: Event,
  next: (before: Standing) => Partial<Pick<Standing, "open" | "running">>,
): void {
  const threadId = idOf(event.stream);
  const standings = standingsOf(rows, threadId);
  const before = standings.at(-1) ?? { version: 0, open: [], running: false };
  const { open, running } = { ...before, ...next(before) };
  // Without questions it does not matter whether a run goes on; most threads never have a standing.
  const after = { version: event.version, open, running: running && open.length > 0 };
  if (after.open.join() === before.open.join() && after.running === before.running) return;
  rows.put(threadKey(threadId), { kind: "thread", standings: [...standings, after] });
  for (const id of before.open) if (!after.open.includes(id)) setOpen(rows, threadId, id, false);
  for (const id of after.open) setOpen(rows, threadId, id, true);
}

const end = (rows: InterruptRows, event: Event): void =>
  stand(rows, event, () => ({ open: [], running: false }));

/**
 * Questions to humans and which of them are open. An answer closes one; a new input or an end of the run closes all. A
 * rewind or a fork to a version at which they were open opens them again, as it does in the thread.
 */
export const openInterrupts = defineProjection<OpenInterruptRow, "brief">({
  name: "open-interrupts",
  version: 1,
  envelope: "brief",
  order: (row, key) => (row.kind === "question" ? row.askedAt : key),
  handlers: {
    RunInterrupted(rows, event) {
      const threadId = idOf(event.stream);
      const interrupts = event.data.interrupts as readonly Interrupt[];
      for (const { id, kind, value, callId = null, by } of interrupts) {
        rows.put(questionPrefix(threadId) + id, {
          kind: "question",
          threadId,
          interruptId: id,
          runId: event.data.runId,
          asks: kind,
          value: value as Json,
          callId,
          by: typeof by === "string" ? by : null,
          askedAt: event.recordedAt,
          version: event.version,
          open: true,
        });
      }
      stand(rows, event, () => ({ open: interrupts.map(({ id }) => id), running: false }));
    },
    InterruptResolved: (rows, event) =>
      stand(rows, event, ({ open }) => ({ open: open.filter((id) => id !== event.data.interruptId) })),
    // A run that resumes keeps what is still open.
    RunStarted: (rows, event) =>
      stand(rows, event, ({ open }) => ({
        open: event.data.resumes === undefined ? [] : open,
        running: true,
      })),
    RunCompleted: end,
    RunFailed: end,
    RunCancelled: end,
    ThreadArchived: end,
    ThreadRewound(rows, event) {
      const there = standingAt(rows, idOf(event.stream), event.data.toVersion);
      stand(rows, event, () => ({ open: !there || there.running ? [] : there.open, running: false }));
    },
    ThreadForked(rows, event) {
      const { parentThreadId, parentVersion } = event.data;
      const there = standingAt(rows, parentThreadId, parentVersion);
      if (!there || there.running) return;
      const threadId = idOf(event.stream);
      for (const id of there.open) {
        const row = rows.get(questionPrefix(parentThreadId) + id);
        if (row?.kind === "question") {
          rows.put(questionPrefix(threadId) + id, { ...row, threadId, version: event.version });
        }
      }
      stand(rows, event, () => ({ open: there.open }));
    },
    ThreadErased(rows, event) {
      const threadId = idOf(event.stream);
      for (const { key } of rows.list(questionPrefix(threadId))) rows.delete(key);
      rows.delete(threadKey(threadId));
    },
    ContentRedacted(rows, event) {
      for (const { key, row } of rows.list(questionPrefix(idOf(event.stream)))) {
        if (row.kind !== "question" || !event.data.versions.includes(row.version)) continue;
        rows.put(key, { ...row, value: null });
      }
    },
  },
});

/** Open questions of one thread or of all, the newest first. */
export async function readOpenInterrupts(
  view: ProjectionView<OpenInterruptRow>,
  query: {
    readonly threadId?: string;
    /** Only questions of this kind, such as `approval`. */
    readonly asks?: string;
    readonly limit?: number;
  } = {},
): Promise<readonly AskedQuestion[]> {
  const { threadId, asks, limit } = query;
  const match: RowMatch[] = [{ path: ["open"], equals: true }];
  if (asks !== undefined) match.push({ path: ["asks"], equals: asks });
  const found = await view.list({
    prefix: threadId === undefined ? "question/" : questionPrefix(threadId),
    match,
    ...(limit !== undefined && { limit }),
  });
  return found.flatMap(({ row }) => (row.kind === "question" ? [row] : []));
}
