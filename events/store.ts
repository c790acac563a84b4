import type { BlobStore } from "./blobs/blob-store.ts";
import type { EventLog } from "./log/event-log.ts";
import type { PostgresDatabase } from "./log/postgres.ts";
import type { SideStore } from "./log/side-store.ts";
import type { RunQueue } from "./queue/run-queue.ts";

/** Everything that one store URL opens. */
export interface Store {
  /** As given, without credentials. */
  readonly url: string;
  readonly log: EventLog;
  readonly blobs: BlobStore;
  /** Blobs of one thread, under the thread's own key; there in encrypted stores only. */
  blobsFor?(threadId: string): BlobStore;
  readonly side: SideStore;
  /** Runs that wait for workers. */
  readonly queue: RunQueue;
  /** There when the store is a schema of a PostgreSQL database. */
  readonly database?: PostgresDatabase;
  /** Folder for the files of threads. */
  readonly folder: string;
  close(): Promise<void>;
}
