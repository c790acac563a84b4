import { type Emitter, type RecordedEvent, threadIdOf, threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { State } from "../reducers/thread-state.ts";
import type { Segment } from "./lineage.ts";
import { segmentsAfter, segmentsBefore } from "./state-cache.ts";

/** A version of a thread. Rows of a fork's inherited history name the parent's thread. */
interface ThreadVersion {
  readonly threadId: string;
  readonly version: number;
}

export interface HistoryOptions {
  /** Version at which the history ends; the head when left out. */
  readonly at?: number;
  /** `newest` first when left out. */
  readonly order?: "newest" | "oldest";
  /** Rows at most; 20 when left out. */
  readonly limit?: number;
  /** Only rows before this one: with `newest`, the last row of the page before. */
  readonly before?: (ThreadVersion & { readonly from?: number }) | number;
  /** Only rows after this one: with `oldest`, the last row of the page before. */
  readonly after?: ThreadVersion | number;
  /** One row an event, or (when left out) one row a step of a run. */
  readonly granularity?: "event" | "step";
}

/** What happened up to one version of a thread since the row before. */
export interface HistoryRow extends ThreadVersion {
  /** First version of the row; `version` is its last. */
  readonly from: number;
  /** Of the last event, ISO 8601. */
  readonly recordedAt: string;
  /** Event types in order. */
  readonly types: readonly string[];
  readonly by: readonly Emitter[];
  readonly runId: string | undefined;
  readonly step: number | undefined;
  /** The whole state at `version`. */
  values(): Promise<State>;
  /** The state at `version` without its messages: fast however long the thread is. */
  fields(): Promise<State>;
}

/** Reads states for rows. */
export interface RowStates {
  stateAt(threadId: string, version: number): Promise<State>;
  fieldsAt(threadId: string, version: number): Promise<State>;
}

const defaultRows = 20;
const eventsPerRow = 12;
const maxEventsPerRead = 500;

function atOf(threadId: string, position: ThreadVersion | number) {
  const { threadId: id, version } = typeof position === "number" ? { threadId, version: position } : position;
  return { stream: threadStream(id), version };
}

/** Events of a lineage from either end, in reads that start small: a few rows need a few events. */
async function* walk(
  log: EventLog,
  segments: readonly Segment[],
  newestFirst: boolean,
  firstRead: number,
): AsyncGenerator<RecordedEvent> {
  let limit = firstRead;
  for (const segment of newestFirst ? segments.toReversed() : segments) {
    let { from, to } = segment;
    while (from <= to) {
      const count = Math.min(limit, to - from + 1);
      const range = newestFirst ? { from: to - count + 1, to } : { from, to: from + count - 1 };
      for await (const page of log.read(segment.stream, { ...range, backwards: newestFirst })) yield* page;
      if (newestFirst) to -= count;
      else from += count;
      limit = Math.min(limit * 2, maxEventsPerRead);
    }
  }
}

function belongTogether(a: RecordedEvent, b: RecordedEvent, granularity: "event" | "step"): boolean {
  if (granularity === "event" || a.stream !== b.stream || Math.abs(a.version - b.version) !== 1) return false;
  const { runId, step } = a.metadata;
  return runId !== undefined && runId === b.metadata.runId && step === b.metadata.step;
}

/** A row before its states are within reach. */
type BareRow = Omit<HistoryRow, "values" | "fields">;

function rowOf(events: readonly RecordedEvent[]): BareRow[] {
  const ordered = events.toSorted((a, b) => a.version - b.version);
  const first = ordered[0];
  const last = ordered.at(-1);
  if (!first || !last) return [];
  const threadId = threadIdOf(last.stream) ?? last.stream;
  const { version, recordedAt } = last;
  return [
    {
      threadId,
      version,
      from: first.version,
      recordedAt,
      types: ordered.map(({ type }) => type),
      by: [...new Set(ordered.map(({ metadata }) => metadata.by))],
      runId: last.metadata.runId,
      step: last.metadata.step,
    },
  ];
}

type ReadState = (threadId: string, version: number) => Promise<State>;

/** The states of all rows are read with that of the first one asked for: from the oldest on it is one short fold. */
function readTogether(
  rows: readonly BareRow[],
  order: "newest" | "oldest",
  read: ReadState,
): (row: BareRow) => Promise<State> {
  const readAll = async () => {
    const found = new Map<BareRow, State>();
    for (const row of order === "newest" ? rows.toReversed() : rows) {
      found.set(row, await read(row.threadId, row.version));
    }
    return found;
  };
  let reading: Promise<ReadonlyMap<BareRow, State>> | undefined;
  return async (row) => {
    reading ??= readAll();
    return (await reading).get(row) ?? read(row.threadId, row.version);
  };
}

function withStates(rows: readonly BareRow[], order: "newest" | "oldest", states: RowStates): HistoryRow[] {
  const fieldsOf = readTogether(rows, order, states.fieldsAt);
  // Whole states hold a list of all messages each, so only those of a few rows are held together.
  const isFew = rows.length <= defaultRows;
  const stateOf = isFew ? readTogether(rows, order, states.stateAt) : undefined;
  return rows.map((row) => ({
    ...row,
    values: () => stateOf?.(row) ?? states.stateAt(row.threadId, row.version),
    fields: () => fieldsOf(row),
  }));
}

/** Rows of a lineage, as `StateReader.history` gives them. */
export async function readHistory(
  log: EventLog,
  threadId: string,
  segments: readonly Segment[],
  options: HistoryOptions,
  states: RowStates,
): Promise<readonly HistoryRow[]> {
  const { order = "newest", limit = defaultRows, granularity = "step", before, after } = options;
  let wanted = segments;
  if (before !== undefined) {
    const at = atOf(threadId, before);
    const first = typeof before === "number" ? before : (before.from ?? before.version);
    wanted = segmentsBefore(wanted, { ...at, version: first });
  }
  if (after !== undefined) wanted = segmentsAfter(wanted, atOf(threadId, after));
  return withStates(await readRows(log, wanted, { order, limit, granularity }), order, states);
}

async function readRows(
  log: EventLog,
  segments: readonly Segment[],
  options: Required<Pick<HistoryOptions, "order" | "limit" | "granularity">>,
): Promise<BareRow[]> {
  const { order, limit, granularity } = options;
  const rows: BareRow[] = [];
  if (limit <= 0) return rows;
  let group: RecordedEvent[] = [];
  const firstRead = granularity === "event" ? limit : (limit + 1) * eventsPerRow;
  for await (const event of walk(log, segments, order === "newest", Math.min(firstRead, maxEventsPerRead))) {
    const previous = group.at(-1);
    if (previous && !belongTogether(previous, event, granularity)) {
      rows.push(...rowOf(group));
      group = [];
      if (rows.length === limit) return rows;
    }
    group.push(event);
  }
  return [...rows, ...rowOf(group)];
}
