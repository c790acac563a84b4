import type { RecordedEvent } from "../../events/envelope.ts";
import { threadStream } from "../../events/envelope.ts";
import type { EventRegistry } from "../../events/event-registry.ts";
import type { EventLog } from "../../events/log/event-log.ts";

/** What happened to a run from outside, so that its hooks cannot be held to what came after. */
export type RunCut = "cancelled" | "taken over" | "abandoned" | "limit" | "open";

/** Limits are options of a run, which are not in the log: where one ended it, a rerun would go on. */
const limitReasons = new Set(["max-steps", "max-model-calls"]);

/** One run as the log has it. */
export interface RecordedRun {
  readonly threadId: string;
  readonly runId: string;
  /** Name of the model that it asked first; undefined: none. */
  readonly model: string | undefined;
  /** Version before the run's first event. */
  readonly after: number;
  /** Events of the run in order, data upcast. */
  readonly events: readonly RecordedEvent[];
  /** Events, from the first on, that follow from the input and the recorded answers alone. */
  readonly comparable: number;
  /** Why the others do not; undefined: all do. */
  readonly cut: RunCut | undefined;
}

const ends = new Set(["RunCompleted", "RunFailed", "RunCancelled", "RunInterrupted"]);

/**
 * The runs of a thread up to a version, oldest first; those of abandoned branches, too. Runs that a fork inherits are
 * its parent's.
 *
 * @throws {NewerSchemaError}
 * @example
 * const [first] = await readRecordedRuns(store.log, registry, "t1");
 */
export async function readRecordedRuns(
  log: EventLog,
  registry: EventRegistry,
  threadId: string,
  to?: number,
): Promise<RecordedRun[]> {
  const runs: RecordedRun[] = [];
  let created: RecordedEvent | undefined;
  let open: RecordedEvent[] = [];
  const close = () => {
    if (open.length > 0) runs.push(runOf(threadId, open));
    open = [];
  };
  const range = to === undefined ? {} : { to };
  for await (const page of log.read(threadStream(threadId), range)) {
    for (const recorded of page) {
      const { type, metadata } = recorded;
      const event = { ...recorded, data: registry.upcast(type, recorded.data, metadata.schema) };
      if (type === "ThreadCreated") created = event;
      else if (type === "RunStarted") {
        close();
        const isSameBatch = created?.metadata.runId !== undefined && created.version === event.version - 1;
        open = isSameBatch && created ? [created, event] : [event];
      } else if (open.length > 0 && metadata.runId === open.at(-1)?.metadata.runId) {
        open.push(event);
        if (ends.has(type)) close();
      }
    }
  }
  close();
  return runs;
}

function runOf(threadId: string, events: readonly RecordedEvent[]): RecordedRun {
  const started = events.find(({ type }) => type === "RunStarted");
  const { runId } = (started?.data ?? { runId: "" }) as { runId: string };
  const after = (events[0]?.version ?? 1) - 1;
  const call = events.find(({ type }) => type === "ModelCallStarted");
  const { model } = (call?.data ?? {}) as { model?: string };
  return { threadId, runId, model, after, events, ...cutOf(events) };
}

function cutOf(events: readonly RecordedEvent[]): Pick<RecordedRun, "comparable" | "cut"> {
  const outside = events.findIndex(({ type }) => type === "RunCancelRequested" || type === "RunTakenOver");
  const last = events.at(-1);
  if (outside >= 0) {
    return {
      comparable: outside,
      cut: events[outside]?.type === "RunTakenOver" ? "taken over" : "cancelled",
    };
  }
  if (!last || !ends.has(last.type)) return { comparable: events.length, cut: "open" };
  const wasAbandoned =
    last.type === "RunFailed" &&
    (last.data as { error: { name: string } }).error.name === "RunAbandonedError";
  const { stopReason = "" } = last.data as { readonly stopReason?: string };
  const wasLimited = limitReasons.has(stopReason);
  if (!wasAbandoned && !wasLimited && last.type !== "RunCancelled") {
    return { comparable: events.length, cut: undefined };
  }
  // The end is one batch with what stands before it.
  const comparable = events.findIndex(({ recordedAt }) => recordedAt === last.recordedAt);
  if (wasLimited) return { comparable, cut: "limit" };
  return { comparable, cut: wasAbandoned ? "abandoned" : "cancelled" };
}

/** Name of the model that a thread asked first; undefined: it asked none. */
export async function firstModel(log: EventLog, threadId: string): Promise<string | undefined> {
  const options = { types: ["ModelCallStarted"], limit: 1 };
  for await (const [event] of log.read(threadStream(threadId), options)) {
    if (event) return (event.data as { model?: string }).model;
  }
  return undefined;
}
