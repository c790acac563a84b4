/** A map that keeps its most recently used entries. */
export interface RecentlyUsed<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  clear(): void;
}

export function createRecentlyUsed<Key, Value>(maxEntries: number): RecentlyUsed<Key, Value> {
  // A Map iterates in order of insertion: the first key is the one that was not used for the longest time.
  const entries = new Map<Key, Value>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value !== undefined) {
        entries.delete(key);
        entries.set(key, value);
      }
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > maxEntries) {
        for (const oldest of entries.keys()) {
          entries.delete(oldest);
          break;
        }
      }
    },
    clear: () => entries.clear(),
  };
}
