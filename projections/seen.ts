import { resolveBlobs } from "../events/blobs/blob-content.ts";
import type { BlobStore } from "../events/blobs/blob-store.ts";
import type { DataOf } from "../events/define-event.ts";
import { type Emitter, threadIdOf, threadStream } from "../events/envelope.ts";
import type { Json } from "../events/json.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { Message } from "../events/message.ts";
import type { MessagesAdded } from "../events/messages.ts";
import { modelView, summaryMessageId } from "../reducers/compaction.ts";
import { messageEventTypes } from "../reducers/messages.ts";
import { callsBackwards, editsInCall, type RecordedCall } from "./call-edits.ts";
import { readLineage } from "./lineage.ts";
import { hashMessages, requestHash } from "./request-hash.ts";
import { showMessages } from "./request-view.ts";
import type { StateReader } from "./state-at.ts";

/** One message of a request, with where it came from. */
export interface SeenBlock {
  /** As the model read it: what lies in the blob store is back in its place. */
  readonly message: Message;
  /** Who wrote it: of the thread's messages the emitter of the event, of the others the middleware. */
  readonly by: string;
  /** How the request differs from the thread here; undefined: it does not. */
  readonly edit: "inserted" | "replaced" | undefined;
  /** The event that brought it; undefined for messages that stand in no event of the thread. */
  readonly origin: { readonly threadId: string; readonly version: number; readonly type: string } | undefined;
}

/** A model's request, rebuilt from the log. */
export interface SeenRequest {
  readonly threadId: string;
  readonly callId: string;
  /** Version of the `ModelCallStarted`. */
  readonly version: number;
  /** Version whose messages were shown. */
  readonly stateVersion: number;
  readonly model: string;
  readonly settings: Json | undefined;
  readonly toolChoice: Json | undefined;
  /** The system message without an id, and who wrote it; null: there was none. */
  readonly system: { readonly message: Omit<Message, "id">; readonly by: readonly string[] } | null;
  /** Schemas of the tools that were offered. */
  readonly tools: readonly Json[];
  readonly messages: readonly SeenBlock[];
  /** Messages of the thread that were left out, with who did it. */
  readonly hidden: readonly { readonly id: string; readonly by: string }[];
  /** As recorded. */
  readonly requestHash: string;
  /** True: what was rebuilt is what was recorded, to the byte. */
  readonly hashMatches: boolean;
}

/** The thread has no such model call. */
export class UnknownCallError extends Error {
  override readonly name = "UnknownCallError";
  constructor(
    readonly threadId: string,
    readonly callId: string | undefined,
  ) {
    const what = callId === undefined ? "no model call" : `no model call "${callId}"`;
    super(`Thread "${threadId}" has ${what}. List them with: events ${threadId} --type ModelCallStarted`);
  }
}

export interface SeenSources {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly reader: Pick<StateReader, "stateAt">;
}

/**
 * Rebuilds the exact request of a model call from the log, names the origin of each message, and checks the hash that
 * was recorded with it.
 *
 * @param which the call's id (a call that went out more than once gives its last request), or a version: the last call at or
 *   before it; default: the thread's last call
 * @throws {UnknownCallError} @throws {MissingCallError}
 * @throws {BlobMissingError} the system prompt or the tools are gone @throws what `stateAt` throws
 * @example
 * const { messages, hashMatches } = await rebuildRequest({ log, blobs, reader }, "t1");
 */
export async function rebuildRequest(
  { log, blobs, reader }: SeenSources,
  threadId: string,
  which?: string | { readonly at: number },
): Promise<SeenRequest> {
  const call = await findCall(log, threadId, which);
  const { event, data } = call;
  const { view, model, settings, toolChoice, tools } = data;
  const owner = threadIdOf(event.stream) ?? threadId;
  const edits = await editsInCall(log, blobs, call);
  const base = modelView(await reader.stateAt(owner, view.version));
  const shown = showMessages(base, edits);
  const origins = await readOrigins(log, event.stream, view.version);
  const messages = await Promise.all(
    shown.map(async ({ message, by, edit }): Promise<SeenBlock> => {
      const origin = edit === "inserted" ? undefined : origins.get(message.id);
      const exact = await resolveBlobs(message, blobs);
      return { message: exact, by: by ?? origin?.by ?? "runtime", edit, origin: origin?.event };
    }),
  );
  const facts = { model, settings, toolChoice, system: view.system?.sha256 ?? null, tools };
  const { digest } = hashMessages(
    shown.map(({ message }) => message),
    undefined,
  );
  const present = new Set(base.map(({ id }) => id));
  return {
    threadId: owner,
    callId: data.callId,
    version: event.version,
    stateVersion: view.version,
    model,
    settings,
    toolChoice,
    system: await readSystem(view.system, blobs),
    tools: tools === null ? [] : (JSON.parse(await textOf(tools, blobs)) as Json[]),
    messages,
    hidden: [...edits.hidden].flatMap(([id, by]) => (present.has(id) ? [{ id, by }] : [])),
    requestHash: data.requestHash,
    hashMatches: requestHash(facts, digest) === data.requestHash,
  };
}

async function findCall(
  log: EventLog,
  threadId: string,
  which: string | { readonly at: number } | undefined,
): Promise<RecordedCall> {
  const [callId, at] = typeof which === "object" ? [undefined, which.at] : [which, undefined];
  for await (const call of callsBackwards(log, threadStream(threadId), at)) {
    if (callId === undefined || call.data.callId === callId) return call;
  }
  throw new UnknownCallError(threadId, callId);
}

interface Origin {
  readonly by: Emitter;
  readonly event: NonNullable<SeenBlock["origin"]>;
}

/** The event that last wrote each message of the state at a version. */
async function readOrigins(log: EventLog, stream: string, version: number): Promise<Map<string, Origin>> {
  const origins = new Map<string, Origin>();
  if (version === 0) return origins;
  const types = [...messageEventTypes, "HistoryCompacted"];
  for await (const page of readLineage(log, stream, version, { types })) {
    for (const { type, data, metadata, version: at, stream: from } of page) {
      const origin = { by: metadata.by, event: { threadId: threadIdOf(from) ?? from, version: at, type } };
      for (const id of writtenIds(type, data)) origins.set(id, origin);
    }
  }
  return origins;
}

function writtenIds(type: string, data: Json): readonly string[] {
  if (type === "HistoryCompacted") return [summaryMessageId];
  const { message, messages } = data as { message?: Message } & Partial<DataOf<typeof MessagesAdded>>;
  return [...(message ? [message] : []), ...(messages ?? [])].map(({ id }) => id);
}

async function textOf(digest: string, blobs: BlobStore): Promise<string> {
  return Buffer.from(await blobs.get(digest)).toString();
}

async function readSystem(
  system: RecordedCall["data"]["view"]["system"],
  blobs: BlobStore,
): Promise<SeenRequest["system"]> {
  if (!system) return null;
  const text = await textOf(system.sha256, blobs);
  const message = system.message
    ? (JSON.parse(text) as Omit<Message, "id">)
    : { type: "system", content: text };
  return { message: message as Omit<Message, "id">, by: system.by };
}
