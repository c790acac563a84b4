import type { DataOf } from "../events/define-event.ts";
import type { FoldEvent } from "../events/envelope.ts";
import type { Json } from "../events/json.ts";
import type { Message, ToolCall } from "../events/message.ts";
import type { MessagesRemoved } from "../events/messages.ts";
import type {
  Interrupt,
  InterruptResolved,
  RunInterrupted,
  RunStarted,
  RunTakenOver,
} from "../events/run.ts";
import { type AnyReducerDefinition, defineReducer } from "./define-reducer.ts";

/** Where a run is in its loop. */
export type RunPhase = "beforeAgent" | "beforeModel" | "model" | "afterModel" | "tools" | "afterAgent";

/** A tool call of the last answer that has no result yet. */
export interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly args: ToolCall["args"];
  /** `ToolCallStarted` is recorded. */
  readonly started: boolean;
  /** Answers to the questions that this call asked, oldest first. */
  readonly answers: readonly { readonly by: string; readonly decision: Json }[];
}

/** A question of the last `RunInterrupted`. */
export interface AskedInterrupt extends Interrupt {
  readonly answered?: true;
  /** Where the run goes on after a hook's question; a call's question is answered in `tools`. */
  readonly resumeAt?: RunPhase | "end";
}

/** A run that has started and not ended. */
export interface OpenRun {
  readonly runId: string;
  readonly owner: string;
  readonly resumes?: string;
  /** Version of its `RunStarted`. */
  readonly startVersion: number;
  /** The phase with which it goes on, as far as the log tells. */
  readonly next: RunPhase;
  /** Somebody asked for its end. */
  readonly cancelReason?: string;
}

/** What the log says of a thread's runs: who runs, what is open, how often what happened. Never part of the state. */
export interface ThreadFacts {
  readonly created: boolean;
  readonly archived: boolean;
  readonly metadata: { readonly [key: string]: Json };
  readonly run: OpenRun | null;
  readonly lastRunId: string | null;
  /** How the last run ended; null: there was none, or the thread went back. */
  readonly lastEnd: "completed" | "interrupted" | "cancelled" | "failed" | null;
  /** The message whose tool calls are open. */
  readonly answerId: string | null;
  readonly calls: readonly OpenCall[];
  /** Calls of that message that have their result. */
  readonly closedCalls: readonly string[];
  readonly interrupts: readonly AskedInterrupt[];
  /** The model call that was started and has no answer. */
  readonly modelCallId: string | null;
  /** Jump that the tools of this step asked for; `end` wins. */
  readonly jump: "model" | "tools" | "end" | null;
  /** Why a middleware cut this run's work short, the last time it did. */
  readonly capped: string | null;
  /** Model calls that were answered in this run; a run that resumes another goes on counting. */
  readonly modelCalls: number;
  readonly toolCalls: { readonly [name: string]: number };
  /** Events of this run by type; `StateUpdated` is not counted. */
  readonly eventCounts: { readonly [type: string]: number };
  readonly threadModelCalls: number;
  readonly threadToolCalls: { readonly [name: string]: number };
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
type Counts = Record<string, number>;
type Draft = Mutable<ThreadFacts> & { toolCalls: Counts; eventCounts: Counts; threadToolCalls: Counts };

/** Key of the facts beside the fields of the state while both are folded together. */
export const runFactsField = "$run";

export const initialFacts: ThreadFacts = {
  created: false,
  archived: false,
  metadata: {},
  run: null,
  lastRunId: null,
  lastEnd: null,
  answerId: null,
  calls: [],
  closedCalls: [],
  interrupts: [],
  modelCallId: null,
  jump: null,
  capped: null,
  modelCalls: 0,
  toolCalls: {},
  eventCounts: {},
  threadModelCalls: 0,
  threadToolCalls: {},
};

function draftOf(facts: ThreadFacts): Draft {
  return {
    ...facts,
    toolCalls: { ...facts.toolCalls },
    eventCounts: { ...facts.eventCounts },
    threadToolCalls: { ...facts.threadToolCalls },
  };
}

function count(counts: Counts, key: string): void {
  const before = Object.hasOwn(counts, key) ? (counts[key] ?? 0) : 0;
  // A plain assignment to the key "__proto__" would be lost.
  Object.defineProperty(counts, key, {
    value: before + 1,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

function callsOf(message: Message): OpenCall[] {
  return (message.tool_calls ?? []).flatMap((call) =>
    call.id === undefined
      ? []
      : [{ id: call.id, name: call.name, args: call.args, started: false, answers: [] }],
  );
}

function closeCall(facts: Draft, callId: string): void {
  if (facts.calls.some((call) => call.id === callId)) facts.closedCalls = [...facts.closedCalls, callId];
  facts.calls = facts.calls.filter((call) => call.id !== callId);
  facts.interrupts = facts.interrupts.filter((interrupt) => interrupt.callId !== callId);
}

function answerWith(facts: Draft, message: Message): void {
  facts.answerId = message.id;
  facts.calls = callsOf(message);
  facts.closedCalls = [];
}

/** The answer was edited: calls that stay keep what is known of them. */
function editAnswer(facts: Draft, message: Message): void {
  const before = new Map(facts.calls.map((call) => [call.id, call]));
  facts.calls = callsOf(message)
    .filter((call) => !facts.closedCalls.includes(call.id))
    .map((call) => ({ ...call, ...before.get(call.id), name: call.name, args: call.args }));
}

function addMessage(facts: Draft, message: Message): void {
  if (message.type === "tool") {
    if (message.tool_call_id !== undefined) closeCall(facts, message.tool_call_id);
  } else if (message.type === "ai") {
    if (message.id === facts.answerId) editAnswer(facts, message);
    else if ((message.tool_calls?.length ?? 0) > 0 || !facts.run) answerWith(facts, message);
  } else if (message.type === "human" && !facts.run) {
    // Outside a run the conversation has moved on.
    facts.calls = [];
  }
}

function endCall(facts: Draft, callId: string): void {
  const name = facts.calls.find((call) => call.id === callId)?.name;
  if (name !== undefined) {
    count(facts.toolCalls, name);
    count(facts.threadToolCalls, name);
  }
  closeCall(facts, callId);
}

function endRun(facts: Draft, end: ThreadFacts["lastEnd"]): void {
  facts.run = null;
  facts.lastEnd = end;
  facts.modelCallId = null;
  facts.jump = null;
}

/** Nothing of it waits any more. */
function closeRun(facts: Draft, end: ThreadFacts["lastEnd"]): void {
  endRun(facts, end);
  facts.interrupts = [];
}

function goOn(facts: Draft, next: RunPhase): void {
  if (facts.run) facts.run = { ...facts.run, next };
  facts.jump = null;
}

function startRun(facts: Draft, data: DataOf<typeof RunStarted>, version: number): void {
  const { runId, owner, resumes } = data;
  const resumeAt = facts.interrupts[0]?.resumeAt ?? "tools";
  const next = resumes === undefined ? "beforeAgent" : resumeAt === "end" ? "afterAgent" : resumeAt;
  endRun(facts, null);
  facts.run = { runId, owner, startVersion: version, next, ...(resumes !== undefined && { resumes }) };
  facts.lastRunId = runId;
  if (resumes !== undefined) return;
  facts.interrupts = [];
  facts.capped = null;
  facts.modelCalls = 0;
  facts.toolCalls = {};
  facts.eventCounts = {};
}

function resolveInterrupt(facts: Draft, data: DataOf<typeof InterruptResolved>): void {
  const asked = facts.interrupts.find((interrupt) => interrupt.id === data.interruptId);
  if (!asked) return;
  facts.interrupts = facts.interrupts.map((interrupt) =>
    interrupt === asked ? { ...interrupt, answered: true as const } : interrupt,
  );
  const answer = { by: asked.by ?? "runtime", decision: data.decision as Json };
  facts.calls = facts.calls.map((call) =>
    call.id === asked.callId ? { ...call, answers: [...call.answers, answer] } : call,
  );
}

/** The thread stands somewhere else now: a run that was open there is not open any more, its questions are gone. */
function leaveRun(facts: Draft): void {
  if (facts.run) closeRun(facts, null);
}

function setArchived(facts: Draft, archived: boolean): void {
  facts.archived = archived;
}

type Metadata = { readonly [key: string]: unknown };

function setMetadata(facts: Draft, changes: Metadata | undefined): void {
  if (!changes) return;
  const entries = new Map(Object.entries(facts.metadata));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) entries.delete(key);
    else entries.set(key, value as Json);
  }
  facts.metadata = Object.fromEntries(entries);
}

/** How each event of the catalogue moves the facts. Events that are not named here are only counted. */
const advance: { readonly [type: string]: (facts: Draft, data: never, event: FoldEvent) => void } = {
  ThreadCreated(facts, data: { metadata?: Metadata }) {
    facts.created = true;
    setMetadata(facts, data.metadata);
  },
  ThreadForked(facts, data: { metadata?: Metadata }) {
    leaveRun(facts);
    facts.created = true;
    facts.archived = false;
    setMetadata(facts, data.metadata);
  },
  ThreadRewound: leaveRun,
  ThreadArchived: (facts) => setArchived(facts, true),
  ThreadRestored: (facts) => setArchived(facts, false),
  ThreadMetadataChanged: (facts, data: { metadata: Metadata }) => setMetadata(facts, data.metadata),
  RunStarted: (facts, data: DataOf<typeof RunStarted>, { version }) => startRun(facts, data, version),
  RunTakenOver(facts, data: DataOf<typeof RunTakenOver>) {
    if (facts.run?.runId === data.runId) facts.run = { ...facts.run, owner: data.owner };
  },
  RunCancelRequested(facts, data: { runId: string; reason: string }) {
    if (facts.run?.runId === data.runId) facts.run = { ...facts.run, cancelReason: data.reason };
  },
  RunCapped(facts, data: { reason: string }) {
    facts.capped = data.reason;
  },
  RunCompleted: (facts) => closeRun(facts, "completed"),
  RunFailed: (facts) => closeRun(facts, "failed"),
  RunCancelled: (facts) => closeRun(facts, "cancelled"),
  RunInterrupted(facts, data: DataOf<typeof RunInterrupted>) {
    endRun(facts, "interrupted");
    facts.interrupts = data.interrupts;
    // A call that asked has done nothing yet: with its answer it is started again.
    const asking = new Set(data.interrupts.map((interrupt) => interrupt.callId));
    facts.calls = facts.calls.map((call) => (asking.has(call.id) ? { ...call, started: false } : call));
  },
  InterruptResolved: resolveInterrupt,
  JumpRequested(facts, data: { to: "model" | "tools" | "end" }) {
    facts.jump = facts.jump === "end" ? "end" : data.to;
  },
  ModelCallStarted(facts, data: { callId: string }) {
    goOn(facts, "model");
    facts.modelCallId = data.callId;
  },
  ModelResponded(facts, data: { message: Message }) {
    goOn(facts, "afterModel");
    facts.modelCallId = null;
    facts.modelCalls += 1;
    facts.threadModelCalls += 1;
    answerWith(facts, data.message);
  },
  ToolCallStarted(facts, data: { callId: string; args?: ToolCall["args"] }) {
    goOn(facts, "tools");
    facts.calls = facts.calls.map((call) =>
      call.id === data.callId ? { ...call, started: true, args: data.args ?? call.args } : call,
    );
  },
  ToolCallCompleted: (facts, data: { callId: string }) => endCall(facts, data.callId),
  ToolCallFailed: (facts, data: { callId: string }) => endCall(facts, data.callId),
  ToolCallAbandoned: (facts, data: { callId: string }) => closeCall(facts, data.callId),
  MessagesAdded(facts, data: { messages: readonly Message[] }) {
    for (const message of data.messages) addMessage(facts, message);
  },
  MessagesReplaced(facts, data: { messages: readonly Message[] }) {
    for (const message of data.messages) if (message.id === facts.answerId) editAnswer(facts, message);
  },
  MessagesRemoved(facts, data: DataOf<typeof MessagesRemoved>) {
    if (facts.answerId === null || ("ids" in data && !data.ids.includes(facts.answerId))) return;
    facts.answerId = null;
    facts.calls = [];
  },
};

function advanceFacts(facts: Draft, event: FoldEvent): void {
  if (Object.hasOwn(advance, event.type)) advance[event.type]?.(facts, event.data as never, event);
  if (facts.run) count(facts.eventCounts, event.type);
}

/**
 * The fold of a thread's runs as a reducer, so that it is loaded together with the state.
 *
 * @param types event types that exist: those of the registry
 * @example
 * composeReducers([{ source: "runtime", reducers: [createRunFactsReducer(registry.types)] }]);
 */
export function createRunFactsReducer(types: readonly string[]): AnyReducerDefinition {
  const handle = (facts: ThreadFacts, _data: unknown, event: FoldEvent): ThreadFacts => {
    const draft = draftOf(facts);
    advanceFacts(draft, event);
    return draft;
  };
  return defineReducer<ThreadFacts>({
    field: runFactsField,
    initial: initialFacts,
    version: 1,
    on: Object.fromEntries(types.map((type) => [type, handle])),
    accumulate(initial) {
      const draft = draftOf(initial);
      return { apply: (event) => advanceFacts(draft, event), value: () => draft };
    },
  });
}

/** Interrupts that wait for an answer. */
export function openInterrupts(facts: ThreadFacts): readonly Interrupt[] {
  return facts.interrupts.filter((interrupt) => !interrupt.answered);
}
