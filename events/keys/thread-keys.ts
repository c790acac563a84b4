import {
  type ContentKey,
  createContentKey,
  createLeafDeriver,
  parseContentKey,
  serializeContentKey,
  withoutLeaves,
} from "./content-key.ts";
import { KeyConflictError, KeyDestroyedError, type KeyStore } from "./key-store.ts";

/** A content key that is ready for use. */
export interface OpenKey {
  readonly key: ContentKey;
  /** Undefined: the field was redacted. */
  leafKey(leaf: string): Uint8Array | undefined;
}

/** Content keys by the name they are kept under: a stream, or `store` for what belongs to no thread. */
export interface ThreadKeys {
  /** Undefined: there never was one. */
  find(id: string): Promise<OpenKey | "destroyed" | undefined>;
  /** The key, made when there is none. @throws {KeyDestroyedError} */
  ensure(id: string): Promise<OpenKey>;
  /** Makes some fields unreadable for ever. @throws {KeyConflictError} */
  redact(id: string, leaves: readonly string[]): Promise<void>;
  destroy(id: string): Promise<void>;
  /** Reads the key again the next time: another process changed it. */
  forget(id: string): void;
}

/** Milliseconds after which a key is looked up again, so that what another process destroyed is not used for long. */
const freshMs = 5000;
const maxHeld = 10_000;

/** Opens keys and holds them in memory for a short time. */
export function createThreadKeys(store: KeyStore, now: () => number = Date.now): ThreadKeys {
  const held = new Map<string, { readonly open: OpenKey; readonly until: number }>();

  const hold = (id: string, bytes: Uint8Array): OpenKey => {
    const key = parseContentKey(bytes);
    const open = { key, leafKey: createLeafDeriver(key) };
    held.delete(id);
    held.set(id, { open, until: now() + freshMs });
    const [oldest] = held.keys();
    if (held.size > maxHeld && oldest !== undefined) held.delete(oldest);
    return open;
  };

  const find = async (id: string): Promise<OpenKey | "destroyed" | undefined> => {
    const known = held.get(id);
    if (known && known.until > now()) return known.open;
    held.delete(id);
    const stored = await store.read(id);
    return stored instanceof Uint8Array ? hold(id, stored) : stored;
  };

  return {
    find,
    async ensure(id) {
      const known = await find(id);
      if (known === "destroyed") throw new KeyDestroyedError(id);
      return known ?? hold(id, await store.create(id, serializeContentKey(createContentKey())));
    },
    async redact(id, leaves) {
      const current = await store.read(id);
      if (!(current instanceof Uint8Array)) throw new KeyConflictError(id);
      const next = serializeContentKey(withoutLeaves(parseContentKey(current), leaves));
      await store.replace(id, current, next);
      hold(id, next);
    },
    async destroy(id) {
      held.delete(id);
      await store.destroy(id);
      held.delete(id);
    },
    forget: (id) => void held.delete(id),
  };
}
