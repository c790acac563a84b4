import { type RecordedEvent, threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { checkVersion, resolveLineage } from "./lineage.ts";

/** Something about a version that a timeline marks. */
export type TimelineMark =
  | { readonly kind: "rewound"; readonly version: number; readonly to: number }
  | {
      readonly kind: "forked";
      readonly version: number;
      readonly parentThreadId: string;
      readonly parentVersion: number;
    }
  /** Content of these versions was taken out by the event at `version`. */
  | { readonly kind: "redacted"; readonly version: number; readonly versions: readonly number[] }
  | { readonly kind: "named"; readonly version: number; readonly name: string };

/** Events of a thread in few bytes: one number a column and event. Everything but what they hold. */
export interface TimelineIndex {
  readonly threadId: string;
  /** Last version of the thread. */
  readonly head: number;
  /** First version of this part; the next older part ends before it. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds since 1970 of the first event of this part. */
  readonly start: number;
  /** Names that the columns below count. */
  readonly types: readonly string[];
  readonly emitters: readonly string[];
  readonly runs: readonly string[];
  /** Index in `types`, one for each event. */
  readonly type: readonly number[];
  readonly by: readonly number[];
  /** Index in `runs`; -1: outside runs. */
  readonly run: readonly number[];
  /** Step in its run; -1: none. */
  readonly step: readonly number[];
  /** Milliseconds since the event before it. */
  readonly after: readonly number[];
  readonly version: readonly number[];
  readonly marks: readonly TimelineMark[];
  /** Versions, first and last, that the state at the head builds on; what is between them was abandoned by a rewind. */
  readonly current: readonly (readonly [from: number, to: number])[];
}

/** Gives each new name the next number. */
function numbering(): { readonly names: string[]; numberOf(name: string): number } {
  const names: string[] = [];
  const numbers = new Map<string, number>();
  return {
    names,
    numberOf(name) {
      const known = numbers.get(name);
      if (known !== undefined) return known;
      names.push(name);
      numbers.set(name, names.length - 1);
      return names.length - 1;
    },
  };
}

interface MarkData {
  readonly toVersion?: number;
  readonly parentThreadId?: string;
  readonly parentVersion?: number;
  readonly versions?: readonly number[];
  readonly name?: string;
  readonly version?: number | null;
}

function markOf({ type, version, data }: RecordedEvent): TimelineMark | undefined {
  const { toVersion, parentThreadId, parentVersion, versions, name, version: named } = data as MarkData;
  if (type === "ThreadRewound" && toVersion !== undefined) return { kind: "rewound", version, to: toVersion };
  if (type === "ThreadForked" && parentThreadId !== undefined && parentVersion !== undefined) {
    return { kind: "forked", version, parentThreadId, parentVersion };
  }
  if (type === "ContentRedacted" && versions) return { kind: "redacted", version, versions };
  if (type === "HeadNamed" && name !== undefined && typeof named === "number") {
    return { kind: "named", version: named, name };
  }
  return undefined;
}

/** Most events of one part. */
export const maxIndexedEvents = 20_000;

/**
 * The newest part of a thread's index, or the part that ends at `to`.
 *
 * @param options.limit most events; 20,000 when left out
 * @throws {UnknownThreadError}
 * @example
 * const index = await readTimelineIndex(store.log, "t1");
 * index.types[index.type[0] ?? 0]; // "ThreadCreated"
 */
export async function readTimelineIndex(
  log: EventLog,
  threadId: string,
  options: { readonly to?: number; readonly limit?: number } = {},
): Promise<TimelineIndex> {
  const stream = threadStream(threadId);
  const head = await checkVersion(log, stream, undefined);
  const { to = head, limit = maxIndexedEvents } = options;
  const from = Math.max(1, to - limit + 1);
  const types = numbering();
  const emitters = numbering();
  const runs = numbering();
  const columns = {
    type: [] as number[],
    by: [] as number[],
    run: [] as number[],
    step: [] as number[],
    after: [] as number[],
    version: [] as number[],
  };
  const marks: TimelineMark[] = [];
  let start = 0;
  let before = 0;
  for await (const page of log.read(stream, { from, to })) {
    for (const event of page) {
      const { by, runId, step } = event.metadata;
      const at = Date.parse(event.recordedAt);
      if (columns.type.length === 0) start = before = at;
      columns.type.push(types.numberOf(event.type));
      columns.by.push(emitters.numberOf(by));
      columns.run.push(runId === undefined ? -1 : runs.numberOf(runId));
      columns.step.push(step ?? -1);
      columns.after.push(at - before);
      columns.version.push(event.version);
      before = at;
      const mark = markOf(event);
      if (mark) marks.push(mark);
    }
  }
  const lineage = await resolveLineage(log, stream, head);
  const current = lineage
    .filter((segment) => segment.stream === stream)
    .map((segment) => [segment.from, segment.to] as const);
  const names = { types: types.names, emitters: emitters.names, runs: runs.names };
  return { threadId, head, from, to, start, ...names, ...columns, marks, current };
}
