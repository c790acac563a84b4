import { type RecordedEvent, threadStream } from "../../../events/envelope.ts";
import { type Served, threadFor, wireOptionsFor } from "../served.ts";
import type { SseFrame } from "../sse.ts";
import { silentEvents } from "./checkpoint-rows.ts";
import type { StreamMode } from "./run-frames.ts";
import { recordOfStart } from "./run-records.ts";
import { framesOfRecord } from "./run-streams.ts";
import { wireValues } from "./wire-values.ts";

/** What a client that follows a thread may ask for. */
export const threadStreamModes = ["run_modes", "lifecycle", "state_update"] as const;
export type ThreadStreamMode = (typeof threadStreamModes)[number];

const statusOfEnd: Readonly<Record<string, string>> = {
  RunCompleted: "completed",
  RunFailed: "failed",
  RunCancelled: "cancelled",
  RunInterrupted: "interrupted",
};
const runModes: readonly StreamMode[] = ["values", "messages-tuple", "custom"];

/**
 * Frames of a thread, one run after the other, from the open run on, or after the frame that the client had last. Ids
 * are `<version>:<id in the run's stream>`. It ends when the client goes.
 */
export async function* framesOfThread(
  served: Served,
  threadId: string,
  options: {
    readonly modes: readonly ThreadStreamMode[];
    readonly lastEventId: string | undefined;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<SseFrame> {
  const { modes, signal } = options;
  const { log } = served.store;
  const thread = await threadFor(served, threadId);
  const wants = (mode: ThreadStreamMode) => modes.includes(mode);
  const [, resumed, cursor] = /^(\d{1,12}):(.*)$/.exec(options.lastEventId ?? "") ?? [];
  const head = (await log.head(threadStream(threadId))).version;
  const from =
    resumed === undefined ? ((await startOfOpenRun(served, threadId)) ?? head + 1) : Number(resumed);
  for await (const event of eventsFrom(served, threadId, from, signal)) {
    const { type, version, metadata } = event;
    const isResumed = version === Number(resumed);
    if (type === "RunStarted") {
      const record = recordOfStart(event);
      const isKnown = isResumed && cursor !== "start";
      if (wants("lifecycle") && !isResumed) {
        const data = { event: "running", run_id: record.runId };
        yield { event: "lifecycle", data, id: `${version}:start` };
      }
      if (!wants("run_modes")) continue;
      const follow = { modes: runModes, lastEventId: isKnown ? cursor : undefined };
      for await (const frame of framesOfRecord(served, record, follow)) {
        yield { ...frame, id: `${version}:${frame.id ?? "start"}` };
      }
    } else if (isResumed && cursor !== "end") continue;
    const end = statusOfEnd[type];
    if (end !== undefined) {
      const data = { event: end, run_id: metadata.runId };
      if (wants("lifecycle") && !isResumed) yield { event: "lifecycle", data, id: `${version}:end` };
    }
    const isOutside = metadata.runId === undefined && !silentEvents.has(type);
    if (wants("state_update") && (end !== undefined || isOutside)) {
      const values = await wireValues(await thread.stateAt(version), wireOptionsFor(served, threadId));
      yield { event: "state_update", data: { values }, id: `${version}:state` };
    }
  }
}

async function startOfOpenRun({ store }: Served, threadId: string): Promise<number | undefined> {
  const types = ["RunStarted", ...Object.keys(statusOfEnd)];
  for await (const [last] of store.log.read(threadStream(threadId), { types, backwards: true, limit: 1 })) {
    return last?.type === "RunStarted" ? last.version : undefined;
  }
  return undefined;
}

async function* eventsFrom(
  { store }: Served,
  threadId: string,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent> {
  const stream = threadStream(threadId);
  let next = from;
  let position: string | undefined;
  for await (const page of store.log.read(stream, { from: Math.max(1, from - 1) })) {
    for (const event of page) {
      position = event.position;
      if (event.version < next) continue;
      next = event.version + 1;
      yield event;
    }
  }
  const after = position === undefined ? {} : { after: position };
  for await (const item of store.log.subscribe({ stream, ...after, signal })) {
    if (item.kind !== "event" || item.event.version < next) continue;
    next = item.event.version + 1;
    yield item.event;
  }
}
