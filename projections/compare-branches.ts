import { threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { commonAncestor, type ThreadPlace } from "./branches.ts";
import { changedNames, diffStates } from "./diff.ts";
import type { PatchOperation } from "./json-patch.ts";
import { resolveLineage } from "./lineage.ts";
import type { StateReader } from "./state-at.ts";
import { placeOnLineage, segmentsAfter } from "./state-cache.ts";

/** What one branch did since the place that it has in common with the other. */
interface BranchWork {
  readonly at: ThreadPlace;
  /** Events since then. */
  readonly events: number;
  /** How often each type of event occurs among them. */
  readonly types: Readonly<Record<string, number>>;
  /** Fields of the state that it changed since then. */
  readonly fields: readonly string[];
}

/** Two branches side by side. */
export interface BranchComparison {
  /** The last place that both have in common; undefined: none. */
  readonly ancestor: ThreadPlace | undefined;
  readonly left: BranchWork;
  readonly right: BranchWork;
  /** Fields in which the two differ, and how to get from left to right (RFC 6902). */
  readonly fields: readonly string[];
  readonly patch: readonly PatchOperation[];
}

/**
 * Compares two places, in one thread or two: what they have in common, what each did since, and how the states differ.
 *
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {BrokenLineageError}
 * @example
 * const { ancestor, left, right } = await compareBranches(store.log, reader, { threadId: "a", version: 12 }, { threadId: "fork-of-a", version: 3 });
 */
export async function compareBranches(
  log: EventLog,
  reader: Pick<StateReader, "stateAt">,
  left: ThreadPlace,
  right: ThreadPlace,
): Promise<BranchComparison> {
  const ancestor = await commonAncestor(log, left, right);
  const before = ancestor ? await reader.stateAt(ancestor.threadId, ancestor.version) : {};
  const workOf = async (at: ThreadPlace): Promise<BranchWork> => {
    const counts = new Map<string, number>();
    const lineage = await resolveLineage(log, threadStream(at.threadId), at.version);
    const place = ancestor && { stream: threadStream(ancestor.threadId), version: ancestor.version };
    const since = place && placeOnLineage(lineage, place) !== -1 ? segmentsAfter(lineage, place) : lineage;
    let events = 0;
    for (const { stream, from, to } of since) {
      for await (const page of log.read(stream, { from, to })) {
        for (const { type } of page) counts.set(type, (counts.get(type) ?? 0) + 1);
        events += page.length;
      }
    }
    const fields = changedNames(before, await reader.stateAt(at.threadId, at.version));
    return { at, events, types: Object.fromEntries([...counts].sort()), fields };
  };
  const [one, other] = [
    await reader.stateAt(left.threadId, left.version),
    await reader.stateAt(right.threadId, right.version),
  ];
  const { toJsonPatch } = await import("./json-patch.ts");
  return {
    ancestor,
    left: await workOf(left),
    right: await workOf(right),
    fields: changedNames(one, other),
    patch: toJsonPatch(diffStates(one, other)),
  };
}
