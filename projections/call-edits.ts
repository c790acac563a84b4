import type { BlobStore } from "../events/blobs/blob-store.ts";
import type { DataOf } from "../events/define-event.ts";
import { type RecordedEvent, threadStream } from "../events/envelope.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { ModelCallStarted, ViewEdit } from "../events/model.ts";
import type { ThreadForked } from "../events/thread.ts";
import { type EditsInForce, foldEdits, noEdits } from "./request-view.ts";

/** A model call as it was announced. */
export interface RecordedCall {
  readonly event: RecordedEvent;
  readonly data: DataOf<typeof ModelCallStarted>;
}

/** A model call builds on the view of another one that is not in the log. */
export class MissingCallError extends Error {
  override readonly name = "MissingCallError";
  constructor(
    readonly callId: string,
    readonly missing: string,
  ) {
    super(
      `What call ${callId} showed builds on call ${missing}, which is not in the log. The log was cut, or the parent of a fork is gone; restore it to rebuild the request.`,
    );
  }
}

/** The fork that a stream begins with. */
async function parentOf(
  log: EventLog,
  stream: string,
): Promise<{ stream: string; version: number } | undefined> {
  for await (const [first] of log.read(stream, { to: 1, types: ["ThreadForked"] })) {
    if (!first) continue;
    const { parentThreadId, parentVersion } = first.data as DataOf<typeof ThreadForked>;
    return { stream: threadStream(parentThreadId), version: parentVersion };
  }
  return undefined;
}

/** Calls that are read at once: the one that is looked for is mostly among the last. */
const firstPage = 4;
const largestPage = 256;

/** Announced calls of a stream from a version backwards, then those of its parents. Calls that a rewind abandoned are among them. */
export async function* callsBackwards(
  log: EventLog,
  stream: string,
  to?: number,
): AsyncGenerator<RecordedCall> {
  let at: { stream: string; version: number } | undefined = {
    stream,
    version: to ?? Number.MAX_SAFE_INTEGER,
  };
  while (at) {
    yield* ownCallsBackwards(log, at.stream, at.version);
    at = await parentOf(log, at.stream);
  }
}

async function* ownCallsBackwards(
  log: EventLog,
  stream: string,
  version: number,
): AsyncGenerator<RecordedCall> {
  let to = version;
  for (let limit = firstPage; to > 0; limit = Math.min(limit * 4, largestPage)) {
    let found = 0;
    const range = to === Number.MAX_SAFE_INTEGER ? {} : { to };
    for await (const page of log.read(stream, {
      ...range,
      limit,
      backwards: true,
      types: ["ModelCallStarted"],
    })) {
      for (const event of page) {
        found += 1;
        to = event.version - 1;
        yield { event, data: event.data as RecordedCall["data"] };
      }
    }
    if (found < limit) return;
  }
}

async function editsOf({ data }: RecordedCall, blobs: BlobStore): Promise<readonly ViewEdit[]> {
  const { edits, blob } = data.view;
  if (!blob) return edits;
  return JSON.parse(Buffer.from(await blobs.get(blob.sha256)).toString()) as ViewEdit[];
}

/**
 * The edits in force in a call: its own on top of those of the calls that it builds on.
 *
 * @throws {MissingCallError} @throws {BlobMissingError} @throws {BlobDamagedError}
 */
export async function editsInCall(
  log: EventLog,
  blobs: BlobStore,
  call: RecordedCall,
): Promise<EditsInForce> {
  const chain = [call];
  let wanted = call.data.view.from;
  if (wanted !== null) {
    for await (const earlier of callsBackwards(log, call.event.stream, call.event.version - 1)) {
      if (earlier.data.callId !== wanted) continue;
      chain.push(earlier);
      wanted = earlier.data.view.from;
      if (wanted === null) break;
    }
  }
  if (wanted !== null) throw new MissingCallError(call.data.callId, wanted);
  let inForce = noEdits;
  for (const one of chain.reverse()) inForce = foldEdits(inForce, await editsOf(one, blobs));
  return inForce;
}
