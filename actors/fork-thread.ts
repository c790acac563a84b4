import { threadStream } from "../events/envelope.ts";
import type { Json } from "../events/json.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { Store } from "../events/store.ts";
import { ThreadForked } from "../events/thread.ts";
import { holdingHistory } from "../projections/history-lock.ts";
import { checkVersion, UnknownThreadError } from "../projections/lineage.ts";
import { newEvent } from "./new-event.ts";

/**
 * Makes a thread that stands on another one's history. Nothing is copied: its first event names the parent.
 *
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError}
 * @throws {VersionConflict} a thread of the child's id is there already
 */
export async function forkThread(
  { log, side }: Pick<Store, "log" | "side">,
  fork: {
    readonly parentId: string;
    readonly childId: string;
    /** Version of the parent; its head when left out. */
    readonly at: number | undefined;
    readonly metadata: Readonly<Record<string, Json>> | undefined;
  },
): Promise<void> {
  const parent = threadStream(fork.parentId);
  await holdingHistory(side, parent, async () => {
    const version = fork.at ?? (await checkVersion(log, parent, undefined));
    await checkVersion(log, parent, version);
    await checkStays(log, fork.parentId);
    let parentHash: string | undefined;
    for await (const page of log.read(parent, { from: version, to: version })) {
      parentHash = page[0]?.metadata.hash;
    }
    const { type, data } = ThreadForked({
      parentThreadId: fork.parentId,
      parentVersion: version,
      ...(parentHash !== undefined && { parentHash }),
      ...(fork.metadata && { metadata: fork.metadata as Record<string, never> }),
    });
    const recordedAt = new Date().toISOString();
    const event = newEvent(
      { type, data: data as unknown as Json },
      { schema: ThreadForked.version, by: "client", recordedAt },
    );
    await log.append(threadStream(fork.childId), [event], { expectedVersion: "no-stream" });
  });
}

/** A thread that is about to be deleted has no future that others could share. */
async function checkStays(log: EventLog, parentId: string): Promise<void> {
  for await (const page of log.read(threadStream(parentId), { types: ["ThreadErased"] })) {
    if (page.some(({ data }) => (data as { readonly deleted?: boolean }).deleted)) {
      throw new UnknownThreadError(parentId, "It is being deleted.");
    }
  }
}
