import { algebraLaw } from "./algebra-law.ts";
import { shown } from "./law.ts";

function idsOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value.map((entry: { readonly id?: unknown } | null) => entry?.id) : undefined;
}

/** Follows from `sequence`. */
export const sequenceOrder = algebraLaw({
  name: "sequence-order",
  statement: "every id stands in the list once, and entries that stay keep their order",
  claims: ["sequence"],
  broken({ event, before, after }) {
    if (!after) return undefined;
    const [old, now] = [idsOf(before ?? []), idsOf(after.value)];
    if (!old || !now) return `${event.type} gave ${shown(after.value)}, and a sequence is a list`;
    if (new Set(now).size < now.length) return `${event.type} left an id in the list twice: ${shown(now)}`;
    const staying = old.filter((id) => now.includes(id));
    const inOrder = now.filter((id) => old.includes(id));
    if (staying.every((id, at) => id === inOrder[at])) return undefined;
    return `${event.type} moved entries: ${shown(old)} became ${shown(now)}`;
  },
});
