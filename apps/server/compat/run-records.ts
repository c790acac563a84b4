import { type RecordedEvent, threadIdOf, threadStream } from "../../../events/envelope.ts";
import type { Json } from "../../../events/json.ts";
import type { EventLog } from "../../../events/log/event-log.ts";
import type { ErrorData } from "../../../events/run.ts";

export type WireRunStatus = "pending" | "running" | "error" | "success" | "timeout" | "interrupted";

/** A run as the log tells of it. */
export interface RunRecord {
  readonly runId: string;
  readonly threadId: string;
  /** Version of its `RunStarted`. */
  readonly startVersion: number;
  readonly startedAt: string;
  /** Of its end, or of its start while it is open. */
  readonly updatedAt: string;
  readonly status: WireRunStatus;
  readonly error: ErrorData | undefined;
  readonly metadata: Readonly<Record<string, Json>>;
}

const statusOfEnd: Readonly<Record<string, WireRunStatus>> = {
  RunCompleted: "success",
  RunInterrupted: "success",
  RunCancelled: "interrupted",
  RunFailed: "error",
};
const types = ["RunStarted", ...Object.keys(statusOfEnd)];

/** Begins the reason of a cancellation whose run was taken back. */
export const rolledBack = "rolled back by the user";

interface RunData {
  readonly runId: string;
  readonly metadata?: Readonly<Record<string, Json>>;
  readonly error?: ErrorData;
  readonly reason?: string;
}

/**
 * Runs of a thread, newest first.
 *
 * @param options.runId only this one
 */
export async function* readRuns(
  log: EventLog,
  threadId: string,
  options: { readonly runId?: string } = {},
): AsyncGenerator<RunRecord> {
  const ends = new Map<string, Pick<RunRecord, "updatedAt" | "status" | "error">>();
  for await (const page of log.read(threadStream(threadId), { types, backwards: true })) {
    for (const { type, data, version, recordedAt } of page) {
      const { runId, metadata = {}, error, reason } = data as unknown as RunData;
      if (options.runId !== undefined && runId !== options.runId) continue;
      if (type !== "RunStarted") {
        const takenBack = type === "RunCancelled" && reason?.startsWith(rolledBack);
        ends.set(runId, {
          updatedAt: recordedAt,
          status: takenBack ? "error" : (statusOfEnd[type] ?? "error"),
          error: takenBack ? { name: "RolledBack", message: reason ?? rolledBack } : error,
        });
        continue;
      }
      const end = ends.get(runId) ?? { updatedAt: recordedAt, status: "running" as const, error: undefined };
      yield { runId, threadId, startVersion: version, startedAt: recordedAt, metadata, ...end };
      if (options.runId !== undefined) return;
    }
  }
}

/** One run of a thread; undefined: the log has none of this id. */
export async function findRun(
  log: EventLog,
  threadId: string,
  runId: string,
): Promise<RunRecord | undefined> {
  for await (const run of readRuns(log, threadId, { runId })) return run;
  return undefined;
}

/** The run that a `RunStarted` begins, as long as it is open. */
export function recordOfStart({ stream, version, recordedAt, data }: RecordedEvent): RunRecord {
  const { runId, metadata = {} } = data as unknown as RunData;
  const threadId = threadIdOf(stream) ?? stream;
  const open = { updatedAt: recordedAt, status: "running" as const, error: undefined };
  return { runId, threadId, startVersion: version, startedAt: recordedAt, metadata, ...open };
}
