import { type RecordedEvent, threadIdOf, threadStream } from "../../../events/envelope.ts";
import type { EventLog } from "../../../events/log/event-log.ts";
import type { ErrorData, Interrupt } from "../../../events/run.ts";
import { checkpointIdOf, eventAt } from "./checkpoint-id.ts";

/** A version of a thread that clients see as a checkpoint. */
export interface CheckpointRow {
  readonly threadId: string;
  readonly version: number;
  readonly id: string;
  readonly recordedAt: string;
  /** The checkpoint that it builds on; null for the root. */
  readonly parentId: string | null;
  readonly parentThreadId: string;
  readonly source: "input" | "loop" | "update" | "fork";
  readonly runId: string | undefined;
  /** Questions that the run ended with here. */
  readonly interrupts: readonly Interrupt[];
  readonly error: ErrorData | undefined;
}

interface Draft extends Pick<CheckpointRow, "source" | "runId" | "interrupts" | "error"> {
  readonly version: number;
  readonly recordedAt: string;
  /** undefined: the beginning; null: the parent of a fork. */
  readonly parent: number | undefined | null;
}

const runEnds = new Set(["RunCompleted", "RunFailed", "RunCancelled", "RunInterrupted"]);
/** Events outside of runs that leave the state as it is. */
export const silentEvents = new Set([
  "ThreadMetadataChanged",
  "ThreadArchived",
  "ThreadRestored",
  "HeadNamed",
  "RunCancelRequested",
  "RunTakenOver",
  "ContentRedacted",
]);
/** What the runtime records with a run's input. */
const withInput = new Set(["RunStarted", "InterruptResolved", "ToolCallAbandoned"]);

interface OpenRun {
  readonly runId: string;
  input: RecordedEvent;
  hasInput: boolean;
  settled: boolean;
}

/**
 * The checkpoints in consecutive events of one stream, oldest first: the beginning, the input of each run, the end of
 * each run, and each change from outside. One row an event would be too many for clients that read ten.
 */
function draftRows(events: readonly RecordedEvent[], atHead: boolean): Draft[] {
  const rows: Draft[] = [];
  let line: number | undefined | null;
  let run: OpenRun | undefined;
  let outside: RecordedEvent | undefined;
  let rewound: RecordedEvent | undefined;

  const emit = (
    event: RecordedEvent,
    source: CheckpointRow["source"],
    more: Partial<Pick<Draft, "runId" | "interrupts" | "error">> = {},
  ) => {
    const { version, recordedAt } = event;
    rows.push({
      version,
      recordedAt,
      source,
      parent: line,
      runId: undefined,
      interrupts: [],
      error: undefined,
      ...more,
    });
    line = version;
  };
  const flushOutside = () => {
    if (outside) emit(outside, "update");
    outside = undefined;
  };
  const settleInput = (open: OpenRun) => {
    if (!open.settled && open.hasInput) emit(open.input, "input", { runId: open.runId });
    open.settled = true;
  };
  const inRun = (open: OpenRun, event: RecordedEvent) => {
    const { by } = event.metadata;
    const given = by === "user" || by === "client" || withInput.has(event.type);
    if (!open.settled && given && !silentEvents.has(event.type)) {
      open.input = event;
      open.hasInput ||= !withInput.has(event.type);
    } else if (!silentEvents.has(event.type)) settleInput(open);
    if (!runEnds.has(event.type)) return;
    settleInput(open);
    const { interrupts = [], error } = event.data as unknown as {
      interrupts?: readonly Interrupt[];
      error?: ErrorData;
    };
    emit(event, "loop", { runId: open.runId, interrupts, error });
    run = undefined;
  };

  for (const event of events) {
    if (event.type === "ThreadCreated") emit(event, "input");
    else if (event.type === "ThreadForked") {
      line = null;
      emit(event, "fork");
    } else if (event.type === "ThreadRewound") {
      flushOutside();
      run = undefined;
      line = Math.max(1, (event.data as unknown as { toVersion: number }).toVersion);
      rewound = event;
    } else if (event.type === "RunStarted") {
      flushOutside();
      rewound = undefined;
      const { runId } = event.data as unknown as { runId: string };
      run = { runId, input: event, hasInput: false, settled: false };
    } else if (run) inRun(run, event);
    else if (!silentEvents.has(event.type)) {
      // What was recorded by one request has one time.
      if (outside && outside.recordedAt !== event.recordedAt) flushOutside();
      outside = event;
      rewound = undefined;
    }
  }
  flushOutside();
  const last = events.at(-1);
  if (!atHead || !last) return rows;
  if (run && !run.settled) settleInput(run);
  else if (run && last.version > (rows.at(-1)?.version ?? 0)) emit(last, "loop", { runId: run.runId });
  if (rewound) emit(rewound, "fork");
  return rows;
}

interface Window {
  readonly events: readonly RecordedEvent[];
  /** It begins with the stream's first event. */
  readonly complete: boolean;
}

async function readWindow(log: EventLog, stream: string, to: number, rows: number): Promise<Window> {
  const found: RecordedEvent[] = [];
  let boundaries = 0;
  for await (const page of log.read(stream, { to, backwards: true })) {
    for (const event of page) {
      found.push(event);
      if (event.metadata.runId === undefined ? !silentEvents.has(event.type) : runEnds.has(event.type)) {
        boundaries += 1;
      }
      if (boundaries >= rows && event.type === "RunStarted") {
        return { events: found.reverse(), complete: false };
      }
    }
  }
  return { events: found.reverse(), complete: true };
}

/** Rows whose parent may lie before the window are read along and left out. */
const spareRows = 2;

/**
 * The newest checkpoints of a thread, newest first, those of abandoned branches between the others, and those that a
 * fork inherits behind its own. A thread in which nothing happened has none.
 *
 * @param options.before only those before this version of this thread, or of the one it was forked from
 */
export async function readCheckpoints(
  log: EventLog,
  threadId: string,
  options: { readonly limit: number; readonly before?: { threadId: string; version: number } },
): Promise<readonly CheckpointRow[]> {
  const { limit, before } = options;
  const rows: CheckpointRow[] = [];
  const seen = new Set<string>();
  let skipping = before !== undefined;
  let at: { threadId: string; to: number; head: boolean } | undefined = {
    threadId,
    to: (await log.head(threadStream(threadId))).version,
    head: true,
  };
  while (at && rows.length < limit && !seen.has(at.threadId)) {
    seen.add(at.threadId);
    const stream = threadStream(at.threadId);
    let { to } = at;
    if (before?.threadId === at.threadId) {
      skipping = false;
      // The row at `before` is read along: the input of its run may be a row of its own.
      to = Math.min(to, before.version);
    }
    const found = await rowsOfStream(log, stream, to, limit + 1, at.head && to === at.to);
    const end = before?.threadId === at.threadId ? before.version : Number.POSITIVE_INFINITY;
    const own = found.rows.filter((row) => row.version < end);
    if (!skipping) rows.push(...own);
    const fork = found.fork;
    at = fork && { threadId: fork.parentThreadId, to: fork.parentVersion, head: false };
  }
  const isUntouched = rows.length === 1 && rows[0]?.parentId === null;
  return isUntouched && !before ? [] : rows.slice(0, limit);
}

interface ForkData {
  readonly parentThreadId: string;
  readonly parentVersion: number;
}

async function rowsOfStream(
  log: EventLog,
  stream: string,
  to: number,
  limit: number,
  atHead: boolean,
): Promise<{ rows: CheckpointRow[]; fork: ForkData | undefined }> {
  if (to < 1) return { rows: [], fork: undefined };
  const { events, complete } = await readWindow(log, stream, to, limit + spareRows);
  const first = events[0];
  const drafts = draftRows(events, atHead);
  const fork = complete && first?.type === "ThreadForked" ? (first.data as unknown as ForkData) : undefined;
  const wanted = complete ? drafts : drafts.slice(1);
  const threadId = threadIdOf(stream) ?? stream;
  const rows: CheckpointRow[] = [];
  for (const draft of wanted) {
    const { version, recordedAt, source, runId, interrupts, error } = draft;
    const parent = await parentOf(log, stream, draft, drafts, fork);
    rows.push({
      threadId,
      version,
      id: checkpointIdOf(stream, version, recordedAt),
      recordedAt,
      source,
      runId,
      interrupts,
      error,
      parentId: parent?.id ?? null,
      parentThreadId: parent?.threadId ?? threadId,
    });
  }
  return { rows: rows.reverse(), fork };
}

async function parentOf(
  log: EventLog,
  stream: string,
  draft: Draft,
  drafts: readonly Draft[],
  fork: ForkData | undefined,
): Promise<{ id: string; threadId: string } | undefined> {
  if (draft.parent === undefined) return undefined;
  if (draft.parent === null) {
    if (!fork) return undefined;
    const of = threadStream(fork.parentThreadId);
    const [newest] = (await rowsOfStream(log, of, fork.parentVersion, 1, false)).rows;
    return newest && { id: newest.id, threadId: fork.parentThreadId };
  }
  const wanted = draft.parent;
  const row =
    drafts.find(({ version }) => version === wanted) ??
    drafts.findLast(({ version }) => version < wanted && version >= (drafts[0]?.version ?? 0));
  const place = row ?? (await eventAt(log, stream, wanted));
  return (
    place && {
      id: checkpointIdOf(stream, place.version, place.recordedAt),
      threadId: threadIdOf(stream) ?? stream,
    }
  );
}
