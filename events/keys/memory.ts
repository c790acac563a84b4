import { timingSafeEqual } from "node:crypto";
import { KeyConflictError, KeyDestroyedError, type KeyStore, type StoredKey } from "./key-store.ts";

/** True when both are the same bytes. */
export function sameKey(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A key store in memory: with it, content is gone when the process ends. */
export function createMemoryKeyStore(): KeyStore {
  const keys = new Map<string, Exclude<StoredKey, undefined>>();
  return {
    kind: "memory",
    async read(id) {
      const key = keys.get(id);
      return key instanceof Uint8Array ? key.slice() : key;
    },
    async create(id, key) {
      const known = keys.get(id);
      if (known === "destroyed") throw new KeyDestroyedError(id);
      if (known) return known.slice();
      keys.set(id, key.slice());
      return key;
    },
    async replace(id, current, next) {
      const known = keys.get(id);
      if (!(known instanceof Uint8Array) || !sameKey(known, current)) throw new KeyConflictError(id);
      known.fill(0);
      keys.set(id, next.slice());
    },
    async destroy(id) {
      const known = keys.get(id);
      if (known instanceof Uint8Array) known.fill(0);
      keys.set(id, "destroyed");
    },
  };
}
