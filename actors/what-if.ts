import { threadStream } from "../events/envelope.ts";
import type { Json } from "../events/json.ts";
import { checkNotErased } from "../projections/content-erased.ts";
import { changedNames, diffStates } from "../projections/diff.ts";
import type { PatchOperation } from "../projections/json-patch.ts";
import { checkVersion, resolveLineage } from "../projections/lineage.ts";
import type { State } from "../reducers/thread-state.ts";
import type { Agent, RunInput, RunOptions, RunResult, RunStatus, Thread } from "./agent-contract.ts";
import { type RecordedRun, readRecordedRuns } from "./rerun/recorded-run.ts";
import { startFromInput } from "./rerun/start-from-input.ts";

/** Nothing follows on the version, so there is nothing to do otherwise. */
export class NothingToCompareError extends Error {
  override readonly name = "NothingToCompareError";
  constructor(
    readonly threadId: string,
    readonly version: number,
  ) {
    super(
      `No run of thread "${threadId}" began at or after version ${version}, so there is no input to give again. Name an earlier version, or give an input.`,
    );
  }
}

/** How one way went. */
export interface Outcome {
  readonly threadId: string;
  readonly version: number;
  readonly status: RunStatus | "open";
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** Names of the tools that were called, in order. */
  readonly tools: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Milliseconds from the first event of the runs to the last one. */
  readonly durationMs: number;
  readonly answer: string | undefined;
}

/** What happened, and what happened otherwise. */
export interface WhatIf {
  /** Version of the thread at which the two part. */
  readonly at: number;
  /** Undefined: nothing had happened after that version. */
  readonly before: Outcome | undefined;
  /** In a fork of the thread, which stays. */
  readonly after: Outcome;
  /** Fields of the state that differ in the end, and how; empty without a `before`. */
  readonly fields: readonly string[];
  readonly patch: readonly PatchOperation[];
}

export interface WhatIfOptions {
  /** Version to fork at. The run that begins there, or is the next one after, is done otherwise. */
  readonly at: number;
  /** What the fork is given; default: what the recorded run was given. */
  readonly input?: RunInput;
  /** Recorded runs to do otherwise, one after the other. Default 1. */
  readonly runs?: number;
  /** Id of the fork; default: a new one. */
  readonly threadId?: string;
  readonly context?: RunOptions["context"];
  readonly configurable?: RunOptions["configurable"];
  readonly signal?: AbortSignal;
}

/**
 * Forks a thread at a version, runs it there with another agent (another model, prompt, tool or middleware), and
 * compares the outcomes. The model is asked and tools run; the thread itself stays as it is.
 *
 * @param agent the changed agent, on the thread's store
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {NothingToCompareError}
 * @throws {UnrepeatableInputError}
 * @example
 * const { before, after, fields } = await whatIf(createAgent({ ...options, model: other }), "t1", { at: 7 });
 */
export async function whatIf(agent: Agent, threadId: string, options: WhatIfOptions): Promise<WhatIf> {
  const { at, input, runs: count = 1, signal, context, configurable } = options;
  const { log } = await agent.store();
  await checkVersion(log, threadStream(threadId), at);
  await checkNotErased(log, threadStream(threadId), "its runs cannot be done otherwise.");
  const following = await runsAfter(agent, threadId, at);
  const recorded = following.slice(0, count);
  const [first] = recorded;
  if (!first && input === undefined) throw new NothingToCompareError(threadId, at);
  const thread = agent.thread(threadId);
  const metadata: Record<string, Json> = { what_if: { thread_id: threadId, version: at } };
  const forkAt = input === undefined && first ? first.after : at;
  const fork = await thread.fork({
    at: forkAt,
    metadata,
    ...(options.threadId !== undefined && { threadId: options.threadId }),
  });
  const runOptions: RunOptions = {
    ...(signal && { signal }),
    ...(context && { context }),
    ...(configurable && { configurable }),
  };
  const results =
    input === undefined
      ? await playAll(fork, recorded, runOptions)
      : [await fork.run(input, runOptions).result];
  const made = await readRecordedRuns(log, agent.registry, fork.id);
  const last = results.at(-1);
  const after = outcomeOf(fork.id, made, await fork.state());
  if (recorded.length === 0) return { at: forkAt, before: undefined, after, fields: [], patch: [] };
  const end = recorded.at(-1)?.events.at(-1)?.version ?? at;
  const state = await thread.stateAt(end);
  const other = last?.state ?? (await fork.state());
  const { toJsonPatch } = await import("../projections/json-patch.ts");
  return {
    at: forkAt,
    before: outcomeOf(threadId, recorded, state),
    after,
    fields: changedNames(state, other),
    patch: toJsonPatch(diffStates(state, other)),
  };
}

/** Recorded runs from a version on, of the branch that the version stands on. */
async function runsAfter(agent: Agent, threadId: string, at: number): Promise<readonly RecordedRun[]> {
  const { log } = await agent.store();
  const stream = threadStream(threadId);
  const { version: head } = await log.head(stream);
  const runs = (await readRecordedRuns(log, agent.registry, threadId)).filter(({ after }) => after >= at);
  const segments = await resolveLineage(log, stream, head);
  const isCurrent = (version: number) =>
    version === 0 ||
    segments.some((one) => one.stream === stream && one.from <= version && version <= one.to);
  // In a branch that was left behind it is what followed there.
  if (!isCurrent(at)) return runs;
  return runs.filter(({ events }) => isCurrent(events[0]?.version ?? 0));
}

async function playAll(
  fork: Thread,
  recorded: readonly RecordedRun[],
  options: RunOptions,
): Promise<readonly RunResult[]> {
  const results: RunResult[] = [];
  for (const run of recorded) {
    const result = await startFromInput(fork, run, options).result;
    results.push(result);
    // What was said next was said to a thread that had come to its rest.
    if (result.status !== "completed" && result.status !== "interrupted") break;
  }
  return results;
}

const statuses: Readonly<Record<string, RunStatus>> = {
  RunCompleted: "completed",
  RunInterrupted: "interrupted",
  RunCancelled: "cancelled",
  RunFailed: "failed",
};

function outcomeOf(threadId: string, runs: readonly RecordedRun[], state: State): Outcome {
  const events = runs.flatMap((run) => run.events);
  const responded = events.filter(({ type }) => type === "ModelResponded");
  const tokens = (key: "input_tokens" | "output_tokens") =>
    responded.reduce((sum, { data }) => {
      const { usage } = data as { usage?: Readonly<Record<string, number>> };
      return sum + (usage?.[key] ?? 0);
    }, 0);
  const started = events.filter(({ type, data }) => type === "ToolCallStarted" && !isEdit(data));
  const tools = started.map(({ data }) => (data as { name: string }).name);
  const last = events.at(-1);
  return {
    threadId,
    version: last?.version ?? 0,
    status: statuses[last?.type ?? ""] ?? "open",
    modelCalls: responded.length,
    toolCalls: tools.length,
    tools,
    inputTokens: tokens("input_tokens"),
    outputTokens: tokens("output_tokens"),
    durationMs: runs.reduce((sum, run) => sum + durationOf(run), 0),
    answer: answerOf(state),
  };
}

/** A start that only tells of other arguments. */
function isEdit(data: Json): boolean {
  return (data as { args?: Json }).args !== undefined;
}

function durationOf({ events }: RecordedRun): number {
  const [first, last] = [events[0], events.at(-1)];
  return first && last ? Date.parse(last.recordedAt) - Date.parse(first.recordedAt) : 0;
}

function answerOf(state: State): string | undefined {
  const messages = (state.messages ?? []) as readonly { type: string; content: unknown }[];
  const last = messages.findLast(({ type }) => type === "ai");
  if (!last) return undefined;
  return typeof last.content === "string" ? last.content : JSON.stringify(last.content);
}
