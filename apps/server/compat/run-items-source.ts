import type { Run, RunItem } from "../../../actors/agent-contract.ts";
import { threadStream } from "../../../events/envelope.ts";
import type { EventLog } from "../../../events/log/event-log.ts";

const runEnds = new Set(["RunCompleted", "RunFailed", "RunCancelled", "RunInterrupted"]);

/**
 * All items of a run from its first event on: with tokens while it is open in this process, else from the log, which is
 * followed until the run ends, whichever process executes it.
 *
 * @param source.live the run when this process has it
 * @param source.signal ends the wait for events of other processes
 */
export async function* itemsOfRun(
  log: EventLog,
  source: {
    readonly threadId: string;
    readonly runId: string;
    readonly startVersion: number;
    readonly live: Run | undefined;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<RunItem> {
  const { threadId, runId, startVersion, live, signal } = source;
  const stream = threadStream(threadId);
  let next = startVersion;
  const isEnd = (item: RunItem) =>
    item.kind === "event" &&
    runEnds.has(item.event.type) &&
    (item.event.data as { runId?: string }).runId === runId;

  if (live) {
    try {
      for await (const item of live) {
        if (item.kind === "event") {
          const { version } = item.event;
          if (version < next) continue;
          // A run that was taken over began in another process.
          if (version > next) yield* recorded(log, stream, next, version - 1);
          next = version + 1;
        }
        yield item;
        if (isEnd(item)) return;
      }
    } catch (error) {
      // It was lost to another process, whose log tells the rest; one that never began has no log.
      if (next === startVersion) throw error;
    }
  }
  let position: string | undefined;
  for await (const page of log.read(stream, { from: next })) {
    for (const event of page) {
      const item: RunItem = { kind: "event", event };
      position = event.position;
      next = event.version + 1;
      yield item;
      if (isEnd(item)) return;
    }
  }
  const after = position === undefined ? {} : { after: position };
  for await (const item of log.subscribe({ stream, ...after, signal })) {
    if (item.kind !== "event" || item.event.version < next) continue;
    next = item.event.version + 1;
    yield item;
    if (isEnd(item)) return;
  }
}

async function* recorded(log: EventLog, stream: string, from: number, to: number): AsyncGenerator<RunItem> {
  for await (const page of log.read(stream, { from, to })) {
    for (const event of page) yield { kind: "event", event };
  }
}
