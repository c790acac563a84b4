import { setTimeout as pause } from "node:timers/promises";
import type { QueueEntry } from "../../../events/queue/run-queue.ts";
import type { Served } from "../served.ts";
import { findRun } from "./run-records.ts";

/** Milliseconds between looks at a run that stands in another server's line. */
const lookMs = 100;

type Line = Pick<Served, "line" | "runs" | "store">;

/** Runs of a thread that stand in line without this server looking after them: in another one, or set aside. */
export async function waitingRuns(served: Line, threadId: string): Promise<readonly QueueEntry[]> {
  const waiting: QueueEntry[] = [];
  for (const entry of await served.line.ofThread(threadId)) {
    if (served.runs.get(entry.runId) || (await findRun(served.store.log, threadId, entry.runId))) continue;
    waiting.push(entry);
  }
  return waiting;
}

/** One of them. */
export async function waitingRun(
  served: Line,
  threadId: string,
  runId: string,
): Promise<QueueEntry | undefined> {
  return (await waitingRuns(served, threadId)).find((entry) => entry.runId === runId);
}

/** Resolves when a run has begun somewhere, is looked after here, or stands in no line (any more). */
export async function untilTracked(
  served: Line & Pick<Served, "closing">,
  threadId: string,
  runId: string,
): Promise<void> {
  while (!served.runs.get(runId) && !served.closing.aborted) {
    const entry = await waitingRun(served, threadId, runId);
    if (!entry || entry.state === "parked") return;
    await pause(lookMs, undefined, { signal: served.closing }).catch(() => undefined);
  }
}
