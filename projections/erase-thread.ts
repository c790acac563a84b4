import { rm } from "node:fs/promises";
import { type Emitter, threadIdOf, threadStream } from "../events/envelope.ts";
import { createEventRegistry, type EventRegistry } from "../events/event-registry.ts";
import { hasOpenContent } from "../events/keys/seal-data.ts";
import { asEncrypted, type EncryptedStore } from "../events/keys/with-encryption.ts";
import { storedLog } from "../events/log/encrypting-log.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { Store } from "../events/store.ts";
import { ThreadErased } from "../events/thread.ts";
import { blobsOnlyOf } from "./blobs-only-of.ts";
import {
  type ForgottenInProjections,
  forgetInProjections,
  type ProjectionsToForgetIn,
} from "./forget-in-projections.ts";
import { type ForksOf, forksFromLog } from "./fork-index.ts";
import { holdingHistory } from "./history-lock.ts";
import { checkVersion } from "./lineage.ts";
import { recordThreadEvent } from "./record-event.ts";
import { dropSnapshots } from "./snapshots.ts";

/** Other threads stand on the history of this one. */
export class ThreadHasChildrenError extends Error {
  override readonly name = "ThreadHasChildrenError";
  constructor(
    readonly thread: string,
    readonly children: readonly string[],
  ) {
    const some = children.slice(0, 5).join(", ");
    super(
      `Thread "${thread}" has forks that stand on its history: ${some}${children.length > 5 ? " …" : ""}. Delete or erase the forks first.`,
    );
  }
}

/** Content of the thread was recorded in plain text, where the destruction of a key does not reach it. */
export class ThreadNotEncryptedError extends Error {
  override readonly name = "ThreadNotEncryptedError";
  constructor(
    readonly thread: string,
    /** Versions of events with content in plain text, the first of them. */
    readonly versions: readonly number[],
  ) {
    const where =
      versions.length === 0 ? "" : ` (version ${versions[0]}${versions.length > 1 ? " and others" : ""})`;
    super(
      `Thread "${thread}" is kept in plain text${where}, so there is no key whose destruction would erase it. Delete the whole thread instead, or open the store with encryption before threads begin.`,
    );
  }
}

export interface EraseOptions {
  readonly reason?: string;
  /** Who asks for it. Default `user`. */
  readonly by?: Emitter;
  /** Default: the catalogue only. */
  readonly registry?: EventRegistry;
  /** Rows that have to forget the thread, too. Default: none are touched. */
  readonly projections?: ProjectionsToForgetIn;
  /** Host folders of the thread that are removed with everything in them. */
  readonly folders?: readonly string[];
  /** Folders of the threads of sub-agents, which go with the thread. Default: none. */
  readonly foldersOf?: (threadId: string) => readonly string[];
  /** Where forks are found. Default: the log is searched. */
  readonly forks?: ForksOf;
  /** `keep`: erase a thread that has forks; what they inherited is gone for them, too. Default: refuse. */
  readonly children?: "refuse" | "keep";
}

export interface ErasedThread extends ForgottenInProjections {
  readonly threadId: string;
  /** Version of `ThreadErased`. */
  readonly version: number;
  readonly position: string;
  /** Blobs that only this thread referred to, deleted. */
  readonly blobs: number;
  /** Threads of sub-agents that this one asked, which went with it. */
  readonly delegated: readonly string[];
}

/**
 * Checks that no other thread stands on the history of a thread.
 * @throws {ThreadHasChildrenError}
 */
export async function assertNoChildren(
  store: Pick<Store, "log">,
  threadId: string,
  forks: ForksOf = forksFromLog(store.log),
): Promise<void> {
  const children = await forks(threadId);
  if (children.length > 0) {
    throw new ThreadHasChildrenError(
      threadId,
      children.map((child) => child.threadId),
    );
  }
}

async function assertSealed(
  store: Store,
  threadId: string,
  registry: EventRegistry,
): Promise<EncryptedStore> {
  const versions: number[] = [];
  for await (const page of storedLog(store.log).read(threadStream(threadId))) {
    for (const { type, data, version } of page) {
      if (hasOpenContent(data, registry.get(type)?.content ?? [])) versions.push(version);
    }
  }
  const encrypted = asEncrypted(store);
  if (!encrypted || versions.length > 0) throw new ThreadNotEncryptedError(threadId, versions);
  return encrypted;
}

async function erasureOf(store: Store, threadId: string) {
  for await (const page of store.log.read(threadStream(threadId), { types: ["ThreadErased"] })) {
    if (page[0]) return page[0];
  }
  return undefined;
}

/** Threads of the sub-agents that a thread asked, and of those that they asked, the last ones first. */
async function delegatedThreads(log: EventLog, threadId: string): Promise<readonly string[]> {
  const asked = new Map<string, Set<string>>();
  for await (const page of log.readAll({ types: ["RunStarted"] })) {
    for (const { stream, data } of page) {
      const { parent } = data as { readonly parent?: { readonly threadId: string } };
      const id = threadIdOf(stream);
      if (parent && id !== undefined)
        asked.set(parent.threadId, (asked.get(parent.threadId) ?? new Set()).add(id));
    }
  }
  const found = new Set<string>();
  const follow = (id: string) => {
    for (const child of asked.get(id) ?? []) {
      if (found.has(child) || child === threadId) continue;
      found.add(child);
      follow(child);
    }
  };
  follow(threadId);
  return [...found].reverse();
}

/** First the threads of sub-agents, so that a failure leaves the thread that leads to them. */
async function withDelegated(
  store: Store,
  threadId: string,
  options: EraseOptions,
  work: (threadId: string, options: EraseOptions) => Promise<Omit<ErasedThread, "delegated">>,
): Promise<ErasedThread> {
  const delegated = await delegatedThreads(store.log, threadId);
  let blobs = 0;
  for (const id of delegated) {
    const { forks: _, ...inherited } = options;
    blobs += (await work(id, { ...inherited, folders: options.foldersOf?.(id) ?? [] })).blobs;
  }
  const erased = await work(threadId, options);
  return { ...erased, blobs: erased.blobs + blobs, delegated };
}

/** Drops the snapshots of a thread and of all threads that stand on its history. */
export async function dropSnapshotsOfFamily(store: Store, threadId: string, forks: ForksOf): Promise<void> {
  const { side } = asEncrypted(store)?.stored ?? store;
  await dropSnapshots(side, threadStream(threadId));
  for (const child of await forks(threadId)) await dropSnapshotsOfFamily(store, child.threadId, forks);
}

/**
 * Destroys the content of a thread for ever: its key, its blobs and snapshots, and its content in projections; with it
 * those of the threads of its sub-agents. The
 * events stay with blanks in place of the content, the chain still verifies, and `ThreadErased` says what happened.
 * Calling it again finishes what was interrupted.
 *
 * @param store an encrypted store
 * @throws {UnknownThreadError} @throws {ThreadNotEncryptedError} @throws {ThreadHasChildrenError}
 * @example
 * await eraseThread(store, "0190c3…", {
 *   reason: "asked by the user",
 *   projections: { store: projectionStore, projections: builtInProjections },
 * });
 */
export async function eraseThread(
  store: Store,
  threadId: string,
  options: EraseOptions = {},
): Promise<ErasedThread> {
  const { children = "refuse", forks = forksFromLog(store.log) } = options;
  await checkVersion(store.log, threadStream(threadId), undefined);
  if (children === "refuse") await assertNoChildren(store, threadId, forks);
  return withDelegated(store, threadId, options, (id, own) => eraseOne(store, id, own));
}

async function eraseOne(
  store: Store,
  threadId: string,
  options: EraseOptions,
): Promise<Omit<ErasedThread, "delegated">> {
  const { reason, by = "user", registry = createEventRegistry(), folders = [] } = options;
  const { projections, forks = forksFromLog(store.log) } = options;
  const stream = threadStream(threadId);
  await checkVersion(store.log, stream, undefined);
  const encrypted = await assertSealed(store, threadId, registry);

  const blobs = await blobsOnlyOf(store, threadId);
  const draft = ThreadErased({ ...(reason !== undefined && { reason }) });
  const erased =
    (await erasureOf(store, threadId)) ?? (await recordThreadEvent(store.log, threadId, draft, by));
  await dropSnapshotsOfFamily(store, threadId, forks);
  for (const sha256 of blobs) await store.blobs.delete(sha256);
  await encrypted.keys.destroy(stream);
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
  const forgotten = projections
    ? await forgetInProjections(projections, { log: store.log, registry }, erased.position)
    : { updated: [], dropped: [] };
  const { version, position } = erased;
  return { threadId, version, position, blobs: blobs.length, ...forgotten };
}

/**
 * Deletes a thread with all its events, and the threads of its sub-agents; its id cannot be used again. Works for threads in plain text, too. Read models
 * are told by a last `ThreadErased` before the events go.
 *
 * @throws {UnknownThreadError} @throws {ThreadHasChildrenError}
 * @example
 * await deleteThread(store, "0190c3…");
 */
export async function deleteThread(
  store: Store,
  threadId: string,
  options: Omit<EraseOptions, "children"> = {},
): Promise<ErasedThread> {
  await checkVersion(store.log, threadStream(threadId), undefined);
  await assertNoChildren(store, threadId, options.forks ?? forksFromLog(store.log));
  return withDelegated(store, threadId, options, (id, own) => deleteOne(store, id, own));
}

async function deleteOne(
  store: Store,
  threadId: string,
  options: EraseOptions,
): Promise<Omit<ErasedThread, "delegated">> {
  const { reason, by = "user", registry = createEventRegistry(), folders = [] } = options;
  const { projections, forks = forksFromLog(store.log) } = options;
  const stream = threadStream(threadId);
  await checkVersion(store.log, stream, undefined);
  const blobs = await blobsOnlyOf(store, threadId);
  const draft = ThreadErased({ deleted: true, ...(reason !== undefined && { reason }) });
  // From then on nobody forks it.
  const { version, position } = await holdingHistory(store.side, stream, async () => {
    await assertNoChildren(store, threadId, forksFromLog(store.log));
    return recordThreadEvent(store.log, threadId, draft, by);
  });
  await dropSnapshotsOfFamily(store, threadId, forks);
  const forgotten = projections
    ? await forgetInProjections(projections, { log: store.log, registry }, position)
    : { updated: [], dropped: [] };
  await store.log.erase(stream);
  for (const sha256 of blobs) await store.blobs.delete(sha256);
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
  return { threadId, version, position, blobs: blobs.length, ...forgotten };
}
