import type { BriefEvent } from "../events/envelope.ts";
import type { EventLog, ReadAllOptions } from "../events/log/event-log.ts";

export interface ProjectionLag {
  /** Events that are recorded and not in the rows yet; counted up to a limit. */
  readonly events: number;
  /** There are more than `events`. */
  readonly more: boolean;
  /** Seconds since the oldest of them was recorded; 0 when there is none. */
  readonly seconds: number;
}

const maxCounted = 10_000;

function briefly(log: EventLog, options: ReadAllOptions): AsyncIterable<readonly BriefEvent[]> {
  return log.readAllBriefly?.(options) ?? log.readAll(options);
}

/** The first event after a checkpoint that a projection of these types has to apply. */
export async function nextEventAfter(
  log: EventLog,
  checkpoint: string | undefined,
  types: readonly string[] | undefined,
): Promise<BriefEvent | undefined> {
  const options = {
    ...(checkpoint !== undefined && { after: checkpoint }),
    ...(types && { types }),
    limit: 1,
  };
  for await (const page of briefly(log, options)) return page[0];
  return undefined;
}

/** How far rows at a checkpoint are behind the log. */
export async function measureLag(
  log: EventLog,
  checkpoint: string | undefined,
  types: readonly string[] | undefined,
  now: () => number = Date.now,
): Promise<ProjectionLag> {
  let events = 0;
  let oldest: string | undefined;
  const options = {
    ...(checkpoint !== undefined && { after: checkpoint }),
    ...(types && { types }),
    limit: maxCounted + 1,
  };
  for await (const page of briefly(log, options)) {
    oldest ??= page[0]?.recordedAt;
    events += page.length;
  }
  const seconds = oldest === undefined ? 0 : Math.max(0, (now() - Date.parse(oldest)) / 1000);
  return { events: Math.min(events, maxCounted), more: events > maxCounted, seconds };
}
