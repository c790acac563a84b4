import fc from "fast-check";
import type { EventDraft } from "../../events/define-event.ts";
import { threadStream } from "../../events/envelope.ts";
import { eventLine, headerLine } from "../../projections/export-lines.ts";
import type { StateSource } from "../subject-of.ts";
import { asRead, draftsOf } from "./event-drafts.ts";
import { names } from "./hostile-strings.ts";
import { createLogWriter, type GeneratedThread } from "./log-writer.ts";
import { type RunPlan, runPlans, writeRun } from "./run-plan.ts";

/** Events whose place in a log is decided by the run, not by hooks and tools. */
const structural =
  /^(Thread|Run|Interrupt|ModelCall|ModelResponded|ToolCall|Messages|Jump|Head|Content|HistoryCompacted|ToolOutput)/;

type Turn =
  | { readonly kind: "run"; readonly plan: RunPlan }
  | { readonly kind: "outside"; readonly events: readonly EventDraft[] }
  | { readonly kind: "rewind"; readonly back: number }
  | { readonly kind: "rename"; readonly title: string };

interface ForkPlan {
  readonly from: number;
  readonly at: number;
  readonly turns: readonly Turn[];
}

/** Threads with everything they stand on, parents before their forks. */
export interface ThreadLog {
  readonly threads: readonly GeneratedThread[];
}

export interface ThreadLogOptions {
  /** Turns of one thread at most: runs, rewinds, edits from outside. Default 4. */
  readonly maxTurns?: number;
  /** Forks at most. Default 1. */
  readonly maxForks?: number;
}

/** Names as a log holds them: without halves of characters. */
const recordedNames = names().map((name) => asRead(name) as string);

function stateDrafts({ reducer, registry }: StateSource): fc.Arbitrary<EventDraft> {
  const folded = new Set([...reducer.definitions.values()].flatMap(({ on }) => Object.keys(on)));
  const own = registry.types.filter((type) => folded.has(type) && !structural.test(type));
  const unknown = recordedNames.map(
    (anything): EventDraft => ({ type: "NobodyKnowsThis", data: { anything } }),
  );
  return fc.oneof(
    { weight: 1, arbitrary: unknown },
    ...own.flatMap((type) => {
      const definition = registry.get(type);
      return definition ? [{ weight: 3, arbitrary: draftsOf(definition) }] : [];
    }),
  );
}

function turnsOf(source: StateSource, maxTurns: number): fc.Arbitrary<Turn[]> {
  const drafts = stateDrafts(source);
  const run = runPlans(drafts, recordedNames).map((plan): Turn => ({ kind: "run", plan }));
  const outside = fc
    .array(drafts, { minLength: 1, maxLength: 3 })
    .map((events): Turn => ({ kind: "outside", events }));
  const rewind = fc.nat(20).map((back): Turn => ({ kind: "rewind", back }));
  const rename = recordedNames.map((title): Turn => ({ kind: "rename", title }));
  const turn = fc.oneof(
    { weight: 6, arbitrary: run },
    { weight: 2, arbitrary: outside },
    { weight: 2, arbitrary: rewind },
    rename,
  );
  return fc.array(turn, { minLength: 1, maxLength: maxTurns });
}

function writeTurns(
  source: StateSource,
  threadId: string,
  turns: readonly Turn[],
  parent: GeneratedThread | undefined,
  at: number,
): GeneratedThread {
  const parentVersion = parent?.rests[at % parent.rests.length] ?? 0;
  const writer = createLogWriter(source, threadId, parent?.states[parentVersion]);
  if (parent) {
    const parentHash = parent.events[parentVersion - 1]?.metadata.hash;
    const data = {
      parentThreadId: parent.threadId,
      parentVersion,
      ...(parentHash !== undefined && { parentHash }),
    };
    writer.record("user", { type: "ThreadForked", data });
  } else writer.record("user", { type: "ThreadCreated", data: { metadata: {} } });
  writer.rest();
  for (const [index, turn] of turns.entries()) {
    switch (turn.kind) {
      case "run":
        writeRun(writer, turn.plan, `${threadId}-run-${index}`);
        break;
      case "outside":
        writer.offer("client", turn.events);
        break;
      case "rename":
        writer.record("user", { type: "ThreadMetadataChanged", data: { metadata: { name: turn.title } } });
        break;
      case "rewind": {
        const { rests } = writer.thread();
        writer.rewind(rests[turn.back % rests.length] ?? 0);
        break;
      }
      default: {
        const never: never = turn;
        throw never;
      }
    }
    writer.rest();
  }
  return writer.thread();
}

/**
 * Whole valid logs: runs with parallel tools that finish in any order, interrupts and their answers, cancels, crashes
 * that the next process closes, edits from outside, rewinds and forks, with the state events of the source in between.
 * Every chain of hashes holds, every event folds, and every run ends with the hash of its state.
 *
 * @param source an agent, an assembly, or a reducer with its events
 * @example
 * fc.assert(fc.property(threadLogs(agent), ({ threads }) => threads.every(holds)));
 */
export function threadLogs(source: StateSource, options: ThreadLogOptions = {}): fc.Arbitrary<ThreadLog> {
  const { maxTurns = 4, maxForks = 1 } = options;
  const turns = turnsOf(source, maxTurns);
  const forks: fc.Arbitrary<ForkPlan[]> = fc.array(fc.record({ from: fc.nat(9), at: fc.nat(99), turns }), {
    maxLength: maxForks,
  });
  return fc.tuple(turns, forks).map(([first, more]) => {
    const threads = [writeTurns(source, "t0", first, undefined, 0)];
    for (const [index, { from, at, turns: own }] of more.entries()) {
      threads.push(writeTurns(source, `t${index + 1}`, own, threads[from % threads.length], at));
    }
    return { threads };
  });
}

/** A log as lines of an export, as `threadfold export` writes them. */
export function threadLogLines({ threads }: ThreadLog): string[] {
  const versions = new Map(threads.map(({ threadId, events }) => [threadStream(threadId), events.length]));
  return [
    headerLine(
      threads.map(({ threadId }) => threadId),
      versions,
    ),
    ...threads.flatMap(({ events }) => events.map(eventLine)),
  ];
}
