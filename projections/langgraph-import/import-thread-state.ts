import { createEventRegistry } from "../../events/event-registry.ts";
import type { SealedEvent } from "../../events/hash-chain.ts";
import type { Json, JsonObject } from "../../events/json.ts";
import type { Message } from "../../events/message.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { type Interrupt, RunCancelled, RunCompleted, RunInterrupted, RunStarted } from "../../events/run.ts";
import { ThreadCreated } from "../../events/thread.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { messagesFromUpdate, removeAllMessages } from "../../reducers/message-update.ts";
import { sameJson } from "../../reducers/same-json.ts";
import { createEventWriter, type EventWriter } from "./event-writer.ts";
import { eventsOfCall, writeField } from "./field-events.ts";
import { isHidden, readMessages, timeOfId } from "./source-messages.ts";
import { isObject, readSourceThread, type SourceState, type SourceThread } from "./source-thread.ts";
import { answerEvents, callOf, isModelAnswer, resultEvent } from "./turn-events.ts";

/** A thread of LangGraph's as events. */
export interface ThreadFromState {
  readonly threadId: string;
  readonly events: readonly SealedEvent[];
  /** What was changed, kept aside or left out, one line each. */
  readonly notes: readonly string[];
}

/** Bytes of JSON about earlier states that are kept in the first event, at most. */
const maxHistoryBytes = 100_000;
const owner = "import";

/**
 * Turns a LangGraph thread state (or the history of one) into the events that lead to it: a run for each thing the
 * human said, with the model's answers and the results of tools. Folding them gives the same `values`. The same
 * document always gives the same events.
 *
 * @param options.threadId imports under this id; left out: the thread's own
 * @throws {NotAThreadError}
 * @example
 * const { events, notes } = threadFromState(JSON.parse(await readFile("thread.json", "utf8")));
 */
export function threadFromState(
  document: Json,
  options: { readonly threadId?: string } = {},
): ThreadFromState {
  const source = readSourceThread(document, options.threadId);
  const writer = createEventWriter({
    threadId: source.threadId,
    registry: createEventRegistry(),
    reducer: createThreadReducer({ openFields: true }),
  });
  const read = source.states.map((state) => ({
    state,
    ...readMessages(state.values.messages, source.threadId),
    time: timeOf(state),
  }));
  const notes = [...source.notes, ...(read.at(-1)?.notes ?? [])];
  const head = source.states.at(-1) ?? source.states[0];
  const runs = createRuns(writer);

  writer.at(firstTime(read[0]?.messages ?? [], read[0]?.time));
  const unreadable = read.at(-1)?.unreadable ?? [];
  writer.add(createdEvent(source, head, unreadable, notes), "client");
  for (const [index, { state, messages, time }] of read.entries()) {
    const first = index === 0;
    if (!first) writer.at(time);
    runs.propose(runIdOf(state), index === source.states.length - 1);
    writeMessages(writer, runs, messages, state.values, first);
    if (first) writer.at(time);
    for (const [field, value] of Object.entries(state.values)) {
      if (field !== "messages") writeField(writer, field, value);
    }
    const gone = Object.keys(writer.state).filter((field) => isGone(writer, field, state.values));
    if (gone.includes("viewed_images")) writeField(writer, "viewed_images", {});
  }
  for (const field of Object.keys(writer.state)) {
    if (isGone(writer, field, head.values))
      notes.push(`${field}: an earlier state has it, the last one does not; it was kept`);
  }
  const last = read.at(-1)?.messages ?? [];
  if (!sameJson(writer.state.messages, last)) {
    writeField(writer, "messages", last as unknown as Json);
    notes.push(
      "messages: their ids or order cannot come from single events, so the list was set once as a whole",
    );
  }
  endLastRun(writer, runs, head, notes);
  return { threadId: source.threadId, events: writer.seal(), notes };
}

function timeOf({ rest }: SourceState): number | undefined {
  const time = typeof rest.created_at === "string" ? Date.parse(rest.created_at) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function runIdOf({ rest }: SourceState): string | undefined {
  const id = isObject(rest.metadata) ? rest.metadata.run_id : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

function firstTime(messages: readonly Message[], fallback: number | undefined): number | undefined {
  const known = messages.map(({ id }) => timeOfId(id)).find((time) => time !== undefined);
  return known !== undefined && fallback !== undefined ? Math.min(known, fallback) : (known ?? fallback);
}

/** True for a field that the fold has and the values do not, beyond its value before any event. */
function isGone(writer: EventWriter, field: string, values: JsonObject): boolean {
  if (field === "messages" || Object.hasOwn(values, field)) return false;
  const value = writer.state[field];
  const empty = Array.isArray(value)
    ? value.length === 0
    : isObject(value) && Object.keys(value).length === 0;
  return value !== undefined && !empty;
}

function createdEvent(source: SourceThread, head: SourceState, unreadable: readonly Json[], notes: string[]) {
  const { metadata, ...rest } = head.rest;
  const earlier = source.states.slice(0, -1).map((state) => state.rest);
  const history = { earlier, aside: source.aside };
  const small = JSON.stringify(history).length <= maxHistoryBytes;
  const any = earlier.length > 0 || source.aside.length > 0;
  if (any && !small)
    notes.push(
      `history: what ${earlier.length + source.aside.length} states say besides their values was too long to keep`,
    );
  if (metadata !== undefined && !isObject(metadata))
    notes.push("metadata: it is no object and was kept in the source");
  return ThreadCreated({
    ...(isObject(metadata) && { metadata: metadata as { [key: string]: never } }),
    source: {
      format: source.format,
      ...rest,
      ...(metadata !== undefined && !isObject(metadata) && { metadata }),
      ...(any && small && { history }),
      ...(unreadable.length > 0 && { unreadable }),
    },
  });
}

interface Runs {
  readonly open: string | undefined;
  /** Names the run that the next messages may belong to. `last`: it belongs to the last thing the human said. */
  propose(runId: string | undefined, last: boolean): void;
  /** Ends the open run and starts the next one. */
  start(isLast: boolean): void;
  close(): void;
}

function createRuns(writer: EventWriter): Runs {
  let open: string | undefined;
  let proposed: { runId: string; last: boolean } | undefined;
  const used = new Set<string>();
  const close = () => {
    if (open !== undefined) {
      writer.add(RunCompleted({ runId: open, ...writer.stateProof() }), "runtime");
      writer.leaveRun();
    }
    open = undefined;
  };
  return {
    get open() {
      return open;
    },
    propose(runId, last) {
      proposed = runId === undefined || used.has(runId) ? undefined : { runId, last };
    },
    start(isLast) {
      close();
      const named = proposed && (isLast || !proposed.last) ? proposed.runId : undefined;
      if (named !== undefined) proposed = undefined;
      open = named ?? writer.derivedId(`run\n${writer.count}`);
      used.add(open);
      writer.enterRun(open);
      writer.add(RunStarted({ runId: open, owner }), "user");
    },
    close,
  };
}

/** Writes what leads from the messages so far to those of the next state. */
function writeMessages(
  writer: EventWriter,
  runs: Runs,
  target: readonly Message[],
  values: JsonObject,
  attribute: boolean,
): void {
  const current = writer.state.messages as readonly Message[];
  const isPrefix = current.every((message, index) => sameJson(message, target[index]));
  let added = target.slice(current.length);
  if (!isPrefix) {
    const update = [{ type: "remove", id: removeAllMessages }, ...target];
    added = [];
    for (const draft of messagesFromUpdate(update, current, () => "unreachable: every message has an id")) {
      if (draft.type === "MessagesAdded")
        added = [...(draft as ReturnType<typeof MessagesAdded>).data.messages];
      else writer.add(draft, "client");
    }
  }
  const lastAsked = added.findLastIndex((message) => message.type === "human" && !isHidden(message));
  for (const [index, message] of added.entries()) {
    const later = added.slice(index + 1);
    const own = timeOfId(message.id);
    const asks = message.type === "human" && !isHidden(message);
    // A question has no time of its own: it was asked shortly before the answer.
    writer.at(message.type === "ai" ? own : asks ? timeOfNextAnswer(later) : undefined);
    if (asks || (message.type === "ai" && runs.open === undefined)) runs.start(index >= lastAsked);
    writeOne(writer, message, later, values, attribute);
    if (attribute && isObject(values.thread_data) && index === firstQuestion(added))
      writeField(writer, "thread_data", values.thread_data);
    if (attribute && index === lastAsked && Array.isArray(values.uploaded_files))
      writeField(writer, "uploaded_files", values.uploaded_files);
    if (attribute && isFirstAnswer(added, index) && typeof values.title === "string")
      writeField(writer, "title", values.title);
  }
}

function timeOfNextAnswer(later: readonly Message[]): number | undefined {
  const answer = later.find(({ type }) => type === "ai" || type === "human");
  return answer?.type === "ai" ? timeOfId(answer.id) : undefined;
}

function firstQuestion(messages: readonly Message[]): number {
  return messages.findIndex(({ type }) => type === "human");
}

function isFirstAnswer(messages: readonly Message[], index: number): boolean {
  return messages.findIndex(({ type }) => type === "ai") === index;
}

function writeOne(
  writer: EventWriter,
  message: Message,
  later: readonly Message[],
  values: JsonObject,
  attribute: boolean,
): void {
  const before = writer.state.messages as readonly Message[];
  if (isModelAnswer(message) && !before.some(({ id }) => id === message.id)) {
    for (const { draft, by, leads } of answerEvents(message, later))
      writer.add(draft, by, { leads: leads ?? false });
    return;
  }
  if (message.type !== "tool") {
    const asks = message.type === "human" && !isHidden(message);
    writer.add(MessagesAdded({ messages: [message] }), asks ? "user" : "runtime");
    return;
  }
  const { draft, by } = resultEvent(message, before);
  writer.add(draft, by);
  const call = callOf(message, before);
  if (!attribute || !call || message.status === "error") return;
  for (const event of eventsOfCall(call, values, writer)) writer.add(event, by);
}

/** Ends the last run as the file says it ended: with questions, before its end, or completed. */
function endLastRun(writer: EventWriter, runs: Runs, { rest }: SourceState, notes: string[]): void {
  const interrupts = interruptsOf(rest);
  const next = Array.isArray(rest.next) ? rest.next.map(String) : [];
  if (interrupts.length === 0 && next.length === 0) {
    runs.close();
    return;
  }
  if (runs.open === undefined) runs.start(true);
  const runId = runs.open ?? "";
  if (interrupts.length > 0) {
    writer.add(RunInterrupted({ runId, interrupts, ...writer.stateProof() }), "runtime");
    return;
  }
  const reason = `The imported thread had stopped before: ${next.join(", ")}`;
  writer.add(RunCancelled({ runId, reason, ...writer.stateProof() }), "runtime");
  notes.push(`next: the run had stopped before ${next.join(", ")}; it counts as cancelled`);
}

function interruptsOf(rest: JsonObject): Interrupt[] {
  const tasks = Array.isArray(rest.tasks) ? (rest.tasks as readonly Json[]) : [];
  const lists = [rest.interrupts, ...tasks.map((task) => (isObject(task) ? task.interrupts : undefined))];
  const found = new Map<string, Interrupt>();
  for (const item of lists.flatMap((list) => (Array.isArray(list) ? (list as readonly Json[]) : []))) {
    const { id, interrupt_id, value } = isObject(item)
      ? item
      : { id: undefined, interrupt_id: undefined, value: item };
    const known = [id, interrupt_id].find((text) => typeof text === "string" && text !== "");
    const key = typeof known === "string" ? known : `interrupt-${found.size + 1}`;
    if (!found.has(key)) found.set(key, { id: key, kind: "question", value: (value ?? null) as never });
  }
  return [...found.values()];
}
