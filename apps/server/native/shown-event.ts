import { z } from "zod";
import { privateFields } from "../../../actors/middleware/thread-data.ts";
import type { RecordedEvent } from "../../../events/envelope.ts";

/** An event as it is shown: data with host paths is withheld. */
export const eventSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  data: z.unknown(),
  stream: z.string(),
  version: z.number().int(),
  position: z.string(),
  recordedAt: z.string(),
  metadata: z.looseObject({
    by: z.string(),
    hash: z.string(),
    previousHash: z.string(),
    runId: z.string().optional(),
  }),
});

/** The event, without data that is for this machine alone. */
export function shownEvent(event: RecordedEvent): RecordedEvent {
  const { field } = event.data as { readonly field?: unknown };
  const isPrivate =
    event.type === "ThreadDataBound" ||
    (event.type === "StateUpdated" && typeof field === "string" && privateFields.includes(field));
  return isPrivate ? { ...event, data: { withheld: "paths of this machine" } } : event;
}
