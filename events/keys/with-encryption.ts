import { createEncryptingBlobs, storeKeyId } from "../blobs/encrypting-blobs.ts";
import { threadStream } from "../envelope.ts";
import { createEventRegistry, type EventRegistry } from "../event-registry.ts";
import { createEncryptingLog } from "../log/encrypting-log.ts";
import { createEncryptingSide } from "../log/encrypting-side.ts";
import { createEncryptingQueue } from "../queue/encrypting-queue.ts";
import type { Store } from "../store.ts";
import type { KeyStore } from "./key-store.ts";
import { createThreadKeys, type ThreadKeys } from "./thread-keys.ts";

/** A store whose content is encrypted, with the keys that erasure destroys. */
export interface EncryptedStore extends Store {
  readonly keys: ThreadKeys;
  blobsFor(threadId: string): Store["blobs"];
  /** Also encrypts the content of events that this registry knows: those of an agent's middlewares. */
  learn(registry: EventRegistry): void;
  /** The store underneath: ciphertext, and hashes that verify. */
  readonly stored: Store;
}

const maxThreads = 10_000;

/**
 * Encrypts the content of a store: events, blobs, snapshots and queued inputs, each thread with a key of its own. Events
 * that were recorded before stay as they are.
 *
 * @param options.registry knows the events of user middlewares; default: the catalogue only
 * @example
 * const store = withEncryption(await openStore(url), createFileKeyStore("keys"));
 */
export function withEncryption(
  store: Store,
  keyStore: KeyStore,
  options: { readonly registry?: EventRegistry } = {},
): EncryptedStore {
  const registries = [options.registry ?? createEventRegistry()];
  const contentOf = (type: string) => {
    for (const registry of registries) {
      const definition = registry.get(type);
      if (definition) return definition.content;
    }
    return [];
  };
  const keys = createThreadKeys(keyStore);
  const byThread = new Map<string, Store["blobs"]>();
  return {
    url: store.url,
    folder: store.folder,
    keys,
    stored: store,
    log: createEncryptingLog(store.log, keys, contentOf),
    blobs: createEncryptingBlobs(store.blobs, keys, storeKeyId),
    blobsFor(threadId) {
      // The same object each time: callers remember by it what a thread has stored already.
      const known =
        byThread.get(threadId) ?? createEncryptingBlobs(store.blobs, keys, threadStream(threadId));
      byThread.delete(threadId);
      byThread.set(threadId, known);
      const [oldest] = byThread.keys();
      if (byThread.size > maxThreads && oldest !== undefined) byThread.delete(oldest);
      return known;
    },
    side: createEncryptingSide(store.side, keys),
    queue: createEncryptingQueue(store.queue, keys),
    ...(store.database && { database: store.database }),
    learn(registry) {
      if (!registries.includes(registry)) registries.push(registry);
    },
    close: () => store.close(),
  };
}

/** Where the blobs of a thread go: in an encrypted store each thread's are under its own key. */
export function blobsOfThread(store: Store, threadId: string): Store["blobs"] {
  return store.blobsFor?.(threadId) ?? store.blobs;
}

/** The encrypted store, or undefined for one in plain text. */
export function asEncrypted(store: Store): EncryptedStore | undefined {
  return "keys" in store && "stored" in store ? (store as EncryptedStore) : undefined;
}
