import { isDeepStrictEqual } from "node:util";
import type { RecordedEvent } from "../../events/envelope.ts";
import { threadStream } from "../../events/envelope.ts";
import type { EventRegistry } from "../../events/event-registry.ts";
import { findBrokenLink } from "../../events/hash-chain.ts";
import type { Message } from "../../events/message.ts";
import type { Store } from "../../events/store.ts";
import { refold } from "../../projections/refold.ts";
import type { State, StateReducer } from "../../reducers/thread-state.ts";

const runEnds = new Set(["RunCompleted", "RunFailed", "RunCancelled", "RunInterrupted"]);

interface RunData {
  readonly runId: string;
}

async function eventsOf({ log }: Store, threadId: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of log.read(threadStream(threadId))) events.push(...page);
  return events;
}

function runProblems(events: readonly RecordedEvent[]): string[] {
  const problems: string[] = [];
  let open: string | undefined;
  for (const { type, data, version } of events) {
    const { runId } = data as unknown as RunData;
    if (type === "RunStarted") {
      if (open !== undefined) problems.push(`version ${version} starts run ${runId} while ${open} is open`);
      open = runId;
    } else if (runEnds.has(type)) {
      if (open !== runId)
        problems.push(`version ${version} ends run ${runId}, and ${open ?? "none"} is open`);
      open = undefined;
    }
  }
  if (open !== undefined) problems.push(`run ${open} has no end`);
  return problems;
}

/** More than one of a kind for one id. */
function doubles(events: readonly RecordedEvent[], types: readonly string[], key: string): string[] {
  const seen = new Set<unknown>();
  return events.flatMap(({ type, data, version }) => {
    if (!types.includes(type)) return [];
    const id = (data as Readonly<Record<string, unknown>>)[key];
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    return [`version ${version} is a second ${type} for ${key} ${id}`];
  });
}

function orphans(state: State): string[] {
  const messages = (state.messages ?? []) as readonly Message[];
  const results = new Set(messages.map(({ tool_call_id }) => tool_call_id));
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  return calls.filter((id) => !results.has(id)).map((id) => `the call ${id} has no result`);
}

/**
 * What is wrong with a thread at rest, one line each; empty: all is sound. Its chain of hashes holds, each run has one
 * end, each call one result, each question one answer, and the log folds to what the live thread shows, at the ends of
 * runs by their recorded hashes.
 *
 * @param live the state that the live thread shows
 * @example
 * expect(await threadProblems(store, agent, "t", await agent.thread("t").state())).toEqual([]);
 */
export async function threadProblems(
  store: Store,
  source: { readonly reducer: StateReducer; readonly registry: EventRegistry },
  threadId: string,
  live: State,
): Promise<string[]> {
  const events = await eventsOf(store, threadId);
  const broken = findBrokenLink(events);
  const { state, divergence } = await refold(store.log, source, threadStream(threadId), events.length);
  return [
    ...(broken ? [`the chain breaks at version ${broken.version}: ${broken.reason}`] : []),
    ...(divergence ? [`the state hash at version ${divergence.version} is another one`] : []),
    ...(isDeepStrictEqual({ ...state }, { ...live })
      ? []
      : ["the log folds to another state than the live thread shows"]),
    ...runProblems(events),
    ...doubles(events, ["ToolCallCompleted", "ToolCallFailed", "ToolCallAbandoned"], "callId"),
    ...doubles(events, ["InterruptResolved"], "interruptId"),
    ...doubles(events, ["ModelResponded"], "callId"),
    ...orphans(state),
  ];
}
