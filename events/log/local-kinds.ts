import type { SideStore } from "./side-store.ts";

/** Keeps records of some kinds on this machine, and all others where every machine sees them. */
export function withLocalKinds(shared: SideStore, local: SideStore, kinds: readonly string[]): SideStore {
  const of = (kind: string) => (kinds.includes(kind) ? local : shared);
  return {
    get: (kind, key) => of(kind).get(kind, key),
    put: (kind, key, value, options) => of(kind).put(kind, key, value, options),
    delete: (kind, key) => of(kind).delete(kind, key),
    list: (kind, options) => of(kind).list(kind, options),
  };
}
