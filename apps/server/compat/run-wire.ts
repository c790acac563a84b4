import type { SideStore } from "../../../events/log/side-store.ts";
import type { QueueEntry } from "../../../events/queue/run-queue.ts";
import type { TrackedRun } from "./run-directory.ts";
import type { RunRecord } from "./run-records.ts";

/** True for runs that a client deleted from the list. */
export async function isHidden(side: SideStore, threadId: string, runId: string): Promise<boolean> {
  return (await side.get("hidden-run", `${threadId}/${runId}`)) !== undefined;
}

/** A run that was asked for here, as LangGraph's clients read it. */
export function wireTracked(run: TrackedRun): Record<string, unknown> {
  return {
    run_id: run.runId,
    thread_id: run.threadId,
    assistant_id: run.assistantId,
    created_at: run.createdAt,
    updated_at: run.createdAt,
    status: run.status(),
    metadata: run.metadata,
    kwargs: run.kwargs,
    multitask_strategy: run.multitaskStrategy,
  };
}

/** A run that stands in line and that no server executes yet, or that could not be started. */
export function wireWaiting(entry: QueueEntry): Record<string, unknown> {
  const { runId, threadId, queuedAt, state, reason, request } = entry;
  const { body } = request as {
    readonly body?: { readonly metadata?: unknown; readonly assistant_id?: unknown };
  };
  return {
    run_id: runId,
    thread_id: threadId,
    assistant_id: body?.assistant_id ?? null,
    created_at: queuedAt,
    updated_at: queuedAt,
    status: state === "parked" ? "error" : "pending",
    metadata: body?.metadata ?? {},
    kwargs: {},
    multitask_strategy: "enqueue",
    ...(reason !== undefined && { error: reason }),
  };
}

/** A run of the log. What it was given is in the thread's events, not in its record. */
export function wireRecord(record: RunRecord, tracked: TrackedRun | undefined): Record<string, unknown> {
  const { runId, threadId, startedAt, updatedAt, status, metadata, error } = record;
  return {
    run_id: runId,
    thread_id: threadId,
    assistant_id: metadata.assistant_id ?? null,
    created_at: startedAt,
    updated_at: updatedAt,
    status,
    metadata,
    kwargs: tracked?.kwargs ?? {},
    multitask_strategy: metadata.multitask_strategy ?? "reject",
    ...(error && { error: `${error.name}: ${error.message}` }),
  };
}
