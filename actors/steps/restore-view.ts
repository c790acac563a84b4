import { threadStream } from "../../events/envelope.ts";
import type { Store } from "../../events/store.ts";
import { callsBackwards, editsInCall } from "../../projections/call-edits.ts";
import type { ViewMemory } from "./announce-call.ts";
import type { PreviousView } from "./step-contract.ts";

/**
 * What the next model call of a thread goes on from, read from the log, for a thread that was opened anew. Undefined:
 * there was no call, or its view cannot be rebuilt, and the next one records its view whole.
 *
 * @example
 * memory.previousView = await restoreView(store, threadId);
 */
export async function restoreView(
  { log, blobs }: Pick<Store, "log" | "blobs">,
  threadId: string,
): Promise<PreviousView | undefined> {
  for await (const call of callsBackwards(log, threadStream(threadId))) {
    try {
      const view: ViewMemory = { callId: call.data.callId, edits: await editsInCall(log, blobs, call) };
      return view;
    } catch {
      // A parent or a blob that is gone costs the next call some bytes, and must not cost the call.
      return undefined;
    }
  }
  return undefined;
}
