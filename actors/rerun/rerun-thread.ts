import type { RecordedEvent } from "../../events/envelope.ts";
import { threadIdOf, threadStream } from "../../events/envelope.ts";
import type { Json } from "../../events/json.ts";
import { lacksContent } from "../../events/keys/seal-data.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import type { Store } from "../../events/store.ts";
import { ContentErasedError } from "../../projections/content-erased.ts";
import { changedNames } from "../../projections/diff.ts";
import { checkVersion, resolveLineage } from "../../projections/lineage.ts";
import { createStateReader } from "../../projections/state-at.ts";
import type { Agent, Run, RunOptions } from "../agent-contract.ts";
import type { ReplayMissError } from "../models/replay/replay-miss.ts";
import { withRecordedAnswers } from "../steps/recorded-answers.ts";
import { answersOfRun, inputOf } from "./answers-of-run.ts";
import { createEventComparison } from "./compare-events.ts";
import { firstModel, type RecordedRun, type RunCut, readRecordedRuns } from "./recorded-run.ts";
import { storeBefore } from "./store-before.ts";

/** An agent that was made ready cannot be put on another store. */
export class AgentStoreError extends Error {
  override readonly name = "AgentStoreError";
  constructor(readonly agent: string) {
    super(
      `Agent "${agent}" keeps its own store, so its runs cannot be done again beside it. Make the agent with the store that is given: export options, or a function that is given { store }.`,
    );
  }
}

/** The first place where a rerun emitted something else than what is recorded. */
export interface RerunDivergence {
  readonly threadId: string;
  /** Version of the recorded event; that after the last one, when the rerun went on. */
  readonly version: number;
  readonly runId: string;
  /** What differs: `data.title`, `type`, … */
  readonly path: string;
  /** What stands at the path. */
  readonly values: { readonly recorded: unknown; readonly rerun: unknown };
  /** Fields of the state that come out otherwise. */
  readonly fields: readonly string[];
  /** The events; undefined: there was none. */
  readonly recorded: RecordedEvent | undefined;
  readonly rerun: RecordedEvent | undefined;
  /** An answer that the hooks asked for and the log does not have. */
  readonly miss: ReplayMissError | undefined;
}

/** One run that was done again. */
interface RerunRun {
  readonly runId: string;
  /** First and last version of what was compared. */
  readonly from: number;
  readonly to: number;
  readonly events: number;
  /** Why the run was compared up to there only. */
  readonly cut: RunCut | undefined;
  readonly divergence: RerunDivergence | undefined;
}

export interface Rerun {
  readonly threadId: string;
  readonly runs: readonly RerunRun[];
  /** That of the first run that has one. */
  readonly divergence: RerunDivergence | undefined;
}

export interface RerunOptions {
  /** Only this run. */
  readonly runId?: string;
  /** Runs that began up to this version; default: all. */
  readonly to?: number;
  /** Contexts are not in the log: what the runs were given. */
  readonly context?: RunOptions["context"];
  readonly configurable?: RunOptions["configurable"];
}

/** Makes the agent for a store; `model` is the name of the model that the run asked. */
export type AgentFor = (
  store: Store,
  recorded: { readonly model: string | undefined },
) => Agent | Promise<Agent>;

/**
 * Executes the hooks of recorded runs again, with the answers of models and tools from the log, and compares the events
 * that come out with those that are recorded. Each run begins where it began then. No model, tool or sandbox is
 * reached, and nothing is written to the source.
 *
 * @param agentFor makes the agent for a store; it is called once a run
 * @throws {UnknownThreadError} @throws {AgentStoreError} @throws {NewerSchemaError} @throws {ContentErasedError}
 * @example
 * const { divergence } = await rerunThread(store, "t1", (store) => createAgent({ ...options, store }));
 * divergence?.path; // "data.title"
 */
export async function rerunThread(
  source: Store,
  threadId: string,
  agentFor: AgentFor,
  options: RerunOptions = {},
): Promise<Rerun> {
  await checkVersion(source.log, threadStream(threadId), options.to);
  await checkContent(source.log, threadId, options.to);
  const probe = await storeBefore(source, threadId, 0);
  const reading = await agentFor(probe, { model: await firstModel(source.log, threadId) });
  const recorded = await readRecordedRuns(source.log, reading.registry, threadId, options.to);
  await reading.close();
  await probe.close();
  const runs: RerunRun[] = [];
  for (const run of recorded) {
    if (options.runId !== undefined && run.runId !== options.runId) continue;
    runs.push(await rerunOne(source, run, agentFor, options));
  }
  return { threadId, runs, divergence: runs.find(({ divergence }) => divergence)?.divergence };
}

async function checkContent(log: EventLog, threadId: string, to: number | undefined): Promise<void> {
  const stream = threadStream(threadId);
  const { version } = await log.head(stream);
  for (const segment of await resolveLineage(log, stream, to ?? version)) {
    for await (const page of log.read(segment.stream, { from: segment.from, to: segment.to })) {
      const first = page.find(({ data }) => lacksContent(data));
      if (!first) continue;
      throw new ContentErasedError(
        threadIdOf(first.stream) ?? threadId,
        first.version,
        `its runs cannot be done again. A refold still checks what is left: threadfold replay ${threadId}`,
      );
    }
  }
}

async function rerunOne(
  source: Store,
  run: RecordedRun,
  agentFor: AgentFor,
  options: RerunOptions,
): Promise<RerunRun> {
  const store = await storeBefore(source, run.threadId, run.after);
  const agent = await agentFor(store, { model: run.model });
  if ((await agent.store()) !== store) throw new AgentStoreError(agent.name);
  try {
    const { emitted, miss } = await emit(agent, store, run, options);
    const difference = firstDifference(run, emitted);
    const compared = run.events.slice(0, run.comparable);
    const divergence = difference && (await describe(agent, store, run, difference, miss));
    return {
      runId: run.runId,
      from: run.after + 1,
      to: compared.at(-1)?.version ?? run.after,
      events: compared.length,
      cut: run.cut,
      divergence,
    };
  } finally {
    await agent.close();
    await store.close();
  }
}

async function emit(
  agent: Agent,
  store: Store,
  run: RecordedRun,
  { context, configurable }: RerunOptions,
): Promise<{ emitted: readonly RecordedEvent[]; miss: ReplayMissError | undefined }> {
  const controller = new AbortController();
  let miss: ReplayMissError | undefined;
  const answers = answersOfRun({
    run,
    registry: agent.registry,
    blobs: store.blobs,
    onMiss(error) {
      miss ??= error;
      controller.abort(error);
    },
  });
  const emitted: RecordedEvent[] = [];
  await withRecordedAnswers(answers, async () => {
    const started = startAgain(agent, run, {
      signal: controller.signal,
      ...(context && { context }),
      ...(configurable && { configurable }),
    });
    for await (const item of started) {
      if (item.kind !== "event") continue;
      emitted.push(item.event);
      answers.emitted(item.event);
    }
    await started.result;
  });
  return { emitted, miss };
}

function startAgain(agent: Agent, run: RecordedRun, given: RunOptions): Run {
  const start = run.events.find(({ type }) => type === "RunStarted");
  const { metadata, parent } = (start?.data ?? {}) as unknown as Pick<RunOptions, "metadata" | "parent">;
  const input = inputOf(run);
  const by = input[0]?.metadata.by;
  const options: RunOptions = {
    ...given,
    runId: run.runId,
    ...(metadata && { metadata }),
    ...(parent && { parent }),
    ...(by && { by }),
  };
  const thread = agent.thread(run.threadId);
  const answers = input.filter(({ type }) => type === "InterruptResolved");
  if (answers.length > 0) {
    const decided = answers.map(({ data }) => data as { interruptId: string; decision: Json });
    return thread.resume(
      Object.fromEntries(decided.map(({ interruptId, decision }) => [interruptId, decision])),
      options,
    );
  }
  return thread.run(input.length === 0 ? null : {}, options);
}

interface Difference {
  readonly index: number;
  readonly path: string;
  readonly recorded: unknown;
  readonly rerun: unknown;
  readonly events: readonly [RecordedEvent | undefined, RecordedEvent | undefined];
}

function firstDifference(run: RecordedRun, emitted: readonly RecordedEvent[]): Difference | undefined {
  const { compare } = createEventComparison();
  const expected = run.events.slice(0, run.comparable);
  const count = run.cut === undefined ? Math.max(expected.length, emitted.length) : expected.length;
  for (let index = 0; index < count; index++) {
    const events = [expected[index], emitted[index]] as const;
    const [recorded, rerun] = events;
    if (!recorded || !rerun)
      return { index, path: "type", recorded: recorded?.type, rerun: rerun?.type, events };
    const difference = compare(recorded, rerun);
    if (difference) return { index, ...difference, events };
  }
  return undefined;
}

async function describe(
  agent: Agent,
  { log, side }: Store,
  run: RecordedRun,
  { path, recorded, rerun, events, index }: Difference,
  miss: ReplayMissError | undefined,
): Promise<RerunDivergence> {
  const { reducer, registry } = agent;
  const version = events[0]?.version ?? (run.events.at(-1)?.version ?? run.after) + 1;
  const reader = createStateReader({ log, side, reducer, registry });
  const before = await reader.stateAt(run.threadId, run.after);
  const state = reducer.fold(run.events.slice(0, index), before);
  const after = (event: RecordedEvent | undefined) => (event ? reducer.apply(state, event) : state);
  return {
    threadId: run.threadId,
    version,
    runId: run.runId,
    path,
    values: { recorded, rerun },
    fields: changedNames(after(events[0]), after(events[1])),
    recorded: events[0],
    rerun: events[1],
    miss,
  };
}
