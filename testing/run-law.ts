import fc from "fast-check";
import type { EventDraft } from "../events/define-event.ts";
import type { FoldEvent } from "../events/envelope.ts";
import { deepFreeze } from "../events/log/deep-freeze.ts";
import { type Law, LawBreach } from "./laws/law.ts";
import { foldDrafts, type LawSubject } from "./laws/law-subject.ts";

/** Drafts in one log at most. */
const maxDrafts = 20;

export interface LawRunOptions {
  /** Logs to try. Default 200. */
  readonly runs?: number | undefined;
  /** Start of the dice; the same seed tries the same logs. Default: fast-check's global one, else a new one. */
  readonly seed?: number | undefined;
  /** Goes straight to one failing log of a seed. */
  readonly path?: string | undefined;
}

/** The smallest events that were found to break a law. */
export interface Counterexample {
  readonly events: readonly FoldEvent[];
  readonly reason: string;
  readonly path: string;
  readonly shrinks: number;
}

/** What came of one law. */
export interface LawReport {
  readonly law: Law;
  readonly subject: LawSubject;
  readonly runs: number;
  readonly seed: number;
  /** Drafts that were generated, and those that the subject refused, shrinking included. */
  readonly drafts: number;
  readonly refused: number;
  /** Drafts by event type. */
  readonly types: ReadonlyMap<string, number>;
  readonly milliseconds: number;
  readonly broken: Counterexample | undefined;
}

/** Any drafts of a subject, as the laws get them. */
function anyDrafts(subject: LawSubject): fc.Arbitrary<readonly EventDraft[]> {
  return fc.array(subject.drafts, { maxLength: maxDrafts, size: "max" });
}

/**
 * Tries one law on generated logs, and shrinks what breaks it.
 *
 * @example
 * const { broken } = runLaw(snapshotCut, subjectOf(plan, { events: [PlanWritten] }), { runs: 1_000 });
 */
export function runLaw(law: Law, subject: LawSubject, options: LawRunOptions = {}): LawReport {
  const { runs = 200, seed, path } = options;
  const types = new Map<string, number>();
  let drafts = 0;
  let refused = 0;
  let breach: LawBreach | undefined;
  const property = fc.property((law.drafts?.(subject) ?? anyDrafts(subject)).map(deepFreeze), (log) => {
    drafts += log.length;
    for (const { type } of log) types.set(type, (types.get(type) ?? 0) + 1);
    refused += log.length - foldDrafts(subject, log).events.length;
    try {
      law.check(subject, log);
    } catch (error) {
      breach = error instanceof LawBreach ? error : new LawBreach(`the law's check threw ${error}`);
      throw breach;
    }
  });
  const began = performance.now();
  const outcome = fc.check(property, {
    numRuns: runs,
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path, endOnFailure: false }),
  });
  const milliseconds = performance.now() - began;
  const report = {
    law,
    subject,
    runs: outcome.numRuns,
    seed: outcome.seed,
    drafts,
    refused,
    types,
    milliseconds,
  };
  if (!outcome.failed) return { ...report, broken: undefined };
  const [smallest = []] = outcome.counterexample ?? [];
  // The last failure that was seen is the smallest one; it is checked again, so that reason and events belong together.
  breach = undefined;
  try {
    law.check(subject, smallest);
  } catch (error) {
    breach = error instanceof LawBreach ? error : new LawBreach(`the law's check threw ${error}`);
  }
  const events = breach?.events ?? smallest.map(({ type, data }, at) => ({ type, data, version: at + 1 }));
  return {
    ...report,
    broken: {
      events,
      reason:
        breach?.reason ??
        "it broke the law once and holds when it is repeated: the reducer keeps something beside the state",
      path: outcome.counterexamplePath ?? "",
      shrinks: outcome.numShrinks,
    },
  };
}
