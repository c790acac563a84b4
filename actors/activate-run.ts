import { type ActiveRun, driveRun } from "./active-run.ts";
import type { LiveThread } from "./live-thread.ts";
import type { RunScope } from "./run-scope.ts";

/** Lets a recorded run go, and takes it off the thread when it has ended. */
export function activate(
  thread: LiveThread,
  scope: RunScope,
  controller: AbortController,
  entry: {
    readonly phase: Parameters<typeof driveRun>[0]["phase"];
    readonly modelCalls: number;
    readonly steps: number;
  },
): ActiveRun {
  const active = driveRun({ scope, controller, lifecycle: thread.lifecycle, ...entry });
  thread.active = active;
  const done = () => {
    if (thread.active === active) thread.active = undefined;
    thread.lastUsedAt = Date.now();
    thread.environment.lease.release();
    scope.items.end();
  };
  active.ended.then(done, done);
  const { signal } = scope.options;
  if (signal) cancelWith(active, signal);
  return active;
}

function cancelWith(active: ActiveRun, signal: AbortSignal): void {
  const cancel = () => {
    active.cancel("aborted by the caller").catch(() => undefined);
  };
  if (signal.aborted) cancel();
  if (signal.aborted) return;
  signal.addEventListener("abort", cancel, { once: true });
  const forget = () => signal.removeEventListener("abort", cancel);
  active.ended.then(forget, forget);
}
