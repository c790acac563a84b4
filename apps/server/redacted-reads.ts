import type { Agent, Thread } from "../../actors/agent-contract.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import { isThreadRedacted, type SearchedStream } from "../../projections/redacted-threads.ts";
import { createStateReader, type StateReader } from "../../projections/state-at.ts";

/** Reads of threads without what was redacted from them. */
export interface RedactedReads {
  /** True when something was redacted from a thread, or from one that it was forked from. */
  isRedacted(threadId: string): Promise<boolean>;
  /** The thread, whose states are shown without what was redacted. */
  shown(thread: Thread, agent: Pick<Agent, "reducer" | "registry">): Thread;
}

/** Streams that are remembered. */
const maxKnown = 10_000;

/** @param log shows events without what was redacted */
export function createRedactedReads(log: EventLog): RedactedReads {
  const known = new Map<string, SearchedStream>();
  const readers = new WeakMap<object, StateReader>();

  const isRedacted = async (threadId: string): Promise<boolean> => {
    const redacted = await isThreadRedacted(log, threadId, known);
    for (const [oldest] of known) {
      if (known.size <= maxKnown) break;
      known.delete(oldest);
    }
    return redacted;
  };

  /** States of its own folding: snapshots and what an agent has in memory hold the redacted content still. */
  const readerFor = ({ reducer, registry }: Pick<Agent, "reducer" | "registry">): StateReader => {
    const before = readers.get(reducer);
    if (before) return before;
    const reader = createStateReader({ log, side: createMemorySide(), reducer, registry });
    readers.set(reducer, reader);
    return reader;
  };

  return {
    isRedacted,
    shown(thread, agent) {
      const { id } = thread;
      return {
        ...thread,
        async stateAt(version) {
          return (await isRedacted(id)) ? readerFor(agent).stateAt(id, version) : thread.stateAt(version);
        },
        async state() {
          return (await isRedacted(id)) ? readerFor(agent).stateAt(id) : thread.state();
        },
        async snapshot() {
          if (!(await isRedacted(id))) return thread.snapshot();
          const info = await thread.info();
          return { ...info, state: await readerFor(agent).stateAt(id, info.version) };
        },
      };
    },
  };
}
