import type { BlobStore } from "../../events/blobs/blob-store.ts";
import { createMemoryBlobs } from "../../events/blobs/memory.ts";
import { type RecordedEvent, threadStream } from "../../events/envelope.ts";
import { blobsOfThread } from "../../events/keys/with-encryption.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import { createSideQueue } from "../../events/queue/side-queue.ts";
import type { Store } from "../../events/store.ts";
import { appendRecorded } from "../../projections/append-recorded.ts";

/** Reads what the source has; what is put stays in memory. */
function blobsOver(source: BlobStore): BlobStore {
  const own = createMemoryBlobs();
  return {
    put: own.put,
    get: async (sha256) => ((await own.has(sha256)) ? own : source).get(sha256),
    has: async (sha256) => (await own.has(sha256)) || source.has(sha256),
    delete: own.delete,
    list: own.list,
  };
}

/** The thread up to a version with the parents it stands on, in a log of its own. */
async function copyStream(from: EventLog, to: EventLog, stream: string, version: number): Promise<void> {
  if (version === 0 || (await to.head(stream)).version > 0) return;
  const events: RecordedEvent[] = [];
  for await (const page of from.read(stream, { to: version })) events.push(...page);
  const [first] = events;
  if (first?.type === "ThreadForked") {
    const { parentThreadId, parentVersion } = first.data as { parentThreadId: string; parentVersion: number };
    await copyStream(from, to, threadStream(parentThreadId), parentVersion);
  }
  await appendRecorded(to, stream, events);
}

/** `<folder>[/users/<user>]/threads/<thread>/user-data/workspace` */
const workspace = /^(.+?)(?:[\\/]users[\\/][^\\/]+)?[\\/]threads[\\/][^\\/]+[\\/]user-data[\\/]workspace$/;

/** Folder of the store in which a thread was recorded; undefined: the thread does not say. */
async function recordedFolder(log: EventLog, stream: string): Promise<string | undefined> {
  for await (const page of log.read(stream, { types: ["ThreadDataBound"] })) {
    for (const { data } of page) {
      const path = (data as { workspace_path?: string | null }).workspace_path ?? "";
      const folder = workspace.exec(path)?.[1];
      if (folder !== undefined) return folder;
    }
  }
  return undefined;
}

/**
 * A store in memory in which a thread stands at an earlier version. It reads the source's blobs and writes nothing to
 * the source.
 */
export async function storeBefore(source: Store, threadId: string, version: number): Promise<Store> {
  const stream = threadStream(threadId);
  const log = createMemoryLog();
  const side = createMemorySide();
  await copyStream(source.log, log, stream, version);
  return {
    url: "memory:",
    log,
    blobs: blobsOver(blobsOfThread(source, threadId)),
    side,
    queue: createSideQueue(side),
    folder: (await recordedFolder(source.log, stream)) ?? source.folder,
    close: () => log.close(),
  };
}
