import { readFile } from "node:fs/promises";
import type { RecordedEvent } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import { findBrokenLink } from "../../events/hash-chain.ts";
import type { Store } from "../../events/store.ts";
import { createMemoryProjectionStore } from "../../projections/memory-projection-store.ts";
import { openProjectionStore, openProjections } from "../../projections/open-projections.ts";
import { rebuildProjection } from "../../projections/rebuild.ts";
import { clusterProjections } from "./cluster-settings.ts";

export interface ClusterCheck {
  readonly events: number;
  readonly eventIds: readonly string[];
  /** Events of which a worker was told that they are recorded. */
  readonly acknowledged: number;
  /** Those of them that are not in the log where they were said to be. */
  readonly lost: number;
  /** Events, starts of runs, inputs and results of tools that are in the log more than once. */
  readonly doubled: number;
  /** Runs whose end is `RunCompleted`. */
  readonly completed: number;
  readonly runs: number;
  readonly threadsFinished: number;
  readonly threads: number;
  /** Tool calls that ran, as the tools themselves noted. */
  readonly toolsRun: number;
  /** Those that had run to their end and ran again. */
  readonly toolsRunTwice: number;
  /** Those that began more than once, whether they had ended or not. */
  readonly toolsBegunTwice: number;
  /** Calls that were under way at a kill, and are recorded as such. */
  readonly unknownOutcomes: number;
  readonly takeovers: number;
  /** Seconds from the last event of a dead owner to the takeover. */
  readonly takeoverSeconds: { readonly median: number; readonly most: number };
  /** Rows of read models that differ from a rebuild. */
  readonly differingRows: number;
  readonly problems: readonly string[];
}

async function linesOf(files: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  // What comes after the last line break was being written at the kill.
  return texts.flatMap((text) => text.slice(0, text.lastIndexOf("\n") + 1).split("\n")).filter(Boolean);
}

/** What the tools noted, by call. */
function countTools(lines: readonly string[]) {
  const began = new Map<string, number>();
  const done = new Map<string, number>();
  for (const line of lines) {
    const space = line.indexOf(" ");
    const call = line.slice(space + 1);
    const counts = line.startsWith("began") ? began : done;
    counts.set(call, (counts.get(call) ?? 0) + 1);
  }
  const twice = [...began].filter(([, times]) => times > 1);
  return {
    toolsRun: began.size,
    toolsBegunTwice: twice.length,
    toolsRunTwice: twice.filter(([call]) => done.has(call)).length,
    isDone: (call: string) => done.has(call),
  };
}

function repeatsIn(values: readonly string[]): number {
  return values.length - new Set(values).size;
}

interface ThreadCheck {
  readonly doubled: number;
  readonly completed: number;
  readonly isFinished: boolean;
  readonly unknownOutcomes: number;
  /** Seconds of each takeover. */
  readonly takeovers: readonly number[];
  readonly completedCalls: readonly string[];
}

interface EventData {
  readonly runId?: string;
  readonly callId?: string;
  readonly reason?: string;
  readonly messages?: readonly { readonly type: string; readonly content: string }[];
}

function checkThread(events: readonly RecordedEvent[]): ThreadCheck {
  const dataOf = (...types: string[]) =>
    events.filter(({ type }) => types.includes(type)).map(({ data }) => data as EventData);
  const runIds = dataOf("RunStarted").map(({ runId = "" }) => runId);
  const ends = dataOf("RunCompleted", "RunFailed", "RunCancelled", "RunInterrupted");
  const completed = dataOf("RunCompleted");
  const inputs = dataOf("MessagesAdded")
    .flatMap(({ messages = [] }) => messages)
    .filter(({ type }) => type === "human")
    .map(({ content }) => content);
  const results = dataOf("ToolCallCompleted", "ToolCallAbandoned").map(({ callId = "" }) => callId);
  const takeovers = events.flatMap((event, index) => {
    const before = events[index - 1];
    if (event.type !== "RunTakenOver" || !before) return [];
    return [(Date.parse(event.recordedAt) - Date.parse(before.recordedAt)) / 1000];
  });
  return {
    doubled:
      repeatsIn(runIds) +
      repeatsIn(ends.map(({ runId = "" }) => runId)) +
      repeatsIn(inputs) +
      repeatsIn(results),
    completed: completed.length,
    isFinished: runIds.length > 0 && completed.length === runIds.length,
    unknownOutcomes: dataOf("ToolCallAbandoned").filter(({ reason }) => reason === "outcome unknown").length,
    takeovers,
    completedCalls: dataOf("ToolCallCompleted").map(({ callId = "" }) => callId),
  };
}

/** Rows that the workers' read models hold otherwise than a rebuild from the log. */
async function countDifferingRows(store: Store, last: string): Promise<number> {
  const rows = await openProjectionStore(store);
  const registry = createEventRegistry();
  const follow = await openProjections(store, {
    projections: clusterProjections,
    rows,
    leaseMs: 500,
    pollMs: 20,
  });
  await follow.whenCaughtUp(last);
  await follow.close();
  let differing = 0;
  for (const projection of clusterProjections) {
    const again = createMemoryProjectionStore();
    await rebuildProjection({ projection, log: store.log, store: again, registry });
    const wanted = new Map((await again.list(projection.name)).map((row) => [row.key, JSON.stringify(row)]));
    for (const row of await rows.list(projection.name)) {
      if (wanted.get(row.key) === JSON.stringify(row)) wanted.delete(row.key);
      else differing += 1;
    }
    differing += wanted.size;
  }
  await rows.close();
  return differing;
}

/** Checks what is in the log against what the processes noted in files. */
export async function checkCluster(
  store: Store,
  noted: {
    readonly runs: number;
    readonly acknowledgedFiles: readonly string[];
    readonly toolFiles: readonly string[];
  },
): Promise<ClusterCheck> {
  const problems: string[] = [];
  const byStream = new Map<string, RecordedEvent[]>();
  let last = "";
  for await (const page of store.log.readAll()) {
    for (const event of page) {
      last = event.position;
      if (!event.stream.startsWith("thread-")) continue;
      const events = byStream.get(event.stream) ?? [];
      byStream.set(event.stream, events);
      events.push(event);
    }
  }
  const eventIds = [...byStream.values()].flat().map(({ id }) => id);
  const idAt = new Map(
    [...byStream.values()].flat().map(({ stream, version, id }) => [`${stream} ${version}`, id]),
  );
  const acknowledged = (await linesOf(noted.acknowledgedFiles)).filter((line) => line.startsWith("thread-"));
  const lost = acknowledged.filter((line) => {
    const [stream, version, id] = line.split(" ");
    return idAt.get(`${stream} ${version}`) !== id;
  }).length;

  const tools = countTools(await linesOf(noted.toolFiles));
  const threads: ThreadCheck[] = [];
  for (const [stream, events] of byStream) {
    const broken = findBrokenLink(events);
    if (broken) problems.push(`the chain of ${stream} is broken: ${JSON.stringify(broken)}`);
    const thread = checkThread(events);
    threads.push(thread);
    for (const call of thread.completedCalls) {
      if (!tools.isDone(`${stream.slice("thread-".length)} ${call}`)) {
        problems.push(`${stream}: ${call} is recorded as completed and did not run to its end`);
      }
    }
  }
  const takeovers = threads.flatMap((thread) => thread.takeovers).sort((a, b) => a - b);
  const sum = (count: (thread: ThreadCheck) => number) =>
    threads.reduce((total, thread) => total + count(thread), 0);
  const { toolsRun, toolsRunTwice, toolsBegunTwice } = tools;
  return {
    events: eventIds.length,
    eventIds,
    acknowledged: acknowledged.length,
    lost,
    doubled: repeatsIn(eventIds) + sum(({ doubled }) => doubled),
    completed: sum(({ completed }) => completed),
    runs: noted.runs,
    threads: threads.length,
    threadsFinished: threads.filter(({ isFinished }) => isFinished).length,
    toolsRun,
    toolsRunTwice,
    toolsBegunTwice,
    unknownOutcomes: sum(({ unknownOutcomes }) => unknownOutcomes),
    takeovers: takeovers.length,
    takeoverSeconds: {
      median: takeovers[Math.floor(takeovers.length / 2)] ?? 0,
      most: takeovers.at(-1) ?? 0,
    },
    differingRows: await countDifferingRows(store, last),
    problems,
  };
}
