import { type BriefEvent, briefOf, type RecordedEvent } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { AnyProjection } from "./define-projection.ts";

/** Events as the handlers of a projection see them, the same wherever they were read. */
export function projectedEvents(
  { envelope }: AnyProjection,
  events: readonly RecordedEvent[],
): readonly BriefEvent[] {
  return envelope === "brief" ? events.map(briefOf) : events;
}

/** Pages of what a projection handles after a position of the log, up to the end. */
export async function* projectedPages(
  log: EventLog,
  projection: AnyProjection,
  after: string | undefined,
): AsyncGenerator<readonly BriefEvent[], void> {
  const { types, envelope } = projection;
  const options = { ...(after !== undefined && { after }), ...(types && { types }) };
  if (envelope === "brief" && log.readAllBriefly) {
    yield* log.readAllBriefly(options);
    return;
  }
  for await (const page of log.readAll(options)) yield projectedEvents(projection, page);
}
