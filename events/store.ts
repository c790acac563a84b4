import type { BlobStore } from "./blobs/blob-store.ts";
import type { EventLog } from "./log/event-log.ts";
import type { SideStore } from "./log/side-store.ts";

/** Everything that one store URL opens. */
export interface Store {
  /** As given, without credentials. */
  readonly url: string;
  readonly log: EventLog;
  readonly blobs: BlobStore;
  /** Blobs of one thread, under the thread's own key; there in encrypted stores only. */
  blobsFor?(threadId: string): BlobStore;
  readonly side: SideStore;
  /** Folder for the files of threads. */
  readonly folder: string;
  close(): Promise<void>;
}
