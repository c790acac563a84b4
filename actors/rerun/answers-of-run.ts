import type { BlobStore } from "../../events/blobs/blob-store.ts";
import type { EventDraft } from "../../events/define-event.ts";
import type { RecordedEvent } from "../../events/envelope.ts";
import type { EventRegistry } from "../../events/event-registry.ts";
import type { Message } from "../../events/message.ts";
import type { ErrorData, Interrupt } from "../../events/run.ts";
import { interrupt } from "../interrupt.ts";
import { ReplayMissError } from "../models/replay/replay-miss.ts";
import { ToolArgumentsError } from "../steps/invoke-tool.ts";
import type { RecordedAnswers } from "../steps/recorded-answers.ts";
import type { AttributedDraft } from "../steps/step-contract.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** The answers of a recorded run, and what the run that is done again tells them. */
export interface RunAnswers extends RecordedAnswers {
  /** Tells of an event that the run emitted: results come in the order in which they were recorded. */
  emitted(event: RecordedEvent): void;
}

interface ToolResultData {
  readonly callId: string;
  readonly message: Message;
  readonly error?: ErrorData;
}

const results = new Set(["ToolCallCompleted", "ToolCallFailed"]);

/** Everything that followed on one tool call, its result first. */
interface RecordedResult {
  readonly callId: string;
  readonly data: ToolResultData;
  readonly beside: readonly RecordedEvent[];
}

function isBy(event: RecordedEvent, kind: "middleware" | "model" | "tool", name?: string): boolean {
  const { by } = event.metadata;
  return name === undefined ? by.startsWith(`${kind}:`) : by === `${kind}:${name}`;
}

/**
 * What a run was given: the events after its start that neither the runtime nor a hook emitted.
 */
export function inputOf({ events }: RecordedRun): readonly RecordedEvent[] {
  const start = events.findIndex(({ type }) => type === "RunStarted") + 1;
  const closing = events.slice(start).findIndex(({ type }) => type !== "ToolCallAbandoned");
  const from = closing < 0 ? events.length : start + closing;
  const rest = events.slice(from);
  const to = rest.findIndex(
    (event) => event.metadata.by === "runtime" || isBy(event, "middleware") || isBy(event, "model"),
  );
  return to < 0 ? rest : rest.slice(0, to);
}

function resultsOf({ events }: RecordedRun): Map<string, RecordedResult> {
  const found = new Map<string, RecordedResult>();
  for (const [index, event] of events.entries()) {
    if (!results.has(event.type)) continue;
    const data = event.data as unknown as ToolResultData;
    const { causationId } = event.metadata;
    const after = events.slice(index + 1);
    const end = after.findIndex(
      ({ metadata, type, recordedAt }) =>
        metadata.causationId !== causationId || results.has(type) || recordedAt !== event.recordedAt,
    );
    found.set(data.callId, {
      callId: data.callId,
      data,
      beside: end < 0 ? after : after.slice(0, end),
    });
  }
  return found;
}

function errorFrom(data: ErrorData): Error {
  if (data.name === "ToolArgumentsError") return Object.assign(new ToolArgumentsError("", ""), data);
  const error = new Error(data.message);
  return Object.assign(error, data);
}

/**
 * Puts a recorded run in the place of the world outside.
 *
 * @param options.onMiss called before a miss is thrown
 */
export function answersOfRun(options: {
  readonly run: RecordedRun;
  readonly registry: EventRegistry;
  readonly blobs: BlobStore;
  readonly onMiss: (miss: ReplayMissError) => void;
}): RunAnswers {
  const { run, registry, blobs, onMiss } = options;
  const place = `${run.threadId}@run:${run.runId}`;
  const results = resultsOf(run);
  const order = [...results.keys()];
  const models = run.events.filter(isModelAnswer);
  const open = new Set<string>();
  const waiting = new Map<string, () => void>();
  let asked = 0;

  const miss = (what: string): never => {
    const error = new ReplayMissError(place, undefined, what);
    onMiss(error);
    throw error;
  };
  const draftOf = ({ type, data }: RecordedEvent): EventDraft =>
    registry.get(type)?.(data) ?? miss(`No event ${type} is defined.`);
  const draftsOf = (events: readonly RecordedEvent[]) => events.map(draftOf);

  /** Resolves when all calls that were answered before this one are answered again; of a call without a result: all. */
  const turnOf = async (callId: string): Promise<void> => {
    const own = order.indexOf(callId);
    const before = (own < 0 ? order : order.slice(0, own)).findLast((id) => open.has(id));
    if (before === undefined) return;
    await new Promise<void>((resolve) => {
      const others = waiting.get(before);
      waiting.set(before, () => {
        others?.();
        resolve();
      });
    });
    await turnOf(callId);
  };

  const input = inputOf(run);
  return {
    input: input.some(({ type }) => type === "InterruptResolved")
      ? undefined
      : input.map((event): AttributedDraft => ({ draft: draftOf(event), by: event.metadata.by })),
    emitted({ type, data }) {
      const { callId } = data as { readonly callId?: string };
      if (callId === undefined) return;
      if (type === "ToolCallStarted") open.add(callId);
      if (type !== "ToolCallCompleted" && type !== "ToolCallFailed") return;
      open.delete(callId);
      waiting.get(callId)?.();
      waiting.delete(callId);
    },
    async model() {
      const event = models[asked];
      if (!event) return miss(`The run has ${models.length} answers of models, and one more was asked for.`);
      asked += 1;
      if (event.type === "ModelResponded") return (event.data as unknown as { message: Message }).message;
      throw errorFrom((event.data as unknown as { error: ErrorData }).error);
    },
    async tool({ id, name }) {
      const result = results.get(id);
      if (!result) {
        const question = questionOf(run, id, `tool:${name}`);
        if (question) return question;
        await turnOf(id);
        return miss(`The call ${id} of the tool ${name} has no recorded result.`);
      }
      const { message, error } = result.data;
      if (error && error.name !== "ToolError") throw errorFrom(error);
      const own = result.beside.filter((event) => isBy(event, "tool", name));
      const jump = own.find(({ type }) => type === "JumpRequested");
      const { status, artifact, additional_kwargs } = message;
      return {
        content: await contentOf(result, blobs),
        ...(status === "error" && { status }),
        ...(artifact !== undefined && { artifact }),
        ...(additional_kwargs !== undefined && { additional_kwargs }),
        events: draftsOf(own.filter(({ type }) => type !== "JumpRequested" && type !== "ToolCallStarted")),
        ...(jump && { goto: (jump.data as { to: string }).to }),
      };
    },
    written(what) {
      const [middleware, type, key] =
        what === "title" ? ["title", "TitleSet", "title"] : ["summarization", "HistoryCompacted", "summary"];
      let answered = 0;
      for (const event of run.events) {
        if (isModelAnswer(event)) answered += 1;
        if (answered !== asked || event.type !== type || !isBy(event, "middleware", middleware)) continue;
        return (event.data as Readonly<Record<string, string>>)[key ?? ""] ?? "";
      }
      return miss(`No ${what} was recorded there.`);
    },
    turn: turnOf,
    hook: (middleware, phase) => draftsOf(eventsOfHook(run, middleware, phase)),
    wrap(middleware, callId) {
      const result = results.get(callId);
      const own = result?.beside.filter((event) => isBy(event, "middleware", middleware)) ?? [];
      return result && own.length > 0 ? { message: result.data.message, events: draftsOf(own) } : undefined;
    },
  };
}

/** Answers that a model gave; what a middleware said in its place is made by the middleware again. */
function isModelAnswer(event: RecordedEvent): boolean {
  if (event.type === "ModelCallFailed") return true;
  return (
    event.type === "ModelResponded" &&
    isBy(event, "model") &&
    !event.metadata.by.startsWith("model:middleware:")
  );
}

/** A long result stands in the blob store whole; what the model got is made of it again. */
async function contentOf({ data, beside }: RecordedResult, blobs: BlobStore): Promise<Message["content"]> {
  const moved = beside.find(({ type }) => type === "ToolOutputExternalized");
  const { sha256 } = (moved?.data ?? {}) as { sha256?: string };
  if (sha256 === undefined || !(await blobs.has(sha256))) return data.message.content;
  return new TextDecoder().decode(await blobs.get(sha256));
}

function questionOf({ events }: RecordedRun, callId: string, by: string): unknown {
  const asked = events
    .filter(({ type }) => type === "RunInterrupted")
    .flatMap(({ data }) => (data as unknown as { interrupts: readonly Interrupt[] }).interrupts)
    .find((question) => question.callId === callId && question.by === by);
  return asked && interrupt(asked.kind, asked.value);
}

function eventsOfHook({ events }: RecordedRun, middleware: string, phase: string): readonly RecordedEvent[] {
  const end = events.at(-1)?.recordedAt;
  const firstCall = events.findIndex(({ type }) => type === "ModelCallStarted");
  const caused = new Set(events.filter(({ type }) => type === "ToolCallStarted").map(({ id }) => id));
  return events.filter((event, index) => {
    if (!isBy(event, "middleware", middleware) || caused.has(event.metadata.causationId)) return false;
    const isBefore = firstCall < 0 ? event.recordedAt !== end : index < firstCall;
    return phase === "beforeAgent" ? isBefore : phase === "release" ? !isBefore : false;
  });
}
