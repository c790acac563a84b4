import type { EventDraft } from "../events/define-event.ts";
import type { Emitter, NewEvent } from "../events/envelope.ts";
import type { Json } from "../events/json.ts";
import { mintId } from "./mint-id.ts";

/** Where an event comes from. */
export interface EventOrigin {
  readonly schema: number;
  readonly by: Emitter;
  /** ISO 8601 with milliseconds, UTC. */
  readonly recordedAt: string;
  /** Id of the event that led to it; left out: it causes itself. */
  readonly cause?: string | undefined;
  readonly runId?: string | undefined;
  readonly step?: number | undefined;
  /** Its id, when that was minted before. */
  readonly id?: string | undefined;
}

/** Mints the id of an event and puts its envelope together. */
export function newEvent({ type, data }: EventDraft<string, Json>, origin: EventOrigin): NewEvent {
  const { schema, by, recordedAt, cause, runId, step, id = mintId() } = origin;
  const metadata = {
    schema,
    by,
    causationId: cause ?? id,
    correlationId: runId ?? id,
    ...(runId !== undefined && { runId }),
    ...(step !== undefined && { step }),
  };
  return { id, type, data, recordedAt, metadata };
}
