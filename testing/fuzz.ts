import { lawsFor } from "./laws/all-laws.ts";
import type { Law } from "./laws/law.ts";
import type { LawSubject } from "./laws/law-subject.ts";
import { type LawReport, runLaw } from "./run-law.ts";

/** Logs in one go; between two, progress is told and time is looked at. */
const runsPerRound = 100;
const defaultRuns = 300;

export interface FuzzOptions {
  /** Start of the dice: the same seed tries the same logs. */
  readonly seed: number;
  /** Names of laws. Default: all that apply. */
  readonly laws?: readonly string[] | undefined;
  /** Logs for each law. Default 300, or as many as the time allows. */
  readonly runs?: number | undefined;
  /** Ends the fuzzing after so many milliseconds, whatever is left of `runs`. */
  readonly milliseconds?: number | undefined;
  /** Goes straight to one failing log; give one subject and one law. */
  readonly path?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `done` of `planned` logs were tried; `planned` is undefined while time decides. */
export interface FuzzProgress {
  readonly done: number;
  readonly planned: number | undefined;
  /** What was tried so far, one report for each law of each subject. */
  readonly reports: readonly LawReport[];
}

function added(before: LawReport | undefined, next: LawReport): LawReport {
  if (!before) return next;
  const types = new Map(before.types);
  for (const [type, count] of next.types) types.set(type, (types.get(type) ?? 0) + count);
  return {
    ...next,
    runs: before.runs + next.runs,
    drafts: before.drafts + next.drafts,
    refused: before.refused + next.refused,
    milliseconds: before.milliseconds + next.milliseconds,
    types,
  };
}

/**
 * Tries the laws of many subjects in rounds, each round with the next seed, so that a long search covers all of them
 * from its beginning. A law that is broken is not tried again.
 *
 * @throws {UnknownLawError}
 * @example
 * for await (const { reports } of fuzz([subjectOf(todos)], { seed: 42, milliseconds: 60_000 })) show(reports);
 */
export async function* fuzz(
  subjects: readonly LawSubject[],
  options: FuzzOptions,
): AsyncGenerator<FuzzProgress> {
  const { seed, laws, milliseconds, path, signal } = options;
  const runs =
    path === undefined ? (options.runs ?? (milliseconds === undefined ? defaultRuns : undefined)) : 1;
  const plan = planFor(subjects, laws).map(
    (one): { law: Law; subject: LawSubject; report: LawReport | undefined } => ({
      ...one,
      report: undefined,
    }),
  );
  const planned = runs === undefined ? undefined : runs * plan.length;
  const end = performance.now() + (milliseconds ?? Number.POSITIVE_INFINITY);
  let done = 0;
  for (let round = 0; runs === undefined || round * runsPerRound < runs; round++) {
    const size = Math.min(runsPerRound, (runs ?? Number.POSITIVE_INFINITY) - round * runsPerRound);
    for (const entry of plan) {
      if (entry.report?.broken) continue;
      const roundSeed = (seed + round) | 0;
      entry.report = added(
        entry.report,
        runLaw(entry.law, entry.subject, { runs: size, seed: roundSeed, path }),
      );
      done += size;
      yield { done, planned, reports: plan.flatMap(({ report }) => report ?? []) };
      // Ctrl-C and progress need a turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      if (performance.now() > end || signal?.aborted) return;
    }
    if (plan.every(({ report }) => report?.broken)) return;
  }
}

/** Laws may be named that only some of the subjects have. */
function planFor(subjects: readonly LawSubject[], chosen: readonly string[] | undefined) {
  if (chosen) {
    const names = subjects.map((subject) => new Set(lawsFor(subject).map(({ name }) => name)));
    const nowhere = chosen.find((name) => !names.some((known) => known.has(name)));
    const [first] = subjects;
    if (nowhere !== undefined && first) lawsFor(first, [nowhere]);
  }
  return subjects.flatMap((subject) =>
    lawsFor(subject)
      .filter(({ name }) => chosen === undefined || chosen.includes(name))
      .map((law) => ({ law, subject })),
  );
}
