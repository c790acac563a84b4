import { artifactIndex } from "./artifact-index.ts";
import { auditTrail } from "./audit-trail.ts";
import type { AnyProjection } from "./define-projection.ts";
import { forkIndex } from "./fork-index.ts";
import { openInterrupts } from "./open-interrupts.ts";
import { threadList } from "./thread-list.ts";
import { toolStatistics } from "./tool-statistics.ts";
import { usage } from "./usage.ts";

/** The projections that Threadfold brings along. */
export const builtInProjections: readonly AnyProjection[] = [
  threadList,
  forkIndex,
  openInterrupts,
  usage,
  artifactIndex,
  toolStatistics,
  auditTrail,
];
