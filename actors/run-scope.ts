import type { Emitter, RecordedEvent } from "../events/envelope.ts";
import { blobsOfThread } from "../events/keys/with-encryption.ts";
import type { Interrupt } from "../events/run.ts";
import type { Store } from "../events/store.ts";
import type { StateReader } from "../projections/state-at.ts";
import type { StateHasher } from "../projections/state-hash.ts";
import {
  type AskedInterrupt,
  openInterrupts,
  type RunPhase,
  type ThreadFacts,
} from "../reducers/run-facts.ts";
import type { State } from "../reducers/thread-state.ts";
import type { AgentOptions, RunItem, RunOptions } from "./agent-contract.ts";
import type { Assembly } from "./assembly.ts";
import type { Lease } from "./lease.ts";
import type { JumpTarget } from "./middleware/define-middleware.ts";
import type { RunItems } from "./run-items.ts";
import type { AttributedDraft, PreviousView, StepContext } from "./steps/step-contract.ts";
import type { PlannedEvent, Rebase, ThreadAppender } from "./thread-append.ts";
import type { ViewFold } from "./thread-view.ts";

/** The run goes on in another process: this one recorded nothing more. */
export class RunLostError extends Error {
  override readonly name = "RunLostError";
  constructor(
    readonly threadId: string,
    readonly runId: string,
  ) {
    super(
      `Run ${runId} of thread ${threadId} was taken over or ended by another process. Nothing more was recorded from here; read the thread to see how it went on.`,
    );
  }
}

/** What came after the end of its run and was not recorded. */
export class RunClosedError extends Error {
  override readonly name = "RunClosedError";
  constructor(readonly runId: string) {
    super(`Run ${runId} has ended; what came later was not recorded.`);
  }
}

/** A draft that waits for the next batch. */
export interface PendingDraft extends AttributedDraft {
  /** Set when later events name it as their cause already. */
  readonly id?: string;
  readonly cause?: string | undefined;
  readonly step?: number;
}

/** What all threads of one agent share. */
export interface Environment {
  readonly assembly: Assembly;
  readonly store: Store;
  readonly fold: ViewFold;
  /** Phases in which some middleware has a hook. */
  readonly hooks: ReadonlySet<RunPhase>;
  /** Some middleware has such a function. */
  readonly wrapsModelCalls: boolean;
  readonly releases: boolean;
  readonly reader: StateReader;
  readonly lease: Lease;
  readonly hasher: StateHasher;
  readonly limits: NonNullable<AgentOptions["limits"]>;
  readonly recovery: "close" | "continue";
  readonly whenBusy: "reject" | "enqueue" | "interrupt";
}

/** What a live thread keeps between its runs. */
export interface ThreadMemory {
  previousView: PreviousView | undefined;
}

/** Ids of recorded events that lead to the next ones. */
interface Trail {
  /** The latest event that the run goes on from. It may wait for the next batch. */
  last: string | undefined;
  /** The latest of them that is in the log. */
  recorded: string | undefined;
  modelCall: string | undefined;
  cancel: string | undefined;
  readonly toolCalls: Map<string, string>;
}

/** One run while it is open in this process. */
export interface RunScope {
  readonly environment: Environment;
  readonly memory: ThreadMemory;
  readonly appender: ThreadAppender;
  readonly threadId: string;
  readonly runId: string;
  readonly options: RunOptions;
  readonly signal: AbortSignal;
  readonly items: RunItems<RunItem>;
  readonly trail: Trail;
  /** Version before the run. */
  fromVersion: number;
  /** Drafts of this batch so far, and the state after them. */
  pending: PendingDraft[];
  draftedState: State | undefined;
  draftedFacts: ThreadFacts | undefined;
  /** Questions that the run ends with. */
  asked: AskedInterrupt[];
  /** Model call that was under way when the process before stopped. */
  resumedCallId: string | undefined;
  /** Jump that tools asked for before the process stopped. */
  resumedJump: JumpTarget | undefined;
  /** The hooks of the first phase ran before the question that was answered. */
  skipFirstHooks: boolean;
  /** The step that is under way, and its ordinal. */
  step: Promise<unknown>;
  ordinal: number;
  /** From now on nothing is recorded but the end. */
  closed: boolean;
  /** Not even the end: another process has the run, or shall have it. */
  abandoned: boolean;
  usage: { inputTokens: number; outputTokens: number };
}

/** A run before its first step. */
export function createScope({
  thread,
  runId,
  options,
  signal,
  items,
}: Pick<RunScope, "runId" | "options" | "signal" | "items"> & {
  readonly thread: Pick<RunScope, "environment" | "memory" | "appender"> & { readonly id: string };
}): RunScope {
  return {
    runId,
    options,
    signal,
    items,
    environment: thread.environment,
    memory: thread.memory,
    appender: thread.appender,
    threadId: thread.id,
    trail: {
      last: undefined,
      recorded: undefined,
      modelCall: undefined,
      cancel: undefined,
      toolCalls: new Map(),
    },
    fromVersion: 0,
    pending: [],
    draftedState: undefined,
    draftedFacts: undefined,
    asked: [],
    resumedCallId: undefined,
    resumedJump: undefined,
    skipFirstHooks: false,
    step: Promise.resolve(),
    ordinal: 0,
    closed: false,
    abandoned: false,
    usage: { inputTokens: 0, outputTokens: 0 },
  };
}

/** Facts with what is drafted in this batch. */
export function factsOf(scope: RunScope): ThreadFacts {
  return scope.draftedFacts ?? scope.appender.view.facts;
}

/** Interrupts of hooks that wait for an answer: the run cannot go on. */
export function openHookInterrupts(facts: ThreadFacts): readonly Interrupt[] {
  return openInterrupts(facts).filter((interrupt) => interrupt.callId === undefined);
}

/** Adds drafts to the batch that the next model call, tool call or end of the run will append. */
export function addPending(scope: RunScope, drafts: readonly PendingDraft[], state: State): void {
  const { fold } = scope.environment;
  let facts = factsOf(scope);
  let version = scope.appender.view.version + scope.pending.length;
  for (const { draft } of drafts) {
    version += 1;
    facts = fold.applyFacts(facts, { ...draft, version });
  }
  scope.pending.push(...drafts);
  scope.draftedFacts = facts;
  scope.draftedState = state;
}

/** Takes the drafts of the batch, for appending. */
export function takePending(scope: RunScope): readonly PendingDraft[] {
  const drafts = scope.pending;
  scope.pending = [];
  scope.draftedState = undefined;
  scope.draftedFacts = undefined;
  return drafts;
}

export function planned(drafts: readonly PendingDraft[], cause: string | undefined): PlannedEvent[] {
  return drafts.map((draft) => ({ ...draft, cause: draft.cause ?? cause }));
}

/** @throws {RunLostError} */
export function checkOwned(scope: RunScope, facts: ThreadFacts): void {
  const owned = facts.run?.runId === scope.runId && facts.run.owner === scope.environment.lease.owner;
  if (!owned) throw new RunLostError(scope.threadId, scope.runId);
}

/**
 * Appends a batch of the run. When others appended in between, it goes on top, as long as the run is still ours.
 *
 * @throws {RunClosedError} @throws {RunLostError}
 */
export async function recordInRun(
  scope: RunScope,
  events: readonly PlannedEvent[],
  step: number,
): Promise<readonly RecordedEvent[]> {
  if (scope.closed) throw new RunClosedError(scope.runId);
  const rebase: Rebase = (view) => {
    checkOwned(scope, view.facts);
    return events;
  };
  return scope.appender.append(events, { runId: scope.runId, step, rebase });
}

/** Notes which events lead to the next ones, and what the model calls used. */
export function followTrail(
  scope: Pick<RunScope, "trail" | "usage">,
  events: readonly RecordedEvent[],
): void {
  const { trail, usage } = scope;
  const { last } = trail;
  for (const { id, type, data } of events) {
    const fields = data as {
      readonly callId?: string;
      readonly usage?: { readonly input_tokens?: number; readonly output_tokens?: number };
    };
    switch (type) {
      case "ModelCallStarted":
        trail.modelCall = id;
        break;
      case "ToolCallStarted":
        trail.toolCalls.set(fields.callId ?? "", id);
        break;
      case "ModelResponded":
        usage.inputTokens += fields.usage?.input_tokens ?? 0;
        usage.outputTokens += fields.usage?.output_tokens ?? 0;
        trail.last = id;
        break;
      case "RunCancelRequested":
        trail.cancel = id;
        break;
      case "RunStarted":
      case "RunTakenOver":
      case "InterruptResolved":
      case "ToolCallCompleted":
      case "ToolCallFailed":
        trail.last = id;
        break;
    }
  }
  if (trail.last !== last || events.some(({ id }) => id === last)) trail.recorded = trail.last;
}

const noContext: Readonly<Record<string, unknown>> = Object.freeze({});

/** What a step sees. */
export function stepContext(scope: RunScope, step: number, callId?: string): StepContext {
  const { environment, appender, options } = scope;
  const { modelCalls, toolCalls, eventCounts, threadModelCalls, threadToolCalls } = appender.view.facts;
  const configurable = { ...options.configurable, thread_id: scope.threadId, run_id: scope.runId };
  return {
    assembly: environment.assembly,
    threadId: scope.threadId,
    runId: scope.runId,
    step,
    state: scope.draftedState ?? appender.view.state,
    version: appender.view.version,
    context: options.context ?? noContext,
    configurable,
    signal: scope.signal,
    blobs: blobsOfThread(environment.store, scope.threadId),
    folder: environment.store.folder,
    run: { modelCalls, toolCalls, eventCounts, threadModelCalls, threadToolCalls },
    toolTimeoutMs: options.limits?.toolTimeoutMs ?? environment.limits.toolTimeoutMs,
    callId,
    publish: (item) => {
      if (!scope.closed) scope.items.push(item);
    },
  };
}

/** Emitter of a tool. */
export function toolEmitter(name: string): Emitter {
  return `tool:${name}`;
}
