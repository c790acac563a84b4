import { AppendOutcomeUnknownError, LogUnavailableError } from "../events/log/event-log.ts";

/** True when the store could not be reached: what was under way may go on once it is back. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof LogUnavailableError || error instanceof AppendOutcomeUnknownError;
}
