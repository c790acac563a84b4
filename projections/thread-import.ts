import type { BlobStore } from "../events/blobs/blob-store.ts";
import { storedBlobs } from "../events/blobs/encrypting-blobs.ts";
import { threadIdOf, threadStream } from "../events/envelope.ts";
import { createEventRegistry, type EventRegistry, InvalidEventError } from "../events/event-registry.ts";
import type { SealedEvent } from "../events/hash-chain.ts";
import type { Json } from "../events/json.ts";
import { isSealed } from "../events/keys/seal-data.ts";
import { storedLog } from "../events/log/encrypting-log.ts";
import { type EventLog, StreamDeletedError } from "../events/log/event-log.ts";
import { createMemoryLog } from "../events/log/memory.ts";
import { createThreadReducer } from "../reducers/built-in.ts";
import type { StateReducer } from "../reducers/thread-state.ts";
import { appendRecorded } from "./append-recorded.ts";
import { looksLikeExport } from "./export-lines.ts";
import { threadFromState } from "./langgraph-import/import-thread-state.ts";
import { moveLargeMessages } from "./langgraph-import/move-large-messages.ts";
import { readSourceThread } from "./langgraph-import/source-thread.ts";
import { BrokenLineageError } from "./lineage.ts";
import { readExport } from "./read-export.ts";
import { refold } from "./refold.ts";

/** A thread of the same id is in the store, with other events. */
export class ThreadDiffersError extends Error {
  override readonly name = "ThreadDiffersError";
  constructor(
    readonly thread: string,
    /** First version at which the two are not the same. */
    readonly version: number,
  ) {
    super(
      `Thread "${thread}" is in the store already and has another event at version ${version}. Nothing was imported; import into another store, or delete the thread there first.`,
    );
  }
}

/** A fork's parent is neither in the export nor in the store, or is another one. */
export class MissingParentError extends Error {
  override readonly name = "MissingParentError";
  constructor(
    readonly thread: string,
    readonly parent: string,
    reason: string,
  ) {
    super(
      `Thread "${thread}" is a fork of "${parent}", ${reason}. Nothing was imported; export the fork again, its parents come along.`,
    );
  }
}

/** What became of one thread of an import. */
export interface ImportedThread {
  readonly threadId: string;
  /** Last version of the thread now. */
  readonly version: number;
  /** Events that were added; 0: the thread was there already. */
  readonly added: number;
}

export interface ImportTarget {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  /** Of an encrypted store: the blobs of one thread, under its own key. */
  readonly blobsFor?: (threadId: string) => BlobStore;
  /** Default: the events that Threadfold knows. */
  readonly registry?: EventRegistry;
  /** Default: the fields that Threadfold knows. Every thread must fold before anything is written. */
  readonly reducer?: StateReducer;
}

/**
 * Imports an export: the events are appended exactly as they were recorded, with ids, versions, times and hashes. A
 * thread that is there already with the same events is left alone, or gets what it lacks. All is checked before
 * anything is written.
 *
 * @param lines lines of the export, without their ends
 * @throws {ExportFormatError} @throws {BrokenExportError} @throws {ThreadDiffersError} @throws {MissingParentError}
 * @throws {StreamDeletedError} @throws {BrokenLineageError} @throws {NewerSchemaError} @throws {FoldError}
 * @throws {InvalidEventError} an event has not the data that its type says
 * @example
 * await importThreads(store, createInterface({ input: createReadStream("thread.ndjson") }));
 */
export async function importThreads(
  target: ImportTarget,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<readonly ImportedThread[]> {
  const { streams, blobs } = await readExport(lines);
  const plans = await planStreams(target, streams);
  const blobStore = storedBlobs(target.blobs);
  for (const { data, mimeType } of blobs) await blobStore.put(data, mimeType);
  return writePlans(storedLog(target.log), plans);
}

interface StreamPlan {
  readonly stream: string;
  readonly known: number;
  readonly events: readonly SealedEvent[];
}

async function planStreams(
  target: ImportTarget,
  streams: ReadonlyMap<string, readonly SealedEvent[]>,
): Promise<StreamPlan[]> {
  const log = storedLog(target.log);
  const plans: StreamPlan[] = [];
  for (const [stream, events] of streams)
    plans.push({ stream, known: await agreeing(log, stream, events, hashOf), events });
  await checkFolds(target, streams);
  return plans;
}

const hashOf = ({ metadata }: SealedEvent): string => metadata.hash;

async function writePlans(log: EventLog, plans: readonly StreamPlan[]): Promise<readonly ImportedThread[]> {
  const imported: ImportedThread[] = [];
  for (const { stream, known, events } of plans) {
    await appendRecorded(log, stream, events.slice(known));
    const version = Math.max(known, events.length);
    imported.push({
      threadId: threadIdOf(stream) ?? stream,
      version,
      added: Math.max(0, events.length - known),
    });
  }
  return imported;
}

/**
 * Version up to which the store has the stream, when it has nothing else.
 *
 * @param markOf what two events that are the same have in common
 */
async function agreeing(
  log: EventLog,
  stream: string,
  events: readonly SealedEvent[],
  markOf: (event: SealedEvent) => string,
): Promise<number> {
  const head = await log.head(stream);
  if (head.deleted) throw new StreamDeletedError(stream);
  const last = Math.min(head.version, events.length);
  if (last === 0) return head.version;
  // The hashes are a chain: when the last one is the same, all before it are.
  if (markOf === hashOf) {
    for await (const page of log.read(stream, { from: last, to: last })) {
      if (page[0]?.metadata.hash === events[last - 1]?.metadata.hash) return head.version;
    }
  }
  for await (const page of log.read(stream, { to: last })) {
    for (const event of page) {
      const wanted = events[event.version - 1];
      if (!wanted || markOf(event) !== markOf(wanted)) {
        throw new ThreadDiffersError(threadIdOf(stream) ?? stream, event.version);
      }
    }
  }
  return head.version;
}

/** Folds every stream in a log of its own, so that nothing is written that does not fold. */
async function checkFolds(
  target: ImportTarget,
  streams: ReadonlyMap<string, readonly SealedEvent[]>,
): Promise<void> {
  const { registry = createEventRegistry(), reducer = createThreadReducer({ openFields: true }) } = target;
  const staged = createMemoryLog();
  const begun = new Set<string>();
  const stage = async (stream: string, events: readonly SealedEvent[]): Promise<void> => {
    if ((await staged.head(stream)).version > 0) return;
    if (begun.has(stream))
      throw new BrokenLineageError(threadIdOf(stream) ?? stream, "it is its own ancestor");
    begun.add(stream);
    const parent = parentOf(events);
    if (parent) await stageParent(stream, parent);
    await appendRecorded(staged, stream, events);
  };
  const stageParent = async (stream: string, parent: Parent): Promise<void> => {
    const known = streams.get(parent.stream) ?? (await readWhole(storedLog(target.log), parent.stream));
    const at = known[parent.version - 1];
    const names = [threadIdOf(stream) ?? stream, threadIdOf(parent.stream) ?? parent.stream] as const;
    if (parent.version > 0 && !at)
      throw new MissingParentError(...names, "which is neither here nor in the store");
    if (parent.hash !== undefined && at?.metadata.hash !== parent.hash) {
      throw new MissingParentError(...names, `which has another history at version ${parent.version}`);
    }
    await stage(parent.stream, known);
  };
  for (const [stream, events] of streams) {
    checkEvents(registry, stream, events);
    await stage(stream, events);
    const abandoned = events.filter(({ type }) => type === "ThreadRewound").map(({ version }) => version - 1);
    for (const version of [...abandoned, events.length])
      await refold(staged, { registry, reducer }, stream, version);
  }
  await staged.close();
}

/** Data of known events as whoever reads them may expect it. What is encrypted cannot be looked at. */
function checkEvents(registry: EventRegistry, stream: string, events: readonly SealedEvent[]): void {
  for (const { type, data, version, metadata } of events) {
    if (!registry.get(type) || isSealed(data)) continue;
    try {
      registry.check({ type, data: registry.upcast(type, data, metadata.schema) });
    } catch (error) {
      if (!(error instanceof InvalidEventError)) throw error;
      throw new InvalidEventError(type, [`at ${stream}@${version}`, ...error.issues]);
    }
  }
}

interface Parent {
  readonly stream: string;
  readonly version: number;
  readonly hash: string | undefined;
}

function parentOf(events: readonly SealedEvent[]): Parent | undefined {
  const [first] = events;
  if (first?.type !== "ThreadForked") return undefined;
  const data = first.data as { parentThreadId: string; parentVersion: number; parentHash?: string };
  return { stream: threadStream(data.parentThreadId), version: data.parentVersion, hash: data.parentHash };
}

async function readWhole(log: EventLog, stream: string): Promise<SealedEvent[]> {
  const events: SealedEvent[] = [];
  for await (const page of log.read(stream)) events.push(...page);
  return events;
}

/** What an import of a LangGraph thread did. */
export interface ImportedThreadState extends ImportedThread {
  /** What was changed, kept aside or left out, one line each. */
  readonly notes: readonly string[];
}

/**
 * Imports a LangGraph thread state, or the history of one, as the events that lead to its values. The same document
 * again adds nothing. Messages that no event can hold have their content in the blob store. An encrypted store gets
 * the content encrypted.
 *
 * @param options.threadId imports under this id; left out: the thread's own
 * @throws {NotAThreadError} @throws {ThreadDiffersError} @throws {StreamDeletedError} @throws {EventTooLargeError}
 * @example
 * const { notes } = await importThreadState(store, JSON.parse(await readFile("thread.json", "utf8")));
 */
export async function importThreadState(
  target: ImportTarget,
  document: Json,
  options: { readonly threadId?: string } = {},
): Promise<ImportedThreadState> {
  const blobs = target.blobsFor?.(readSourceThread(document, options.threadId).threadId) ?? target.blobs;
  const slim = await moveLargeMessages(document, blobs);
  const { threadId, events, notes: kept } = threadFromState(slim.document, options);
  const notes = [...slim.notes, ...kept];
  const stream = threadStream(threadId);
  // Not as an export, which is stored as it was recorded: here an encrypted store encrypts. Its hashes are over the
  // ciphertext, so the same event is known by its id, which follows from its content.
  const isPlain = storedLog(target.log) === target.log;
  const known = await agreeing(target.log, stream, events, isPlain ? hashOf : ({ id }) => id);
  await checkFolds(target, new Map([[stream, events]]));
  await appendRecorded(target.log, stream, events.slice(known));
  const version = Math.max(known, events.length);
  return { threadId, version, added: Math.max(0, events.length - known), notes };
}

export interface ImportedText {
  readonly threads: readonly ImportedThread[];
  readonly notes: readonly string[];
}

/**
 * Imports a whole file, whichever of the two kinds it is: an export, or a LangGraph thread as JSON.
 *
 * @param options.threadId imports a LangGraph thread under this id
 * @throws {ExportFormatError} @throws {NotAThreadError} and what `importThreads` and `importThreadState` throw
 */
export async function importText(
  target: ImportTarget,
  text: string,
  options: { readonly threadId?: string } = {},
): Promise<ImportedText> {
  const content = text.replace(/^\uFEFF/, "");
  const document = parseDocument(content);
  if (document === undefined) return { threads: await importThreads(target, content.split("\n")), notes: [] };
  const { notes, ...thread } = await importThreadState(target, document, options);
  return { threads: [thread], notes };
}

/** The text as one JSON document; undefined for lines of JSON. */
function parseDocument(text: string): Json | undefined {
  if (looksLikeExport(text.slice(0, text.indexOf("\n") >>> 0))) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
