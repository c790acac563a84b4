import type { z } from "zod";
import { defineEvent } from "./define-event.ts";
import { lazySchema } from "./zod.ts";

/** An error as data: never a stack. */
export const errorSchema = lazySchema((z) =>
  z.looseObject({
    name: z.string(),
    message: z.string(),
    code: z.string().optional(),
  }),
);
export type ErrorData = z.infer<ReturnType<typeof errorSchema>>;

/** Hash of the folded state after the events before this one: a refold proves itself with it. */
const stateHash = lazySchema((z) => z.string().optional());
/** Fields that the agent of the run folds: those that `stateHash` covers. Another reader may know more, or fewer. */
const stateFields = lazySchema((z) => z.array(z.string()).optional());

/** A run began. The owner renews a lease outside the stream. */
export const RunStarted = defineEvent({
  type: "RunStarted",
  schema: (z) =>
    z.looseObject({
      runId: z.string().min(1),
      /** Opaque id of the process that executes the run. */
      owner: z.string().min(1),
      /** The run whose interrupt this one answers. */
      resumes: z.string().optional(),
      /** The tool call of another thread that asked for this run (sub-agents). */
      parent: z.object({ threadId: z.string(), runId: z.string(), callId: z.string() }).optional(),
      metadata: z.record(z.string(), z.json()).optional(),
    }),
});

export const RunTakenOver = defineEvent({
  type: "RunTakenOver",
  schema: (z) => z.object({ runId: z.string(), owner: z.string(), previousOwner: z.string() }),
});

export const RunCancelRequested = defineEvent({
  type: "RunCancelRequested",
  schema: (z) => z.object({ runId: z.string(), reason: z.string() }),
});

export const RunCompleted = defineEvent({
  type: "RunCompleted",
  schema: (z) =>
    z.object({
      runId: z.string(),
      stopReason: z.string().optional(),
      stateHash: stateHash(),
      stateFields: stateFields(),
    }),
});

/**
 * A middleware cut the run's work short: `loop_capped`, `safety_capped`, `model_length_capped`, `subagent_limit_capped`…
 * The end of the run names the last reason.
 */
export const RunCapped = defineEvent({
  type: "RunCapped",
  schema: (z) => z.object({ runId: z.string(), reason: z.string().min(1) }),
});

export const RunFailed = defineEvent({
  type: "RunFailed",
  schema: (z) =>
    z.object({ runId: z.string(), error: errorSchema(), stateHash: stateHash(), stateFields: stateFields() }),
  content: ["error.message"],
});

export const RunCancelled = defineEvent({
  type: "RunCancelled",
  schema: (z) =>
    z.object({ runId: z.string(), reason: z.string(), stateHash: stateHash(), stateFields: stateFields() }),
});

const interruptSchema = lazySchema((z) =>
  z.looseObject({
    id: z.string().min(1),
    /** What is asked: an approval of a tool call, a question, or what user code passed. */
    kind: z.string(),
    value: z.json(),
    /** The tool call that waits for the answer. */
    callId: z.string().optional(),
    /** Who asks: `tool:<name>` or `middleware:<name>`. */
    by: z.string().optional(),
  }),
);
export type Interrupt = z.infer<ReturnType<typeof interruptSchema>>;

export const RunInterrupted = defineEvent({
  type: "RunInterrupted",
  schema: (z) =>
    z.object({
      runId: z.string(),
      interrupts: z.array(interruptSchema()).min(1),
      stateHash: stateHash(),
      stateFields: stateFields(),
    }),
  content: ["interrupts"],
});

/** An interrupt was answered, once. */
export const InterruptResolved = defineEvent({
  type: "InterruptResolved",
  schema: (z) => z.object({ interruptId: z.string().min(1), decision: z.json() }),
  content: ["decision"],
});

/** A hook asked the run to go on elsewhere. Steers the run, never part of the state. */
export const JumpRequested = defineEvent({
  type: "JumpRequested",
  schema: (z) => z.object({ to: z.enum(["model", "tools", "end"]) }),
});
