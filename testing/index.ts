export { type ArbitraryOptions, arbitraryOf, UnsupportedSchemaError } from "./arbitraries/arbitrary-of.ts";
export { anyMessage, draftsOf } from "./arbitraries/event-drafts.ts";
export { hostileStrings, names } from "./arbitraries/hostile-strings.ts";
export { type Defect, type InvalidLog, invalidLogs } from "./arbitraries/invalid-logs.ts";
export type { GeneratedThread } from "./arbitraries/log-writer.ts";
export {
  type ThreadLog,
  type ThreadLogOptions,
  threadLogLines,
  threadLogs,
} from "./arbitraries/thread-logs.ts";
export { checkProjection, ProjectionBrokenError, type ProjectionCheckOptions } from "./check-projection.ts";
export {
  type CheckOptions,
  checkReducer,
  checkState,
  checkSubject,
  LawsBrokenError,
} from "./check-reducer.ts";
export { checkUpcasters, UpcastBrokenError, type UpcasterOptions } from "./check-upcasters.ts";
export { counterexampleLines, counterexampleText } from "./counterexample.ts";
export { type DyingOptions, type DyingStore, dyingStore } from "./faults/dying-store.ts";
export { intrudingStore } from "./faults/intruding-store.ts";
export { scheduledStore } from "./faults/scheduled-store.ts";
export { threadProblems } from "./faults/thread-problems.ts";
export { type FuzzOptions, type FuzzProgress, fuzz } from "./fuzz.ts";
export {
  ExampleError,
  type ExampleSubject,
  type Expectation,
  type Given,
  given,
  type Happening,
  type Outcome,
  type When,
} from "./given.ts";
export { allLaws, lawsFor, UnknownLawError } from "./laws/all-laws.ts";
export { asOriginal } from "./laws/as-original.ts";
export { associates } from "./laws/associates.ts";
export { bulk } from "./laws/bulk.ts";
export { commutes } from "./laws/commutes.ts";
export { conflictRefused } from "./laws/conflict-refused.ts";
export { firstValueStays } from "./laws/first-value-stays.ts";
export { growsOnly } from "./laws/grows-only.ts";
export { independent, threadsApart } from "./laws/independent.ts";
export { jsonClosed } from "./laws/json-closed.ts";
export { keyed } from "./laws/keyed.ts";
export { lastValueWins } from "./laws/last-value-wins.ts";
export { type Law, LawBreach } from "./laws/law.ts";
export type { LawSubject } from "./laws/law-subject.ts";
export { emptyIsNoOp, statedNoOps } from "./laws/no-ops.ts";
export { parallelTools } from "./laws/parallel-tools.ts";
export { pure } from "./laws/pure.ts";
export { redelivery } from "./laws/redelivery.ts";
export { scoped } from "./laws/scoped.ts";
export { sequenceOrder } from "./laws/sequence.ts";
export { snapshotCut } from "./laws/snapshot-cut.ts";
export { stableReference } from "./laws/stable-reference.ts";
export { total } from "./laws/total.ts";
export { unknownEvent } from "./laws/unknown-event.ts";
export { type DrivenLifecycle, driveLifecycle } from "./machine/driven-lifecycle.ts";
export { type LifecycleModel, lifecycleCommands, TwinDiffersError } from "./machine/lifecycle-commands.ts";
export { createLifecycleCoverage, type LifecycleCoverage } from "./machine/lifecycle-coverage.ts";
export { type LifecyclePath, lifecyclePaths } from "./machine/lifecycle-paths.ts";
export {
  type RunSetting,
  type TwinEvent,
  type TwinState,
  twinStart,
  twinStep,
} from "./machine/lifecycle-twin.ts";
export { type Counterexample, type LawReport, type LawRunOptions, runLaw } from "./run-law.ts";
export {
  type AnyPlainReducer,
  NoEventsError,
  type PlainReducer,
  type StateSource,
  type SubjectOptions,
  stateSubject,
  subjectOf,
  UndefinedEventError,
} from "./subject-of.ts";
export { NothingToFuzzError, subjectsIn, subjectsOfState } from "./subjects-in.ts";
