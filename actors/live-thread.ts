import type { RecordedEvent } from "../events/envelope.ts";
import { threadStream } from "../events/envelope.ts";
import { blobsOfThread } from "../events/keys/with-encryption.ts";
import { UnknownThreadError } from "../projections/lineage.ts";
import { runFactsField } from "../reducers/run-facts.ts";
import type { ActiveRun } from "./active-run.ts";
import type { ThreadLifecycle } from "./lifecycle.ts";
import { type Environment, followTrail, type ThreadMemory } from "./run-scope.ts";
import { createThreadAppender, type ThreadAppender } from "./thread-append.ts";
import type { ThreadView } from "./thread-view.ts";

/** A thread in memory: its lifecycle, its folded state, its end of the log, and the run that is open here. */
export interface LiveThread {
  readonly id: string;
  readonly stream: string;
  readonly environment: Environment;
  readonly appender: ThreadAppender;
  readonly lifecycle: ThreadLifecycle;
  readonly memory: ThreadMemory;
  active: ActiveRun | undefined;
  /** The open run of a process that is gone is being seen to. */
  recovering: Promise<void> | undefined;
  /** Runs that stand in line. */
  queue: Promise<unknown>;
  /** What uses the thread right now; it stays in memory meanwhile. */
  users: number;
  /** Milliseconds since the epoch. */
  lastUsedAt: number;
}

/** Folds a thread from the log, or starts an empty one. It is in a rest state, whatever its log says is open. */
export async function loadThread(threadId: string, environment: Environment): Promise<LiveThread> {
  const { assembly, store, fold, reader } = environment;
  const stream = threadStream(threadId);
  const load = async (): Promise<ThreadView> => {
    try {
      const { state, version } = await reader.latest(threadId);
      return fold.fromLoaded(state, version);
    } catch (error) {
      if (error instanceof UnknownThreadError) return fold.empty;
      throw error;
    }
  };
  const [start, { startLifecycle }] = await Promise.all([load(), import("./thread-machine.ts")]);
  const memory: ThreadMemory = { previousView: undefined };
  let thread: LiveThread | undefined;
  const appender = createThreadAppender({
    log: store.log,
    blobs: blobsOfThread(store, threadId),
    registry: assembly.registry,
    stream,
    fold,
    start,
    reload: () => {
      // What the last model call showed belongs to another line of the thread.
      memory.previousView = undefined;
      return load();
    },
    onRecorded(events, own) {
      const { state, facts } = appender.view;
      reader.appended(threadId, events, { ...state, [runFactsField]: facts });
      if (thread?.active) noticeInRun(thread.active, events, own, appender.view);
    },
  });
  thread = {
    id: threadId,
    stream,
    environment,
    appender,
    lifecycle: startLifecycle((error) => thread?.active?.scope.items.end(error)),
    memory,
    active: undefined,
    recovering: undefined,
    queue: Promise.resolve(),
    users: 0,
    lastUsedAt: Date.now(),
  };
  return thread;
}

function noticeInRun(
  active: ActiveRun,
  events: readonly RecordedEvent[],
  own: boolean,
  { facts }: ThreadView,
): void {
  const { scope } = active;
  for (const event of events) scope.items.push({ kind: "event", event });
  if (own) {
    followTrail(scope, events);
    return;
  }
  const isOurs = facts.run?.runId === scope.runId && facts.run.owner === scope.environment.lease.owner;
  if (!isOurs) active.abandon();
  else if (facts.run?.cancelReason !== undefined) {
    followTrail(scope, events);
    active.cancel(facts.run.cancelReason, { recorded: true }).catch(() => undefined);
  }
}
