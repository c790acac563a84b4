/** A map that forgets what was not used for long. */
export interface RecentlyUsed<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  clear(): void;
}

/**
 * Two generations instead of an order: when the young one is full it becomes the old one, and whatever of the old one
 * is not used until the next change is dropped. A hit costs one look-up.
 *
 * @param maxEntries in each of the two generations
 */
export function createRecentlyUsed<Key, Value>(maxEntries: number): RecentlyUsed<Key, Value> {
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  const set = (key: Key, value: Value) => {
    if (young.size >= maxEntries && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  };
  return {
    set,
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const kept = old.get(key);
      if (kept !== undefined) set(key, kept);
      return kept;
    },
    clear() {
      young.clear();
      old.clear();
    },
  };
}
