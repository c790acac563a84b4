import { asOriginal } from "./as-original.ts";
import { associates } from "./associates.ts";
import { bulk } from "./bulk.ts";
import { commutes } from "./commutes.ts";
import { conflictRefused } from "./conflict-refused.ts";
import { firstValueStays } from "./first-value-stays.ts";
import { growsOnly } from "./grows-only.ts";
import { independent, threadsApart } from "./independent.ts";
import { jsonClosed } from "./json-closed.ts";
import { keyed } from "./keyed.ts";
import { lastValueWins } from "./last-value-wins.ts";
import type { Law } from "./law.ts";
import type { LawSubject } from "./law-subject.ts";
import { emptyIsNoOp, statedNoOps } from "./no-ops.ts";
import { parallelTools } from "./parallel-tools.ts";
import { pure } from "./pure.ts";
import { redelivery } from "./redelivery.ts";
import { scoped } from "./scoped.ts";
import { sequenceOrder } from "./sequence.ts";
import { snapshotCut } from "./snapshot-cut.ts";
import { stableReference } from "./stable-reference.ts";
import { total } from "./total.ts";
import { unknownEvent } from "./unknown-event.ts";

/** Every law of reducers, the ones that hold for all first. */
export const allLaws: readonly Law[] = [
  total,
  pure,
  jsonClosed,
  unknownEvent,
  snapshotCut,
  bulk,
  threadsApart,
  independent,
  parallelTools,
  stableReference,
  statedNoOps,
  emptyIsNoOp,
  lastValueWins,
  firstValueStays,
  growsOnly,
  keyed,
  conflictRefused,
  scoped,
  sequenceOrder,
  redelivery,
  commutes,
  associates,
  asOriginal,
];

/** A law was asked for that does not exist, or that says nothing about the subject. */
export class UnknownLawError extends Error {
  override readonly name = "UnknownLawError";
  constructor(
    readonly law: string,
    readonly known: readonly string[],
  ) {
    super(`There is no law "${law}" for this reducer. Choose among ${known.join(", ")}.`);
  }
}

/**
 * The laws that hold for a subject: those of all reducers, and those that follow from the algebra it claims.
 *
 * @param chosen names of laws; left out: all that apply
 * @throws {UnknownLawError}
 */
export function lawsFor(subject: LawSubject, chosen?: readonly string[]): readonly Law[] {
  const applying = allLaws.filter((law) => law.appliesTo(subject));
  if (chosen === undefined) return applying;
  return chosen.map((name) => {
    const law = applying.find((one) => one.name === name);
    if (!law)
      throw new UnknownLawError(
        name,
        applying.map((one) => one.name),
      );
    return law;
  });
}
