import { threadIdOf } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";

/** Content that is needed was erased or redacted. */
export class ContentErasedError extends Error {
  override readonly name = "ContentErasedError";
  constructor(
    readonly thread: string,
    /** Version of the first event that lacks content, or of `ThreadErased`. */
    readonly version: number,
    consequence: string,
  ) {
    super(`Content of thread "${thread}" was erased or redacted (version ${version}), so ${consequence}`);
  }
}

/** @throws {ContentErasedError} the whole thread was erased */
export async function checkNotErased(log: EventLog, stream: string, consequence: string): Promise<void> {
  for await (const [erased] of log.read(stream, { types: ["ThreadErased"] })) {
    if (erased) throw new ContentErasedError(threadIdOf(stream) ?? stream, erased.version, consequence);
  }
}
