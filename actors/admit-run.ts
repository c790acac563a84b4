import { setTimeout as delay } from "node:timers/promises";
import { RunCancelRequested } from "../events/run.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RunItem, RunOptions } from "./agent-contract.ts";
import { deferred } from "./deferred.ts";
import type { LiveThread } from "./live-thread.ts";
import { recoverRun } from "./recovery.ts";
import type { RunItems } from "./run-items.ts";
import { type RunRequest, startRun } from "./start-run.ts";
import { ThreadBusyError } from "./thread-busy.ts";

/** What to do while another run is open. */
export type BusyPolicy = "reject" | "enqueue" | "interrupt";

/** Milliseconds between looks at a run that another process executes. */
export const lookMs = 100;

/** The run was cancelled while it stood in line. Nothing was recorded. */
export class RunWithdrawnError extends Error {
  override readonly name = "RunWithdrawnError";
  constructor(
    readonly runId: string,
    readonly reason: string,
  ) {
    super(`Run ${runId} was cancelled before it began (${reason}); nothing was recorded.`);
  }
}

/**
 * Lets a run start as soon as the thread is free for it. Runs that stand in line start in the order they came.
 *
 * @param withdrawn ends the wait; its reason is thrown
 * @throws {ThreadBusyError} with the policy `reject`
 */
export async function admitRun(
  thread: LiveThread,
  request: RunRequest,
  options: RunOptions,
  runId: string,
  items: RunItems<RunItem>,
  withdrawn: AbortSignal,
): Promise<ActiveRun> {
  const policy = options.whenBusy ?? thread.environment.whenBusy;
  const start = async (): Promise<ActiveRun> => {
    for (;;) {
      await unlessAborted(waitUntilFree(thread, policy), withdrawn);
      try {
        return await startRun(thread, request, options, runId, items);
      } catch (error) {
        // Somebody else was faster.
        if (!(error instanceof ThreadBusyError) || policy === "reject") throw error;
      }
    }
  };
  if (policy !== "enqueue") return start();
  const before = thread.queue;
  const turn = deferred<void>();
  thread.queue = turn.promise;
  try {
    await unlessAborted(before, withdrawn);
    return await start();
  } finally {
    // Who leaves the line early does not let the next one pass those before.
    const next = () => turn.resolve();
    before.then(next, next);
  }
}

/** Waits for a promise, or throws the reason of the signal as soon as that aborts. */
async function unlessAborted(waiting: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = deferred<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([waiting, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Resolves when no run is open on the thread. A run whose owner is gone is recovered first.
 *
 * @throws {ThreadBusyError} with the policy `reject`
 */
export async function waitUntilFree(thread: LiveThread, policy: BusyPolicy): Promise<void> {
  for (let asked = false; ; ) {
    const { active } = thread;
    if (active) {
      if (policy === "reject")
        throw new ThreadBusyError(thread.id, active.scope.runId, thread.environment.lease.owner);
      if (policy === "interrupt") await active.cancel("another run was started");
      await active.ended.catch(() => undefined);
      continue;
    }
    if (!thread.appender.view.facts.run) return;
    await thread.appender.catchUp();
    const { run } = thread.appender.view.facts;
    if (!run) return;
    if (!(await ownerIsLive(thread, run.owner))) {
      await recoverOnce(thread);
      continue;
    }
    if (policy === "reject") throw new ThreadBusyError(thread.id, run.runId, run.owner);
    if (policy === "interrupt" && !asked) {
      asked = true;
      await requestCancel(thread, run.runId, "another run was started");
    }
    await delay(lookMs);
  }
}

/** True while another process executes the open run. A run of ours that is not active here has lost its actor. */
export async function ownerIsLive(thread: LiveThread, owner: string): Promise<boolean> {
  const { lease } = thread.environment;
  return owner !== lease.owner && (await lease.isLive(owner));
}

/** Recovers the open run of a thread when its owner is gone. Two calls at once are one. */
export async function recoverOnce(thread: LiveThread): Promise<void> {
  thread.recovering ??= recoverIfAbandoned(thread).finally(() => {
    thread.recovering = undefined;
  });
  await thread.recovering;
}

async function recoverIfAbandoned(thread: LiveThread): Promise<void> {
  const { run } = thread.appender.view.facts;
  if (!run || thread.active || (await ownerIsLive(thread, run.owner))) return;
  await recoverRun(thread);
}

/** Asks for the end of a run, whoever executes it. */
async function requestCancel(thread: LiveThread, runId: string, reason: string): Promise<void> {
  await thread.appender.append(
    ({ facts }) => {
      if (facts.run?.runId !== runId || facts.run.cancelReason !== undefined) return [];
      return [{ draft: RunCancelRequested({ runId, reason }), by: "client" }];
    },
    { runId },
  );
}

/** Cancels the open run of a thread, here or elsewhere, and resolves when it has ended. */
export async function cancelOpenRun(thread: LiveThread, reason: string): Promise<void> {
  if (thread.active) return thread.active.cancel(reason);
  await thread.appender.catchUp();
  const { run } = thread.appender.view.facts;
  if (!run) return;
  await requestCancel(thread, run.runId, reason);
  for (;;) {
    const now = thread.appender.view.facts.run;
    if (now?.runId !== run.runId) return;
    if (await ownerIsLive(thread, now.owner)) await delay(lookMs);
    else await recoverOnce(thread);
    await thread.appender.catchUp();
  }
}
