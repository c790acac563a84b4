import type { NewEvent, RecordedEvent } from "../envelope.ts";
import type { Json } from "../json.ts";
import { decrypt, encrypt, leafOf } from "../keys/content-key.ts";
import { KeyDestroyedError, KeyMissingError } from "../keys/key-store.ts";
import { isSealed, openData, sealData } from "../keys/seal-data.ts";
import type { OpenKey, ThreadKeys } from "../keys/thread-keys.ts";
import { DamagedEventError, type EventLog, StreamDeletedError } from "./event-log.ts";

const boundTo = (stream: string, eventId: string, path: string) => `${stream}\n${eventId}\n${path}`;

function sealEvent(stream: string, event: NewEvent, content: readonly string[], key: OpenKey): NewEvent {
  const data = sealData(event.type, event.data, content, (path, value) => {
    const secret = key.leafKey(leafOf(event.id, path));
    // A leaf of a new event can only be gone when it collides with a redacted one; then the content is gone, too.
    if (!secret) return "";
    return encrypt(secret, Buffer.from(JSON.stringify(value)), boundTo(stream, event.id, path)).toString(
      "base64",
    );
  });
  return { ...event, data };
}

function openEvent(event: RecordedEvent, key: OpenKey | undefined): RecordedEvent {
  if (!isSealed(event.data)) return event;
  const data = openData(event.data, (path, text) => {
    const secret = key?.leafKey(leafOf(event.id, path));
    if (!secret || text === "") return undefined;
    try {
      const plain = decrypt(secret, Buffer.from(text, "base64"), boundTo(event.stream, event.id, path));
      return JSON.parse(plain.toString()) as Json;
    } catch (cause) {
      const reason = `the ciphertext of ${path} does not fit its key (${(cause as Error).message})`;
      throw new DamagedEventError(event.stream, event.version, reason);
    }
  });
  return { ...event, data };
}

/**
 * Encrypts content on its way into a log and decrypts it on its way out. Every thread has a key of its own; what an
 * event definition names as `content` is sealed with AES-256-GCM before the event is hashed, so the chain verifies over
 * ciphertext (`stored`) and still does when the key is gone. Events read without their key have blanks in place of the
 * content, and name them in `$erased`.
 *
 * @param contentOf content paths of the events of a type, as their definitions name them
 * @example
 * const registry = createEventRegistry();
 * const keys = createThreadKeys(createFileKeyStore("keys"));
 * const log = createEncryptingLog(inner, keys, (type) => registry.get(type)?.content ?? []);
 */
export function createEncryptingLog(
  inner: EventLog,
  keys: ThreadKeys,
  contentOf: (type: string) => readonly string[],
): EventLog {
  const openAll = async (events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> => {
    const opened = new Map<string, OpenKey | undefined>();
    for (const { stream, type } of events) {
      // Another process may have changed the key that is held here.
      if (type === "ThreadErased" || type === "ContentRedacted") keys.forget(stream);
    }
    for (const { stream, data } of events) {
      if (opened.has(stream) || !isSealed(data)) continue;
      const key = await keys.find(stream);
      if (key === undefined) throw new KeyMissingError(stream);
      opened.set(stream, key === "destroyed" ? undefined : key);
    }
    return events.map((event) => openEvent(event, opened.get(event.stream)));
  };

  const keyFor = async (stream: string): Promise<OpenKey> => {
    try {
      return await keys.ensure(stream);
    } catch (error) {
      const gone = error instanceof KeyDestroyedError && (await inner.head(stream)).deleted;
      throw gone ? new StreamDeletedError(stream) : error;
    }
  };

  async function* pages(source: AsyncIterable<readonly RecordedEvent[]>) {
    for await (const page of source) yield await openAll(page);
  }

  return {
    kind: inner.kind,
    stored: inner.stored ?? inner,
    async append(stream, events, options) {
      const sealable = events.some(({ type }) => contentOf(type).length > 0);
      const key = sealable ? await keyFor(stream) : undefined;
      const sealed = key
        ? events.map((event) => sealEvent(stream, event, contentOf(event.type), key))
        : events;
      const result = await inner.append(stream, sealed, options);
      return { ...result, events: await openAll(result.events) };
    },
    read: (stream, options) => pages(inner.read(stream, options)),
    readAll: (options) => pages(inner.readAll(options)),
    subscribe(options) {
      const items = inner.subscribe(options);
      return (async function* () {
        for await (const item of items) {
          if (item.kind !== "event") yield item;
          else for (const event of await openAll([item.event])) yield { kind: "event" as const, event };
        }
      })();
    },
    head: (stream) => inner.head(stream),
    streams: (options) => inner.streams(options),
    async erase(stream, options) {
      await inner.erase(stream, options);
      await keys.destroy(stream);
    },
    close: () => inner.close(),
  };
}

/** The log underneath an encrypting one: hashes are over its events. Any other log is its own. */
export function storedLog(log: EventLog): EventLog {
  return log.stored ?? log;
}
