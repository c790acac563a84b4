import type { DataOf } from "../events/define-event.ts";
import { threadIdOf, threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { HeadNamed, ThreadForked, ThreadRewound } from "../events/thread.ts";
import { type ForksOf, forksFromLog } from "./fork-index.ts";
import { checkVersion, ownSegments, resolveLineage, type StreamTurns } from "./lineage.ts";

/** A place in a thread. */
export interface ThreadPlace {
  readonly threadId: string;
  readonly version: number;
}

/** Versions of one thread that follow on each other without a turn. */
export interface Branch {
  readonly from: number;
  readonly to: number;
  /** Where it leaves from: another branch of the thread, or the parent of a fork; undefined: the beginning. */
  readonly leaves: ThreadPlace | undefined;
  /** Why the thread went back here. */
  readonly reason: string | undefined;
  /** The thread's state builds on (a part of) it. */
  readonly current: boolean;
  /** Names that were given to versions of it. */
  readonly heads: readonly { readonly name: string; readonly version: number }[];
  readonly forks: readonly BranchTree[];
}

/** A thread with its branches, oldest first, and the threads that were forked from them. */
export interface BranchTree {
  readonly threadId: string;
  readonly version: number;
  readonly parent: ThreadPlace | undefined;
  readonly branches: readonly Branch[];
}

interface Turns extends StreamTurns {
  readonly parent: ThreadPlace | undefined;
  readonly reasons: ReadonlyMap<number, string>;
  readonly heads: ReadonlyMap<string, number>;
}

const turnTypes = ["ThreadForked", "ThreadRewound", "HeadNamed"];

async function readTurns(log: EventLog, threadId: string): Promise<Turns> {
  let parent: ThreadPlace | undefined;
  let fork: StreamTurns["fork"];
  const rewinds: { version: number; to: number }[] = [];
  const reasons = new Map<number, string>();
  const heads = new Map<string, number>();
  for await (const page of log.read(threadStream(threadId), { types: turnTypes })) {
    for (const event of page) {
      if (event.type === "ThreadForked" && event.version === 1) {
        const { parentThreadId, parentVersion } = event.data as unknown as DataOf<typeof ThreadForked>;
        parent = { threadId: parentThreadId, version: parentVersion };
        fork = { stream: threadStream(parentThreadId), version: parentVersion };
      } else if (event.type === "ThreadRewound") {
        const { toVersion, reason } = event.data as unknown as DataOf<typeof ThreadRewound>;
        rewinds.push({ version: event.version, to: Math.min(toVersion, event.version - 1) });
        if (reason !== undefined) reasons.set(event.version, reason);
      } else if (event.type === "HeadNamed") {
        const { name, version } = event.data as unknown as DataOf<typeof HeadNamed>;
        if (version === null) heads.delete(name);
        else heads.set(name, version);
      }
    }
  }
  return { fork, rewinds, parent, reasons, heads };
}

/**
 * The tree of a thread's branches: each rewind begins one, and forks hang on the version that they stand on.
 *
 * @param options.forks where forks are found; default: the log is searched
 * @throws {UnknownThreadError}
 * @example
 * const tree = await readBranches(store.log, "0190c3…");
 */
export async function readBranches(
  log: EventLog,
  threadId: string,
  options: { readonly forks?: ForksOf } = {},
): Promise<BranchTree> {
  const { forks = forksFromLog(log) } = options;
  const seen = new Set<string>();

  const treeOf = async (id: string): Promise<BranchTree> => {
    seen.add(id);
    const stream = threadStream(id);
    const version = await checkVersion(log, stream, undefined);
    const turns = await readTurns(log, id);
    const current = ownSegments(stream, turns, version);
    const children = (await forks(id)).filter((fork) => !seen.has(fork.threadId));
    const starts = [1, ...turns.rewinds.map((rewind) => rewind.version).filter((start) => start > 1)];
    const branches: Branch[] = [];
    for (const [index, from] of starts.entries()) {
      const to = (starts[index + 1] ?? version + 1) - 1;
      const rewind = turns.rewinds.find((one) => one.version === from);
      // A fork at version 0 has nothing of its parent; it hangs on the first branch.
      const within = (at: number) => (at >= from || index === 0) && at <= to;
      const own = [];
      for (const child of children) if (within(child.parentVersion)) own.push(await treeOf(child.threadId));
      branches.push({
        from,
        to,
        leaves: rewind ? { threadId: id, version: rewind.to } : index === 0 ? turns.parent : undefined,
        reason: turns.reasons.get(from),
        current: current.some((segment) => segment.from <= to && segment.to >= from),
        heads: [...turns.heads]
          .filter(([, at]) => within(at))
          .map(([name, at]) => ({ name, version: at }))
          .sort((a, b) => a.version - b.version),
        forks: own,
      });
    }
    return { threadId: id, version, parent: turns.parent, branches };
  };
  return treeOf(threadId);
}

/**
 * The last place that two places have in common; undefined: they share nothing.
 *
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {BrokenLineageError}
 * @example
 * await commonAncestor(log, { threadId: "a", version: 12 }, { threadId: "fork-of-a", version: 3 });
 */
export async function commonAncestor(
  log: EventLog,
  left: ThreadPlace,
  right: ThreadPlace,
): Promise<ThreadPlace | undefined> {
  const [one, other] = await Promise.all(
    [left, right].map(({ threadId, version }) => resolveLineage(log, threadStream(threadId), version)),
  );
  let common: ThreadPlace | undefined;
  for (const [index, segment] of (one ?? []).entries()) {
    const twin = other?.[index];
    if (!twin || twin.stream !== segment.stream || twin.from !== segment.from) break;
    const to = Math.min(segment.to, twin.to);
    common = { threadId: threadIdOf(segment.stream) ?? segment.stream, version: to };
    if (segment.to !== twin.to) break;
  }
  return common;
}

/** Names of a thread's versions. A name that was given twice stands where it was put last. */
export async function readHeads(
  log: EventLog,
  threadId: string,
): Promise<readonly { readonly name: string; readonly version: number }[]> {
  await checkVersion(log, threadStream(threadId), undefined);
  const { heads } = await readTurns(log, threadId);
  return [...heads].map(([name, version]) => ({ name, version })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
