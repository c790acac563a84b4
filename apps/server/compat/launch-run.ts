import { setTimeout as pause } from "node:timers/promises";
import { HTTPException } from "hono/http-exception";
import { v7 as uuidv7 } from "uuid";
import { z } from "zod";
import type { Agent, Run, RunOptions, RunResult, Thread } from "../../../actors/agent-contract.ts";
import { answersFor } from "../../../actors/langchain-input.ts";
import { threadStream } from "../../../events/envelope.ts";
import type { Json } from "../../../events/json.ts";
import { VersionConflict } from "../../../events/log/event-log.ts";
import type { ClaimedRun } from "../../../events/queue/run-queue.ts";
import { ThreadMetadataChanged } from "../../../events/thread.ts";
import { refuseValues } from "../refuse-values.ts";
import { traceRun } from "../run-spans.ts";
import type { Served } from "../served.ts";
import { agentFor, listedThread } from "../served.ts";
import type { Assistant } from "./assistant-records.ts";
import type { CheckpointPlace } from "./checkpoint-id.ts";
import { describeError } from "./errors.ts";
import { goBack, goBackTo, rewindFor } from "./go-back.ts";
import { refuseUnoffered } from "./not-offered.ts";
import { type RunBody, runSchema } from "./request-schemas.ts";
import { type BegunRun, RunDroppedError, RunPostponedError, type TrackedRun } from "./run-directory.ts";
import { queueJson } from "./run-line.ts";
import { findRun, rolledBack } from "./run-records.ts";

/** Milliseconds between looks at a thread that another process is using. */
const lookMs = 50;

/** The reference server's words. */
const busyText =
  "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.";

/** The assistant that a request names. @throws {HTTPException} 404 */
export async function assistantFor(served: Pick<Served, "assistants">, id: string): Promise<Assistant> {
  const assistant = await served.assistants.find(id);
  if (!assistant) throw new HTTPException(404, { message: `Assistant "${id}" not found.` });
  return assistant;
}

/** What a request asks a run to do. */
type Task =
  | { readonly kind: "input"; readonly input: Parameters<Thread["run"]>[0] }
  | { readonly kind: "resume"; readonly value: Json }
  | { readonly kind: "end" };

/** @throws {HTTPException} 422 */
function taskOf({ command, input }: RunBody): Task {
  const goto = command?.goto;
  const targets = goto === undefined || goto === null ? [] : Array.isArray(goto) ? goto : [goto];
  if (targets.length > 0) {
    if (targets.every((target) => target === "__end__") && command?.resume === undefined)
      return { kind: "end" };
    const message =
      'A command can go to "__end__" only. Use resume to answer interrupts, or update to change the state.';
    throw new HTTPException(422, { message });
  }
  if (command?.resume !== undefined && command.resume !== null)
    return { kind: "resume", value: command.resume };
  const update = Array.isArray(command?.update) ? Object.fromEntries(command.update) : command?.update;
  refuseValues(update ?? input);
  if (update) return { kind: "input", input: update };
  if (input === undefined || input === null) return { kind: "input", input: null };
  if (typeof input === "string") return { kind: "input", input };
  if (Array.isArray(input)) return { kind: "input", input: { messages: input } };
  if (typeof input === "object") return { kind: "input", input: input as Record<string, unknown> };
  throw new HTTPException(422, {
    message: "The input of a run is an object, a list of messages, a text or null.",
  });
}

const approvalAdvice = "ask for approval of tools by the agent's human-approval middleware.";
const notOffered = {
  interrupt_before: approvalAdvice,
  interrupt_after: approvalAdvice,
  webhook: "follow the run's stream.",
  after_seconds: "start the run when it is due.",
  feedback_keys: "record feedback in a state field of the thread.",
};

function optionsFor(body: RunBody, assistant: Assistant, runId: string, strategy: string): RunOptions {
  const { thread_id: _t, run_id: _r, ...given } = { ...body.config?.configurable };
  const ofAssistant = (assistant.config.configurable ?? {}) as Record<string, unknown>;
  const { recursion_limit: recursionLimit } = body.config ?? {};
  const context = { ...assistant.context, ...body.context };
  const fabricated = (messages: unknown) =>
    Array.isArray(messages) && messages.some((one) => one?.type === "tool" || one?.role === "tool");
  return {
    runId,
    // A result that the client made up is not the user's word.
    by: fabricated((body.input as { messages?: unknown } | null | undefined)?.messages) ? "client" : "user",
    configurable: { ...ofAssistant, ...given },
    ...(Object.keys(context).length > 0 && { context }),
    ...(recursionLimit && { limits: { maxSteps: recursionLimit } }),
    metadata: {
      ...body.metadata,
      assistant_id: assistant.assistant_id,
      graph_id: assistant.graph_id,
      multitask_strategy: strategy,
    },
  };
}

/** Clients find threads by the graph that ran on them. */
async function stampGraph(served: Served, thread: Thread, assistant: Assistant): Promise<void> {
  const row = await listedThread(served, thread.id);
  if (row?.metadata.graph_id === assistant.graph_id && row.metadata.assistant_id !== undefined) return;
  const { graph_id, assistant_id } = assistant;
  await thread.record([ThreadMetadataChanged({ metadata: { graph_id, assistant_id } })]);
}

/** Ends the open run, and takes it back when asked to. */
export async function endOpenRun(
  served: Served,
  thread: Thread,
  action: "interrupt" | "rollback",
): Promise<void> {
  const { runId, status } = await thread.info();
  if (status !== "running" || runId === undefined) return;
  const record = await findRun(served.store.log, thread.id, runId);
  await thread.cancel(action === "rollback" ? rolledBack : "interrupted by the user");
  if (action === "rollback" && record) {
    const to = record.startVersion - 1;
    await goBackTo(thread, Math.max(1, to), `run ${runId} was ${rolledBack}`);
  }
}

/** Resolves when no run of a thread is open. @param dropped ends the wait; its reason is thrown */
async function untilFree(thread: Thread, dropped: AbortSignal): Promise<void> {
  const done = new AbortController();
  const gone = new Promise<void>((resolve) => {
    dropped.addEventListener("abort", () => resolve(), { once: true, signal: done.signal });
  });
  for (;;) {
    dropped.throwIfAborted();
    const open = await thread.openRun();
    if (!open) break;
    await Promise.race([open.result.catch(() => undefined), gone]);
  }
  done.abort();
  dropped.throwIfAborted();
}

/** @param exact only at the version that the thread is at now */
async function begin(
  thread: Thread,
  agent: Agent,
  task: Task,
  given: RunOptions,
  exact: boolean,
): Promise<BegunRun> {
  let run: Run;
  const { state, interrupts, version } = await thread.snapshot();
  const options = exact ? { ...given, expectedVersion: version } : given;
  if (task.kind === "resume") {
    run = thread.resume(
      answersFor(
        task.value,
        interrupts.map(({ id }) => id),
      ),
      options,
    );
  } else if (task.kind === "end") {
    // Without a single model call: what is open is closed, and the run is over.
    run = thread.run({ messages: [] }, { ...options, by: "client", limits: { maxModelCalls: 0 } });
  } else {
    if (task.input === null) {
      if (((state.messages ?? []) as readonly unknown[]).length === 0) {
        throw new HTTPException(422, {
          message: `Agent ${agent.name} has nothing to go on from: give it an input.`,
        });
      }
    }
    run = thread.run(task.input, options);
  }
  // Nothing happened before the first event is recorded.
  const { value: first } = await run[Symbol.asyncIterator]().next();
  if (first?.kind !== "event") {
    await run.result;
    throw new Error(`Run ${run.runId} began with no event.`);
  }
  return { run, first: first.event, stateBefore: first.event.version === version + 1 ? state : undefined };
}

/** What a run needs to be started, as far as it is decided when it is asked for. */
interface RunPlan {
  readonly runId: string;
  readonly threadId: string;
  readonly body: RunBody;
  readonly strategy: Strategy;
  readonly assistant: Assistant;
  /** Where the thread goes back to first. */
  readonly back: CheckpointPlace | undefined;
  /** It begins when its turn comes in the store's line. */
  readonly queued: boolean;
  readonly stateless: boolean;
  readonly createdAt: string;
}
type Strategy = NonNullable<RunBody["multitask_strategy"]>;

/**
 * Starts a run as a client's request asks for it, after the open one if need be. Resolves when it has begun or stands
 * in line, which the store remembers.
 *
 * @throws {HTTPException} 404 assistant or checkpoint, 422 busy or not offered
 */
export async function launchRun(
  served: Served,
  threadId: string,
  body: RunBody,
  options: { readonly stateless?: boolean } = {},
): Promise<TrackedRun> {
  if (served.stopping.aborted) throw new HTTPException(503, { message: "The server is stopping." });
  const { runs, config, line, store } = served;
  const assistant = await assistantFor(served, body.assistant_id);
  refuseUnoffered(body, notOffered);
  taskOf(body);
  const thread = agentFor(served, assistant.graph_id).thread(threadId);
  const strategy = body.multitask_strategy ?? config.multitask;
  const busy = runs.ofThread(threadId).length > 0 || (await thread.info()).status === "running";
  if (busy && strategy === "reject") throw new HTTPException(422, { message: busyText });
  const back = await rewindFor(served, thread, body);
  const plan: RunPlan = {
    // A stateless run is found by its own id alone, also by a server that was started later.
    runId: options.stateless ? threadId : uuidv7(),
    threadId,
    body,
    strategy,
    assistant,
    back,
    queued: busy && strategy === "enqueue",
    stateless: options.stateless ?? false,
    createdAt: new Date().toISOString(),
  };
  if (plan.queued) {
    const { runId, createdAt: queuedAt } = plan;
    const { version: afterVersion } = await store.log.head(threadStream(threadId));
    const request = queueJson({ body, ...(back && { back }) });
    await line.add({ runId, threadId, graphId: assistant.graph_id, request, afterVersion, queuedAt });
  }
  const tracked = track(served, plan);
  if (!plan.queued) await tracked.started;
  return tracked;
}

const queuedSchema = z.object({
  body: runSchema,
  back: z.object({ threadId: z.string(), version: z.number().int() }).optional(),
});

/** Looks after a run that stands in line and whose server is gone. */
export async function adoptRun(served: Served, run: ClaimedRun): Promise<void> {
  const { runId, threadId, queuedAt } = run;
  const { line, store } = served;
  try {
    // Its server may have ended between its beginning and the line.
    if (await findRun(store.log, threadId, runId)) return await line.leave(runId);
    const { body, back } = queuedSchema.parse(run.request);
    const assistant = await assistantFor(served, body.assistant_id);
    track(served, {
      runId,
      threadId,
      body,
      strategy: "enqueue",
      assistant,
      back,
      queued: true,
      stateless: false,
      createdAt: queuedAt,
    });
  } catch (error) {
    await line.setAside(runId, describeError(error).text);
  }
}

function track(served: Served, plan: RunPlan): TrackedRun {
  const { runs, line } = served;
  const { runId, threadId, body, strategy, assistant, back, queued, stateless, createdAt } = plan;
  const task = taskOf(body);
  const agent = agentFor(served, assistant.graph_id);
  const thread = agent.thread(threadId);
  const isStamped = stateless || runs.graphOf(threadId) === assistant.graph_id;
  const runOptions = {
    ...optionsFor(body, assistant, runId, strategy),
    whenBusy: strategy === "reject" ? ("reject" as const) : ("enqueue" as const),
  };
  let undo: (() => Promise<void>) | undefined;
  const launch = async (options: RunOptions, exact: boolean): Promise<BegunRun> => {
    if (back) undo = await goBack(served, thread, back);
    try {
      const begun = await begin(thread, agent, task, options, exact);
      if (!isStamped) await stampGraph(served, thread, assistant);
      return begun;
    } catch (error) {
      await undo?.();
      undo = undefined;
      throw error;
    }
  };
  const go = async (dropped: AbortSignal): Promise<BegunRun> => {
    if (strategy !== "reject") await untilFree(thread, dropped);
    dropped.throwIfAborted();
    return launch(runOptions, false);
  };
  /** Of two servers that believe that it is their turn, the log lets one. */
  const goInTurn = async (dropped: AbortSignal): Promise<BegunRun> => {
    for (;;) {
      const first = await line.turn({ runId, threadId }, dropped);
      if (first) return { run: undefined, first, stateBefore: undefined };
      await untilFree(thread, dropped);
      if (!line.holds(runId)) continue;
      try {
        return await launch({ ...runOptions, whenBusy: "reject" }, true);
      } catch (error) {
        const isLate = error instanceof VersionConflict || (error as Error).name === "ThreadBusyError";
        if (!isLate) throw error;
        await pause(lookMs);
      }
    }
  };
  const start = async (dropped: AbortSignal): Promise<BegunRun> => {
    if (strategy === "interrupt" || strategy === "rollback") await endOpenRun(served, thread, strategy);
    if (!queued) return strategy === "enqueue" ? runs.inLine(threadId, () => go(dropped)) : go(dropped);
    try {
      const begun = await goInTurn(dropped);
      await line.leave(runId);
      return begun;
    } catch (error) {
      if (error instanceof RunPostponedError) await line.giveBack(runId);
      else if (error instanceof RunDroppedError) await line.leave(runId);
      else await line.setAside(runId, describeError(error).text);
      throw error;
    }
  };
  const settle = async ({ status }: RunResult) => {
    served.metrics.runs.inc({ graph: assistant.graph_id, status });
    // An answer that was to be made anew stays when the new one fails.
    if (status === "failed") await undo?.();
  };
  const { config: runConfig, input: _input, ...kwargs } = body;
  const tracked = runs.add(
    {
      runId,
      threadId,
      graphId: assistant.graph_id,
      assistantId: assistant.assistant_id,
      createdAt,
      multitaskStrategy: strategy,
      isKept: queued,
      metadata: runOptions.metadata ?? {},
      kwargs: { ...kwargs, config: runConfig ?? {} },
    },
    start,
    settle,
  );
  tracked.started
    .then(({ run }) => run && traceRun(run, assistant.graph_id))
    .catch((error: unknown) => served.logger.debug({ err: error, runId }, "a run did not begin"));
  return tracked;
}
