import { storableJson } from "../storable-json.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { checkRecordName, SideConflict, type SideRecord, type SideStore } from "./side-store.ts";

/** A side store in memory. Its values are frozen. */
export function createMemorySide(): SideStore {
  const kinds = new Map<string, Map<string, SideRecord>>();
  return {
    async get(kind, key) {
      checkRecordName(kind, key);
      return kinds.get(kind)?.get(key);
    },
    async put(kind, key, value, { ifRevision } = {}) {
      checkRecordName(kind, key);
      const records = kinds.get(kind) ?? new Map<string, SideRecord>();
      const current = records.get(key)?.revision ?? 0;
      if (ifRevision !== undefined && ifRevision !== current) throw new SideConflict(kind, key);
      const copy = deepFreeze(structuredClone(storableJson(value)));
      records.set(key, { key, value: copy, revision: current + 1 });
      kinds.set(kind, records);
      return current + 1;
    },
    async delete(kind, key) {
      checkRecordName(kind, key);
      kinds.get(kind)?.delete(key);
    },
    async list(kind, { prefix = "", after = "", limit = Number.POSITIVE_INFINITY } = {}) {
      const records = [...(kinds.get(kind)?.values() ?? [])]
        .filter(({ key }) => key.startsWith(prefix) && key > after)
        .sort((a, b) => (a.key < b.key ? -1 : 1));
      return limit < records.length ? records.slice(0, Math.max(0, limit)) : records;
    },
  };
}
