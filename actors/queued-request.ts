import type { z } from "zod";
import { threadStream } from "../events/envelope.ts";
import type { Json } from "../events/json.ts";
import { checkStreamName } from "../events/log/event-log.ts";
import type { Store } from "../events/store.ts";
import { lazySchema } from "../events/zod.ts";
import type { RunInput, RunOptions } from "./agent-contract.ts";
import { mintId } from "./mint-id.ts";

/** What can be said of a run that is queued: it has to be data. */
export interface QueueRunOptions
  extends Pick<RunOptions, "runId" | "context" | "configurable" | "metadata" | "by" | "limits"> {
  /** Name of the agent that shall run it. Default: `agent`, the name of agents that have none. */
  readonly agent?: string;
}

/** An input for a thread, which may be new, or answers to what a thread asks. */
export type RunToQueue =
  | { readonly threadId?: string; readonly input: RunInput }
  | { readonly threadId: string; readonly answers: Readonly<Record<string, Json>> | { readonly all: Json } };

const record = lazySchema((z) => z.record(z.string(), z.json()));

const optionsSchema = lazySchema((z) =>
  z.strictObject({
    context: record().optional(),
    configurable: record().optional(),
    metadata: record().optional(),
    by: z.custom<NonNullable<RunOptions["by"]>>((by) => typeof by === "string").optional(),
    limits: z
      .strictObject({
        maxModelCalls: z.number().optional(),
        maxSteps: z.number().optional(),
        toolTimeoutMs: z.number().optional(),
      })
      .optional(),
  }),
);

/** How a queued run lies in the queue. */
const requestSchema = lazySchema((z) =>
  z.union([
    z.strictObject({ input: z.union([z.string(), record(), z.null()]), options: optionsSchema() }),
    z.strictObject({ answers: record(), options: optionsSchema() }),
  ]),
);
export type QueuedRequest = z.infer<ReturnType<typeof requestSchema>>;

/** Undefined: a newer version queued it, or its content was erased. */
export function readQueuedRequest(request: Json): QueuedRequest | undefined {
  const parsed = requestSchema().safeParse(request);
  return parsed.success ? parsed.data : undefined;
}

/**
 * Queues a run for the workers of a store and resolves when that is durable. Runs of one thread are started one after
 * the other, in the order they were queued. With a `runId` of your own the same run may be queued again after a time-out:
 * it runs once.
 *
 * @throws {NotJsonError} input, answers or options are no plain JSON
 * @throws {InvalidNameError} @throws {InvalidTextError} @throws {LogUnavailableError}
 * @example
 * const { runId, threadId } = await queueRun(store, { threadId: "t1", input: "hello" });
 */
export async function queueRun(
  store: Pick<Store, "log" | "queue">,
  run: RunToQueue,
  options: QueueRunOptions = {},
): Promise<{ readonly runId: string; readonly threadId: string }> {
  const { agent = "agent", runId = mintId(), ...given } = options;
  const { threadId = mintId(), ...asked } = run;
  checkStreamName(threadStream(threadId));
  // A run of this id may have been run before it is queued again.
  const { version } =
    options.runId === undefined ? await store.log.head(threadStream(threadId)) : { version: 0 };
  await store.queue.add({
    runId,
    threadId,
    agent,
    request: { ...asked, options: given } as Json,
    afterVersion: version,
    queuedAt: new Date().toISOString(),
  });
  return { runId, threadId };
}
