import { threadStream } from "../events/envelope.ts";
import type { Json } from "../events/json.ts";
import type { Store } from "../events/store.ts";
import { ThreadForked } from "../events/thread.ts";
import { checkVersion } from "../projections/lineage.ts";
import { newEvent } from "./new-event.ts";

/**
 * Makes a thread that stands on another one's history. Nothing is copied: its first event names the parent.
 *
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError}
 * @throws {VersionConflict} a thread of the child's id is there already
 */
export async function forkThread(
  { log }: Pick<Store, "log">,
  fork: {
    readonly parentId: string;
    readonly childId: string;
    /** Version of the parent; its head when left out. */
    readonly at: number | undefined;
    readonly metadata: Readonly<Record<string, Json>> | undefined;
  },
): Promise<void> {
  const parent = threadStream(fork.parentId);
  const version = fork.at ?? (await checkVersion(log, parent, undefined));
  await checkVersion(log, parent, version);
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
}
