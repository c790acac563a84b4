import type { BlobStore } from "../events/blobs/blob-store.ts";
import type { EventDraft } from "../events/define-event.ts";
import type { Emitter, NewEvent, RecordedEvent } from "../events/envelope.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import type { Json } from "../events/json.ts";
import {
  AppendOutcomeUnknownError,
  type AppendResult,
  type EventLog,
  EventTooLargeError,
  eventOverheadBytes,
  maxAppendBytes,
  VersionConflict,
} from "../events/log/event-log.ts";
import { erasingTypes } from "../projections/erasure-watch.ts";
import type { State } from "../reducers/thread-state.ts";
import { type CheckedDraft, checkDraft, checkDrafts } from "./check-drafts.ts";
import { newEvent } from "./new-event.ts";
import type { KnownFold } from "./steps/step-contract.ts";
import type { ThreadView, ViewFold } from "./thread-view.ts";

/** An event to append. */
export interface PlannedEvent {
  /** A function is called with the state right before the event, when the batch is folded. */
  readonly draft: EventDraft | ((state: State) => EventDraft);
  readonly by: Emitter;
  /** Id of the event that led to it; left out: it causes itself. */
  readonly cause?: string | undefined;
  /** Its id, when that was minted before; left out: it is minted now. */
  readonly id?: string | undefined;
  /** Its step, when that is not the one of the batch. */
  readonly step?: number | undefined;
  readonly folded?: KnownFold | undefined;
}

/** Where in a run a batch belongs. */
interface BatchPlace {
  readonly runId?: string | undefined;
  readonly step?: number | undefined;
}

/** What a batch is rebuilt from when somebody else was faster. Throw to give up. */
export type Rebase = (view: ThreadView) => readonly PlannedEvent[];

/** One thread's end of the log: it folds before it appends, and moves only after the log has acknowledged. */
export interface ThreadAppender {
  readonly view: ThreadView;
  /**
   * Appends one atomic batch. Appends of one thread stand in line. On a conflict the new events are read and folded
   * first, then `rebase` gives the batch again, or throws to give up.
   *
   * @param batch the events, or a function that is called for them when their turn has come, and after each conflict
   * @throws {InvalidEventError} @throws {FoldError} nothing was written
   * @throws what the log throws
   */
  append(
    batch: readonly PlannedEvent[] | Rebase,
    options?: BatchPlace & { readonly rebase?: Rebase },
  ): Promise<readonly RecordedEvent[]>;
  /** Reads and folds what others appended. */
  catchUp(): Promise<void>;
  /** Resolves when the appends that stand in line now are done. */
  settled(): Promise<void>;
}

type CheckedEvent = PlannedEvent & {
  readonly draft: CheckedDraft | ((state: State) => EventDraft);
};

interface FoldedBatch {
  readonly events: readonly NewEvent[];
  readonly view: ThreadView;
}

/** Tries of an append whose outcome the store did not tell. */
const maxUnknownOutcomes = 5;
/** Milliseconds before the second of these tries; doubled for each further one. */
const firstRetryMs = 50;

export function createThreadAppender(options: {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly registry: EventRegistry;
  readonly stream: string;
  readonly fold: ViewFold;
  readonly start: ThreadView;
  /** Reads the thread again from the log, when others bent its line. */
  readonly reload: () => Promise<ThreadView>;
  /** Called after each acknowledged batch, with the events of others too. */
  readonly onRecorded: (events: readonly RecordedEvent[], own: boolean) => void;
}): ThreadAppender {
  const { log, blobs, registry, stream, fold } = options;
  let view = options.start;
  let line: Promise<unknown> = Promise.resolve();

  const prepare = async (planned: readonly PlannedEvent[]): Promise<readonly CheckedEvent[]> => {
    const groups = await Promise.all(
      planned.map(async (event): Promise<readonly CheckedEvent[]> => {
        const { draft, by } = event;
        if (typeof draft === "function") return [{ ...event, draft }];
        const drafts = await checkDrafts([{ draft, by }], registry, blobs);
        // Only the first of several can be the event that was foreseen.
        return drafts.map((one, index) => ({ ...event, ...one, id: index === 0 ? event.id : undefined }));
      }),
    );
    return groups.flat();
  };

  /** A batch that is known already is prepared while others are appended. */
  const startPreparing = (
    batch: readonly PlannedEvent[] | Rebase,
  ): (() => Promise<readonly CheckedEvent[]>) => {
    if (typeof batch === "function") return async () => prepare(batch(view));
    const preparing = prepare(batch);
    preparing.catch(() => undefined);
    return () => preparing;
  };

  const foldBatch = (checked: readonly CheckedEvent[], place: BatchPlace): FoldedBatch => {
    let next = view;
    const recordedAt = new Date().toISOString();
    const events = checked.map(({ draft: planned, by, cause, id, folded, step = place.step }): NewEvent => {
      const checkedDraft =
        typeof planned === "function" ? checkDraft(planned(next.state), registry) : planned;
      const { type, data } = atVersion(checkedDraft, next.version);
      next = fold.apply(next, { type, data, version: next.version + 1 }, folded);
      const schema = registry.get(type)?.version ?? 1;
      return newEvent({ type, data }, { schema, by, recordedAt, cause, id, step, runId: place.runId });
    });
    return { events, view: next };
  };

  const appendToLog = async (events: readonly NewEvent[], expectedVersion: number): Promise<AppendResult> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await log.append(stream, events, { expectedVersion });
      } catch (error) {
        if (!(error instanceof AppendOutcomeUnknownError) || attempt === maxUnknownOutcomes) throw error;
        await new Promise((resolve) => setTimeout(resolve, firstRetryMs * 2 ** (attempt - 1)));
      }
    }
  };

  const catchUp = async (): Promise<void> => {
    const news: RecordedEvent[] = [];
    for await (const page of log.read(stream, { from: view.version + 1 })) news.push(...page);
    if (news.length === 0) return;
    if (news.some(bendsLine)) view = await options.reload();
    else {
      let next = view;
      for (const { type, data, version, metadata } of news) {
        next = fold.apply(next, { type, data: registry.upcast(type, data, metadata.schema), version });
      }
      view = next;
    }
    options.onRecorded(news, false);
  };

  const record = async (
    checked: readonly CheckedEvent[],
    place: BatchPlace,
    rebase: Rebase | undefined,
  ): Promise<readonly RecordedEvent[]> => {
    const batch = foldBatch(checked, place);
    try {
      const { events } = await appendToLog(batch.events, view.version);
      view = events.some(bendsLine) ? await options.reload() : batch.view;
      options.onRecorded(events, true);
      return events;
    } catch (error) {
      if (!(error instanceof EventTooLargeError) || !fits(batch.events)) throw error;
    }
    // The batch as a whole is too large: its parts follow each other, and a crash between them is recovered like any.
    const recorded: RecordedEvent[] = [];
    const recordPart = async (part: readonly CheckedEvent[]): Promise<readonly RecordedEvent[]> => {
      try {
        return await record(part, place, rebase);
      } catch (error) {
        if (!(error instanceof VersionConflict) || !rebase || recorded.length === 0) throw error;
        await catchUp();
        // Asked only whether the batch still may be written: what came before this part is in the log.
        rebase(view);
        return recordPart(part);
      }
    };
    for (const part of partsOf(checked)) recorded.push(...(await recordPart(part)));
    return recorded;
  };

  const inLine = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = line.then(work);
    line = result.catch(() => undefined);
    return result;
  };

  return {
    get view() {
      return view;
    },
    append(batch, options = {}) {
      const { rebase = typeof batch === "function" ? batch : undefined, ...place } = options;
      const checkedBatch = startPreparing(batch);
      return inLine(async () => {
        let checked = await checkedBatch();
        for (;;) {
          if (checked.length === 0) return [];
          try {
            return await record(checked, place, rebase);
          } catch (error) {
            if (!(error instanceof VersionConflict) || !rebase) throw error;
            await catchUp();
            checked = await prepare(rebase(view));
          }
        }
      });
    },
    catchUp: () => inLine(catchUp),
    settled: async () => {
      await line;
    },
  };
}

/** What follows builds on another state than what came before. */
function bendsLine({ type }: RecordedEvent): boolean {
  return type === "ThreadRewound" || type === "ThreadForked" || erasingTypes.includes(type);
}

/** A view of messages stands on the version right before its own event, wherever the batch ends up. */
function atVersion(draft: EventDraft<string, Json>, version: number): EventDraft<string, Json> {
  if (draft.type !== "ModelCallStarted") return draft;
  const data = draft.data as { readonly [key: string]: Json };
  const view = data.view as { readonly [key: string]: Json };
  return view.version === version
    ? draft
    : { type: draft.type, data: { ...data, view: { ...view, version } } };
}

function bytesOf(event: unknown): number {
  return Buffer.byteLength(JSON.stringify(event));
}

/** True when no event by itself is too large, so that smaller batches help. */
function fits(events: readonly NewEvent[]): boolean {
  const total = events.reduce((sum, event) => sum + bytesOf(event) + eventOverheadBytes, 0);
  return events.length > 1 && total > maxAppendBytes / 2;
}

/** Halves of the batch by bytes, each with at least one event. */
function partsOf(checked: readonly CheckedEvent[]): (readonly CheckedEvent[])[] {
  const sizes = checked.map(({ draft }) => (typeof draft === "function" ? 0 : bytesOf(draft)));
  const half = sizes.reduce((sum, size) => sum + size, 0) / 2;
  let sum = 0;
  let cut = sizes.findIndex((size) => {
    sum += size;
    return sum >= half;
  });
  cut = Math.min(Math.max(cut, 1), checked.length - 1);
  return [checked.slice(0, cut), checked.slice(cut)];
}
