import type { EventDraft } from "../events/define-event.ts";
import { type Emitter, type RecordedEvent, threadStream } from "../events/envelope.ts";
import { createEventRegistry } from "../events/event-registry.ts";
import type { Json } from "../events/json.ts";
import type { EventLog, ExpectedVersion } from "../events/log/event-log.ts";

/**
 * Records one event about a thread as a whole, from outside any run, behind what is there.
 *
 * @throws {InvalidEventError} @throws {StreamDeletedError} @throws {VersionConflict}
 */
export async function recordThreadEvent(
  log: EventLog,
  threadId: string,
  draft: EventDraft,
  by: Emitter,
  expectedVersion: ExpectedVersion = "any",
): Promise<RecordedEvent> {
  const { version: schema } = createEventRegistry().check(draft);
  const { v7 } = await import("uuid");
  const id = v7();
  const event = {
    id,
    type: draft.type,
    data: draft.data as Json,
    recordedAt: new Date().toISOString(),
    metadata: { schema, by, causationId: id, correlationId: id },
  };
  const { events } = await log.append(threadStream(threadId), [event], { expectedVersion });
  const [recorded] = events;
  if (!recorded) throw new Error(`${draft.type} was appended, but the log gave no event back.`);
  return recorded;
}
