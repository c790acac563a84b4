import { HTTPException } from "hono/http-exception";
import type { Thread } from "../../../actors/agent-contract.ts";
import { privateFields } from "../../../actors/middleware/thread-data.ts";
import { titleByHand } from "../../../actors/title-by-hand.ts";
import type { EventLog } from "../../../events/log/event-log.ts";
import { type Served, shownThread } from "../served.ts";
import { type CheckpointPlace, findCheckpoint } from "./checkpoint-id.ts";
import { readCheckpoints } from "./checkpoint-rows.ts";
import { findRun } from "./run-records.ts";

/** The checkpoint that a request names. @throws {HTTPException} 404 */
export async function placeOf(log: EventLog, threadId: string, id: string): Promise<CheckpointPlace> {
  const place = await findCheckpoint(log, threadId, id);
  if (!place) throw new HTTPException(404, { message: `Checkpoint ${id} of thread ${threadId} not found` });
  return place;
}

interface NamesCheckpoint {
  readonly checkpoint?: { readonly checkpoint_id?: string | null | undefined } | null | undefined;
  readonly checkpoint_id?: string | null | undefined;
}

/**
 * Where a thread has to go back to for a request; undefined: it goes on from its head. Clients name the head that they
 * know with everything they send, also while a run is open that they do not know of yet.
 *
 * @throws {HTTPException} 404
 */
export async function rewindFor(
  { store }: Pick<Served, "store">,
  thread: Thread,
  request: NamesCheckpoint,
): Promise<CheckpointPlace | undefined> {
  const id = request.checkpoint?.checkpoint_id ?? request.checkpoint_id;
  if (id === undefined || id === null) return undefined;
  const place = await placeOf(store.log, thread.id, id);
  const { status, runId } = await thread.info();
  const open =
    status === "running" && runId !== undefined ? await findRun(store.log, thread.id, runId) : undefined;
  const before = open && { threadId: thread.id, version: open.startVersion };
  const [head] = await readCheckpoints(store.log, thread.id, { limit: 1, ...(before && { before }) });
  if (!head) return undefined;
  const isHead = place.threadId === head.threadId && place.version >= head.version;
  return isHead ? undefined : place;
}

/** Lets what follows build on an earlier version. While a run is open it is waited for. */
export async function goBackTo(thread: Thread, to: number, reason: string): Promise<void> {
  await thread.rewind({ to, reason });
}

/**
 * Takes a thread back to a checkpoint. A title that a human gave later stays.
 *
 * @returns undoes it
 */
export async function goBack(
  served: Pick<Served, "store" | "agents" | "redacted">,
  thread: Thread,
  place: CheckpointPlace,
): Promise<() => Promise<void>> {
  const { version: before } = await thread.info();
  const title = await titleByHand(
    served.store.log,
    thread.id,
    place.threadId === thread.id ? place.version + 1 : 1,
  );
  if (place.threadId === thread.id) {
    await goBackTo(thread, place.version, "a run was started from an earlier checkpoint");
  } else {
    // The history of the parent is not this thread's to rewind: what came later is taken away by events instead.
    const state = await shownThread(served, undefined, place.threadId).stateAt(place.version);
    const values = Object.entries(state).filter(([field]) => !privateFields.includes(field));
    await thread.update(Object.fromEntries(values));
  }
  if (title !== undefined) await thread.update({ title });
  return () => goBackTo(thread, before, "the run that was started from an earlier checkpoint failed");
}
