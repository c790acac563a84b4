import type { EventDraft } from "../events/define-event.ts";
import type { Emitter } from "../events/envelope.ts";
import { VersionConflict } from "../events/log/event-log.ts";
import { ThreadCreated, ThreadRewound } from "../events/thread.ts";
import { checkNotErased } from "../projections/content-erased.ts";
import { checkVersion } from "../projections/lineage.ts";
import { waitUntilFree } from "./admit-run.ts";
import type { LiveThread } from "./live-thread.ts";
import { updateToDrafts } from "./steps/updates.ts";
import type { PlannedEvent } from "./thread-append.ts";
import { checkFree } from "./thread-busy.ts";
import type { ThreadView } from "./thread-view.ts";

/** An event that only the runtime records was to be recorded from outside. */
export class ReservedEventError extends Error {
  override readonly name = "ReservedEventError";
  constructor(readonly type: string) {
    super(`${type} is recorded by the runtime only. Use run, resume, cancel, fork or rewind instead.`);
  }
}

/** Events that say what a run did, or where a thread stands. */
const reserved: ReadonlySet<string> = new Set([
  "ThreadForked",
  "ThreadRewound",
  "RunStarted",
  "RunTakenOver",
  "RunCancelRequested",
  "RunCompleted",
  "RunFailed",
  "RunCancelled",
  "RunInterrupted",
  "InterruptResolved",
  "ModelCallStarted",
  "ToolCallStarted",
]);

export interface OutsideOptions {
  readonly by?: Emitter;
  readonly expectedVersion?: number;
}

async function append(
  thread: LiveThread,
  options: OutsideOptions,
  draftsFor: (view: ThreadView) => readonly EventDraft[],
  besideRuns = false,
): Promise<{ version: number }> {
  if (!besideRuns) await waitUntilFree(thread, "reject");
  const { by = "client", expectedVersion } = options;
  await thread.appender.append((view): readonly PlannedEvent[] => {
    if (expectedVersion !== undefined && expectedVersion !== view.version) {
      throw new VersionConflict(thread.stream, expectedVersion, view.version);
    }
    if (!besideRuns) checkFree(thread, view.facts);
    const drafts = draftsFor(view);
    if (drafts.length === 0) return [];
    const begins = view.version === 0 && drafts[0]?.type !== "ThreadCreated";
    const created: PlannedEvent[] = begins ? [{ draft: ThreadCreated({}), by: "runtime" }] : [];
    return [...created, ...drafts.map((draft) => ({ draft, by }))];
  });
  return { version: thread.appender.view.version };
}

/**
 * Records events from outside a run.
 *
 * @throws {ThreadBusyError} @throws {ReservedEventError} @throws {VersionConflict} @throws {InvalidEventError}
 * @throws {FoldError}
 */
export function recordOutside(
  thread: LiveThread,
  drafts: readonly EventDraft[],
  options: OutsideOptions = {},
): Promise<{ version: number }> {
  const forbidden = drafts.find(({ type }) => reserved.has(type));
  if (forbidden) return Promise.reject(new ReservedEventError(forbidden.type));
  // Metadata is nothing that a run builds on.
  const besideRuns = drafts.every(({ type }) => type === "ThreadMetadataChanged");
  return append(thread, options, () => drafts, besideRuns);
}

/**
 * Replaces what fields hold.
 *
 * @throws {ThreadBusyError} @throws {UnknownFieldError} @throws {InvalidUpdateError} @throws {VersionConflict}
 */
export function updateOutside(
  thread: LiveThread,
  values: Readonly<Record<string, unknown>>,
  options: OutsideOptions = {},
): Promise<{ version: number }> {
  const { assembly } = thread.environment;
  const by = options.by ?? "client";
  return append(thread, options, ({ state }) =>
    updateToDrafts(values, state, assembly, by, { replace: true, fromOutside: true }).map(
      ({ draft }) => draft,
    ),
  );
}

/**
 * Lets what follows build on the state at an earlier version.
 *
 * @throws {ThreadBusyError} @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {ContentErasedError}
 */
export async function rewindThread(
  thread: LiveThread,
  options: { readonly to: number; readonly reason?: string; readonly expectedVersion?: number },
): Promise<{ version: number }> {
  const { to, reason, expectedVersion } = options;
  const { log } = thread.environment.store;
  await checkVersion(log, thread.stream, to);
  await checkNotErased(log, thread.stream, "there is nothing to go back to. Start another thread.");
  thread.memory.previousView = undefined;
  return append(thread, expectedVersion === undefined ? {} : { expectedVersion }, () => [
    ThreadRewound({ toVersion: to, ...(reason !== undefined && { reason }) }),
  ]);
}
