import { type RecordedEvent, threadStream } from "../events/envelope.ts";
import type { Store } from "../events/store.ts";
import { openInterrupts } from "../reducers/run-facts.ts";
import type { ActiveRun } from "./active-run.ts";
import { admitRun, cancelOpenRun, RunWithdrawnError, recoverOnce } from "./admit-run.ts";
import type { Run, RunItem, RunOptions, Thread, ThreadInfo, ThreadStatus } from "./agent-contract.ts";
import { deferred } from "./deferred.ts";
import { forkThread } from "./fork-thread.ts";
import type { LiveThread } from "./live-thread.ts";
import { mintId } from "./mint-id.ts";
import { recordOutside, rewindThread, updateOutside } from "./record-outside.ts";
import type { ThreadRegistry } from "./registry.ts";
import { followRun, resultOf, withoutFacts } from "./run-handle.ts";
import { createRunItems } from "./run-items.ts";
import type { Environment } from "./run-scope.ts";
import type { RunRequest } from "./start-run.ts";
import type { ThreadView } from "./thread-view.ts";

/** Makes the handle of a thread. It holds nothing itself: the thread is opened when it is used. */
export function createThread(
  id: string,
  registry: ThreadRegistry,
  environment: () => Promise<Environment>,
): Thread {
  const start = (request: RunRequest, options: RunOptions): Run =>
    startInBackground(id, registry, request, options);

  return {
    id,
    run: (input, options = {}) => start({ kind: "input", input }, options),
    resume: (answers, options = {}) => start({ kind: "answers", answers }, options),
    info: () => registry.use(id, async (thread) => infoOf(id, await latestView(thread))),
    snapshot: () =>
      registry.use(id, async (thread) => {
        const view = await latestView(thread);
        return { ...infoOf(id, view), state: view.state };
      }),
    state: () => registry.use(id, async (thread) => (await latestView(thread)).state),
    stateAt: async (version) => withoutFacts(await (await environment()).reader.stateAt(id, version)),
    events: (options = {}) => readEvents(environment, id, options),
    async fork(options = {}) {
      const { at, threadId = mintId(), metadata } = options;
      await forkThread((await environment()).store, { parentId: id, childId: threadId, at, metadata });
      await registry.passivate(threadId);
      return createThread(threadId, registry, environment);
    },
    rewind: (options) => registry.use(id, (thread) => rewindThread(thread, options)),
    record: (drafts, options) => registry.use(id, (thread) => recordOutside(thread, drafts, options)),
    update: (values, options) => registry.use(id, (thread) => updateOutside(thread, values, options)),
    openRun: () =>
      registry.use(id, async (thread) => {
        const { run } = (await latestView(thread)).facts;
        // One of this owner that is not active yet is about to be.
        if (run && run.owner !== thread.environment.lease.owner) await recoverOnce(thread);
        return thread.active && followRun(thread, thread.active);
      }),
    cancel: (reason = "cancelled") => registry.use(id, (thread) => cancelOpenRun(thread, reason)),
    passivate: () => registry.passivate(id),
  };
}

function startInBackground(
  id: string,
  registry: ThreadRegistry,
  request: RunRequest,
  options: RunOptions,
): Run {
  const runId = options.runId ?? mintId();
  const items = createRunItems<RunItem>();
  const started = deferred<ActiveRun>();
  started.promise.catch(() => undefined);
  const withdrawal = new AbortController();
  const withdrawn = options.signal ? AbortSignal.any([withdrawal.signal, options.signal]) : withdrawal.signal;
  const result = registry.use(id, async (thread) => {
    const active = await admitRun(thread, request, options, runId, items, withdrawn);
    started.resolve(active);
    return resultOf(thread, active);
  });
  result.catch((error: unknown) => {
    // Nothing was recorded: whoever follows the run is told why.
    started.reject(error);
    items.end(error);
  });
  return {
    runId,
    threadId: id,
    result,
    async cancel(reason = "cancelled") {
      withdrawal.abort(new RunWithdrawnError(runId, reason));
      const active = await started.promise.catch((error: unknown) => {
        if (error instanceof RunWithdrawnError) return undefined;
        throw error;
      });
      await active?.cancel(reason);
    },
    [Symbol.asyncIterator]: () => items[Symbol.asyncIterator](),
  };
}

/** The thread as the log has it now; while a run is open here, this process knows best. */
async function latestView(thread: LiveThread): Promise<ThreadView> {
  if (!thread.active) await thread.appender.catchUp();
  return thread.appender.view;
}

function statusOf({ facts }: ThreadView): ThreadStatus {
  if (facts.run) return "running";
  if (facts.archived) return "archived";
  if (openInterrupts(facts).length > 0) return "interrupted";
  if (facts.lastEnd === "failed" || facts.lastEnd === "cancelled") return facts.lastEnd;
  return "idle";
}

function infoOf(threadId: string, view: ThreadView): ThreadInfo {
  const { facts, version } = view;
  return {
    threadId,
    version,
    status: statusOf(view),
    runId: facts.run?.runId ?? facts.lastRunId ?? undefined,
    interrupts: openInterrupts(facts),
    metadata: facts.metadata,
  };
}

async function* readEvents(
  environment: () => Promise<{ readonly store: Store }>,
  id: string,
  options: { from?: number; to?: number; types?: readonly string[] },
): AsyncIterable<RecordedEvent> {
  const { store } = await environment();
  for await (const page of store.log.read(threadStream(id), options)) yield* page;
}
