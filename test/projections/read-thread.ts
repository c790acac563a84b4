import { type RecordedEvent, threadStream } from "../../events/envelope.ts";
import type { EventLog } from "../../events/log/event-log.ts";

/** All events of a thread, oldest first. */
export async function readThread(log: EventLog, threadId: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of log.read(threadStream(threadId))) events.push(...page);
  return events;
}
