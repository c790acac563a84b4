import { threadIdOf } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { defineProjection } from "./define-projection.ts";
import type { ProjectionView } from "./projection-view.ts";

/** A thread that stands on another one's history. */
export interface Fork {
  readonly threadId: string;
  readonly parentThreadId: string;
  readonly parentVersion: number;
  readonly recordedAt: string;
}

const keyOf = (parent: string, child: string) => `${parent}/${child}`;

/** All forks by their parent, so that the children of a thread are found without reading the log. */
export const forkIndex = defineProjection<Fork, "brief">({
  name: "fork-index",
  version: 1,
  envelope: "brief",
  handlers: {
    ThreadForked(rows, event) {
      const threadId = threadIdOf(event.stream);
      if (threadId === undefined) return;
      const { parentThreadId, parentVersion } = event.data;
      const { recordedAt } = event;
      rows.put(keyOf(parentThreadId, threadId), { threadId, parentThreadId, parentVersion, recordedAt });
    },
    ThreadErased(rows, event) {
      if (!event.data.deleted) return;
      const threadId = threadIdOf(event.stream);
      for (const { key, row } of rows.list("")) if (row.threadId === threadId) rows.delete(key);
    },
  },
});

/** Finds the forks of a thread, oldest first. */
export type ForksOf = (threadId: string) => Promise<readonly Fork[]>;

function byTime(a: Fork, b: Fork): number {
  return a.recordedAt === b.recordedAt
    ? a.threadId < b.threadId
      ? -1
      : 1
    : a.recordedAt < b.recordedAt
      ? -1
      : 1;
}

/** Forks from the index: fast, and as far behind the log as the projection is. */
export function forksFromIndex(view: ProjectionView<Fork>): ForksOf {
  return async (threadId) => {
    const found = await view.list({ prefix: keyOf(threadId, "") });
    return found.map(({ row }) => row).sort(byTime);
  };
}

/** Forks from the log itself, which is read through once, when the first thread is asked for. */
export function forksFromLog(log: EventLog): ForksOf {
  let reading: Promise<Map<string, Fork[]>> | undefined;
  const read = async () => {
    const forks = new Map<string, Fork[]>();
    for await (const page of log.readAll({ types: ["ThreadForked"] })) {
      for (const { stream, data, recordedAt } of page) {
        const threadId = threadIdOf(stream);
        const { parentThreadId, parentVersion } = data as unknown as Fork;
        if (threadId === undefined) continue;
        const siblings = forks.get(parentThreadId) ?? [];
        siblings.push({ threadId, parentThreadId, parentVersion, recordedAt });
        forks.set(parentThreadId, siblings);
      }
    }
    return forks;
  };
  return async (threadId) => {
    reading ??= read();
    return (await reading).get(threadId)?.sort(byTime) ?? [];
  };
}
