import type { Agent, Thread } from "../../actors/agent-contract.ts";
import { threadStream } from "../../events/envelope.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import { createStateReader, type StateReader } from "../../projections/state-at.ts";

/** Reads of threads without what was redacted from them. */
export interface RedactedReads {
  /** True when something was redacted from a thread, or from one that it was forked from. */
  isRedacted(threadId: string): Promise<boolean>;
  /** The thread, whose states are shown without what was redacted. */
  shown(thread: Thread, agent: Pick<Agent, "reducer" | "registry">): Thread;
}

interface Known {
  /** Version up to which the stream was searched. */
  readonly through: number;
  readonly redacted: boolean;
  readonly parent: string | undefined;
}

const maxKnown = 10_000;

/** @param log shows events without what was redacted */
export function createRedactedReads(log: EventLog): RedactedReads {
  const known = new Map<string, Known>();
  const readers = new WeakMap<object, StateReader>();

  const search = async (stream: string): Promise<Known> => {
    const before = known.get(stream);
    const { version } = await log.head(stream);
    if (before && (before.redacted || before.through >= version)) return before;
    let redacted = false;
    const range = { from: (before?.through ?? 0) + 1, to: version, types: ["ContentRedacted"] };
    for await (const page of log.read(stream, range)) redacted ||= page.length > 0;
    let parent = before?.parent;
    if (!before) {
      for await (const page of log.read(stream, { from: 1, to: 1, types: ["ThreadForked"] })) {
        const [fork] = page;
        if (fork) parent = threadStream((fork.data as unknown as { parentThreadId: string }).parentThreadId);
      }
    }
    const found = { through: version, redacted, parent };
    known.delete(stream);
    known.set(stream, found);
    const [oldest] = known.keys();
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
    return found;
  };

  const isRedacted = async (threadId: string): Promise<boolean> => {
    const seen = new Set<string>();
    for (let stream: string | undefined = threadStream(threadId); stream && !seen.has(stream); ) {
      seen.add(stream);
      const { redacted, parent } = await search(stream);
      if (redacted) return true;
      stream = parent;
    }
    return false;
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
