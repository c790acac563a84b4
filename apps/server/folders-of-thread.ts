import { foldersOf } from "../../actors/sandboxes/thread-folders.ts";
import { type Served, threadFor } from "./served.ts";

/**
 * Host folders of a thread, as its runs find them.
 *
 * @param userId whose folders; default: those that the thread is bound to
 */
export async function foldersOfThread(
  served: Pick<Served, "agents" | "projections" | "runs" | "redacted" | "store">,
  threadId: string,
  userId?: string,
) {
  const state = await (await threadFor(served, threadId)).state();
  const context = userId === undefined ? {} : { user_id: userId };
  return foldersOf({ folder: served.store.folder, threadId, context, configurable: {} }, state);
}
