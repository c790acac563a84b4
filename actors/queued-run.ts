import { setTimeout as delay } from "node:timers/promises";
import { type EventLog, VersionConflict } from "../events/log/event-log.ts";
import type { ClaimedRun } from "../events/queue/run-queue.ts";
import { lookMs, ownerIsLive, recoverOnce } from "./admit-run.ts";
import type { Agent, RunOptions, RunStatus } from "./agent-contract.ts";
import { internalsOf } from "./agent-internals.ts";
import type { LiveThread } from "./live-thread.ts";
import type { QueuedRequest } from "./queued-request.ts";
import { ThreadBusyError } from "./thread-busy.ts";

/** Looks for the start of a run in the log, and remembers how far it looked. */
interface StartSearch {
  /** True when the run was started, up to a version. */
  upTo(version: number): Promise<boolean>;
}

function searchStart(log: EventLog, stream: string, run: ClaimedRun): StartSearch {
  let looked = run.afterVersion;
  let found = false;
  return {
    async upTo(version) {
      if (found || version <= looked) return found;
      const pages = log.read(stream, { from: looked + 1, to: version, types: ["RunStarted"] });
      for await (const page of pages) {
        found ||= page.some(({ data }) => (data as { runId?: string }).runId === run.runId);
      }
      looked = version;
      return found;
    },
  };
}

/** Waits until something may have changed about the open run of a thread; sees to it when its owner is gone. */
async function waitForChange(thread: LiveThread, signal: AbortSignal): Promise<void> {
  const { active } = thread;
  if (active) {
    await orAborted(
      active.ended.then(
        () => undefined,
        () => undefined,
      ),
      signal,
    );
    return;
  }
  const { run } = thread.appender.view.facts;
  if (!run) return;
  if (await ownerIsLive(thread, run.owner)) await delay(lookMs, undefined, { signal });
  else await recoverOnce(thread);
}

async function orAborted(waiting: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    await Promise.race([waiting, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Brings a queued run to its end, whoever executes it: starts it when the log does not have it, goes on with it when its
 * owner is gone, and otherwise waits. Each start names the version of the thread up to which there is no start of this
 * run, so that of two workers that try, the log lets one.
 *
 * @param signal ends the wait; its reason is thrown
 * @returns how the run ended
 * @throws what starting it throws: nothing of the run is recorded then
 */
export function endQueuedRun(
  agent: Agent,
  run: ClaimedRun,
  { options, ...request }: QueuedRequest,
  signal: AbortSignal,
): Promise<RunStatus> {
  return internalsOf(agent).threads.use(run.threadId, async (thread) => {
    const search = searchStart(thread.environment.store.log, thread.stream, run);
    for (;;) {
      if (!thread.active) await thread.appender.catchUp();
      const { version, facts } = thread.appender.view;
      // While this process is alive nobody else goes on with a run of its own that it lost.
      const isLost = !thread.active && facts.run?.owner === thread.environment.lease.owner;
      if (!isLost) signal.throwIfAborted();
      const isStarted = await search.upTo(version);
      if (facts.run) {
        await waitForChange(thread, signal);
        continue;
      }
      if (isStarted) return endOf(thread, run.runId);
      const runOptions = {
        ...options,
        runId: run.runId,
        expectedVersion: version,
        whenBusy: "reject",
      } as RunOptions;
      const handle = agent.thread(run.threadId);
      const started =
        "answers" in request
          ? handle.resume(request.answers, runOptions)
          : handle.run(request.input, runOptions);
      try {
        await started.result;
      } catch (error) {
        // Somebody else was faster, with this run or another one.
        if (!(error instanceof VersionConflict || error instanceof ThreadBusyError)) throw error;
      }
    }
  });
}

const endings: Readonly<Record<string, RunStatus>> = {
  RunCompleted: "completed",
  RunInterrupted: "interrupted",
  RunCancelled: "cancelled",
  RunFailed: "failed",
};

async function endOf(thread: LiveThread, runId: string): Promise<RunStatus> {
  const types = Object.keys(endings);
  const pages = thread.environment.store.log.read(thread.stream, { types, backwards: true });
  for await (const page of pages) {
    const end = page.find(({ data }) => (data as { runId?: string }).runId === runId);
    if (end) return endings[end.type] ?? "failed";
  }
  return "failed";
}
