import { type Delegation, DelegationsRecorded } from "../events/delegations.ts";
import { defineReducer } from "./define-reducer.ts";
import { keepWhenSame, sameJson } from "./same-json.ts";

/** Entries at most; the first seen go first. */
export const maxDelegations = 50;

const finished = new Set(["completed", "failed", "cancelled", "timed_out", "polling_timed_out"]);

type Delegations = readonly Delegation[];

/** Undefined: the entry comes too late, the work had finished before. */
function update(known: Delegation, next: Delegation): Delegation | undefined {
  if (finished.has(known.status) && !finished.has(next.status)) return undefined;
  if (!known.created_at) return next;
  const runId = next.run_id ?? known.run_id;
  return { ...next, created_at: known.created_at, ...(runId === undefined ? {} : { run_id: runId }) };
}

function record(current: Delegations, entries: Delegations): Delegations {
  if (entries.length === 0) return current;
  const byId = new Map<string, Delegation>();
  for (const entry of [...current, ...entries]) {
    const known = byId.get(entry.id);
    const next = known ? update(known, entry) : entry;
    if (next) byId.set(entry.id, next);
  }
  return keepWhenSame<Delegations>(current, [...byId.values()].slice(-maxDelegations));
}

/** Work handed to sub-agents, by id. What has finished never goes back to unfinished, and keeps its time of birth. */
export const delegations = defineReducer<Delegations>({
  field: "delegations",
  initial: [],
  on: { DelegationsRecorded: (current, data) => record(current, data.entries) },
  merge: (current, added) => (added == null ? current : record(current, added as Delegations)),
  fromUpdate(added, current) {
    if (added == null) return [];
    if (!Array.isArray(added)) return [DelegationsRecorded({ entries: added as Delegation[] })];
    const entries = added.filter((entry) => !current.some((known) => sameJson(known, entry)));
    return entries.length === 0 ? [] : [DelegationsRecorded({ entries })];
  },
});
