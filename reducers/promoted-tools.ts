import type { DataOf } from "../events/define-event.ts";
import { ToolsPromoted } from "../events/promoted-tools.ts";
import { defineReducer } from "./define-reducer.ts";

/** Deferred tools that became callable, and the catalogue that their names belong to. */
export interface PromotedTools {
  readonly catalog_hash?: string;
  readonly names: readonly string[];
}

function promote(current: PromotedTools | undefined, data: DataOf<typeof ToolsPromoted>): PromotedTools {
  if (current?.catalog_hash !== data.catalogHash) {
    return { catalog_hash: data.catalogHash, names: [...new Set(data.names)] };
  }
  const names = [...new Set([...current.names, ...data.names])];
  return names.length === current.names.length ? current : { ...current, names };
}

/** Names are added while the catalogue stays the same; another catalogue starts anew, with no names if none come along. */
export const promoted = defineReducer<PromotedTools | undefined>({
  field: "promoted",
  initial: undefined,
  algebra: "scoped-set",
  on: { ToolsPromoted: (current, data) => promote(current, data) },
  merge: (current, update) => {
    const { catalog_hash, names = [] } = (update ?? {}) as Partial<PromotedTools>;
    return catalog_hash === undefined
      ? current
      : promote(current, { catalogHash: catalog_hash, names: [...names] });
  },
  fromUpdate(update, current) {
    if (update == null || (typeof update === "object" && Object.keys(update).length === 0)) return [];
    const { catalog_hash, names = [] } = update as Partial<PromotedTools>;
    // A hash that is left out stays left out: the event's schema refuses it and names the key.
    const data = { catalogHash: catalog_hash as string, names: [...names] };
    if (catalog_hash === undefined || current?.catalog_hash !== catalog_hash) return [ToolsPromoted(data)];
    const known = new Set(current.names);
    const added = data.names.filter((name) => !known.has(name));
    return added.length === 0 ? [] : [ToolsPromoted({ ...data, names: added })];
  },
});
