import { v7 as uuidv7 } from "uuid";
import type { EventDraft } from "../../events/define-event.ts";
import { type Emitter, type NewEvent, type RecordedEvent, threadStream } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import type { Json } from "../../events/json.ts";
import type { EventLog } from "../../events/log/event-log.ts";

const registry = createEventRegistry();

export interface AppendDraftsOptions {
  readonly by?: Emitter;
  /** Default: now. */
  readonly recordedAt?: string;
  readonly runId?: string;
}

/** Appends drafts to a thread as they are, checked against their schemas, without folding them. */
export async function appendDrafts(
  log: EventLog,
  threadId: string,
  drafts: readonly EventDraft[],
  { by = "runtime", recordedAt = new Date().toISOString(), runId }: AppendDraftsOptions = {},
): Promise<readonly RecordedEvent[]> {
  const events = drafts.map((draft): NewEvent => {
    const { version: schema } = registry.check(draft);
    const id = uuidv7();
    const metadata = { schema, by, causationId: id, correlationId: runId ?? id, ...(runId && { runId }) };
    return { id, type: draft.type, data: draft.data as Json, recordedAt, metadata };
  });
  return (await log.append(threadStream(threadId), events, { expectedVersion: "any" })).events;
}
