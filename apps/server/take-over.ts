import { threadList } from "../../projections/thread-list.ts";
import { agentFor, type Served } from "./served.ts";

/** Threads with an open run that are looked at in one go. */
const maxThreads = 1_000;

/**
 * Looks for open runs whose process is gone, and recovers them as their agents are told to. A thread in which something
 * was recorded since the last look is left alone.
 *
 * @returns call it now and then
 */
export function createTakeOver(served: Served): () => Promise<void> {
  let seen = new Map<string, number>();
  return async () => {
    const view = served.projections.view(threadList);
    const match = [
      { path: ["status"], equals: "running" },
      { path: ["delegatedBy"], equals: null },
    ];
    const now = new Map<string, number>();
    for (const { row } of await view.list({ match, limit: maxThreads })) {
      const { threadId, version, metadata } = row;
      if (served.runs.ofThread(threadId).some((run) => run.status() === "running")) continue;
      now.set(threadId, version);
      if (seen.get(threadId) === version)
        await agentFor(served, metadata.graph_id).thread(threadId).openRun();
    }
    seen = now;
  };
}
