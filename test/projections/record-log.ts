import { v7 as uuidv7 } from "uuid";
import type { EventDraft } from "../../events/define-event.ts";
import { type Emitter, type NewEvent, type RecordedEvent, threadStream } from "../../events/envelope.ts";
import type { Json } from "../../events/json.ts";
import type { EventLog } from "../../events/log/event-log.ts";

export interface RecordOptions {
  readonly by?: Emitter;
  readonly runId?: string;
  readonly step?: number;
}

const eventsPerAppend = 200;

/** Appends drafts to a thread without checks: also events that nobody knows. */
export async function recordLog(
  log: EventLog,
  threadId: string,
  drafts: readonly EventDraft[],
  { by = "runtime", runId, step }: RecordOptions = {},
): Promise<readonly RecordedEvent[]> {
  const recorded: RecordedEvent[] = [];
  const recordedAt = new Date().toISOString();
  for (let from = 0; from < drafts.length; from += eventsPerAppend) {
    const events = drafts.slice(from, from + eventsPerAppend).map(({ type, data }): NewEvent => {
      const id = uuidv7();
      const run = runId === undefined ? {} : { runId };
      const at = step === undefined ? {} : { step };
      const metadata = { schema: 1, by, causationId: id, correlationId: runId ?? id, ...run, ...at };
      return { id, type, data: data as Json, recordedAt, metadata };
    });
    recorded.push(...(await log.append(threadStream(threadId), events, { expectedVersion: "any" })).events);
  }
  return recorded;
}
