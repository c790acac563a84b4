import { setTimeout as pause } from "node:timers/promises";
import type { EventRegistry } from "../events/event-registry.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { createNews } from "../events/log/news.ts";
import type { SideStore } from "../events/log/side-store.ts";
import { catchUp } from "./catch-up.ts";
import type { Projection } from "./define-projection.ts";
import { liveBatches } from "./live-batches.ts";
import { createMemoryProjectionStore } from "./memory-projection-store.ts";
import { createOwnership } from "./ownership.ts";
import { projectedEvents } from "./projected-events.ts";
import { measureLag, nextEventAfter, type ProjectionLag } from "./projection-lag.ts";
import { ProjectionConflict, type ProjectionStore, type SkippedEvent } from "./projection-store.ts";
import { type ProjectionView, viewOf } from "./projection-view.ts";
import {
  defaultRebuildBatch,
  type RebuildProgress,
  RebuildStoppedError,
  rebuildProjection,
} from "./rebuild.ts";
import { initialRows } from "./row-session.ts";
import { createTableWriter, type ErrorPolicy, PoisonEventError } from "./table-writer.ts";

/**
 * `waiting`: another process owns the projection · `rebuilding`: rows of a newer version are built beside the live ones ·
 * `catching-up` · `live` · `retrying`: log or store cannot be reached · `superseded`: the rows are of a newer version
 * than this code · `failed`: stopped before an event · `stopped`
 */
export type ProjectionState =
  | "waiting"
  | "rebuilding"
  | "catching-up"
  | "live"
  | "retrying"
  | "superseded"
  | "failed"
  | "stopped";

export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly state: ProjectionState;
  /** Position of the last event in the live rows. */
  readonly checkpoint: string | undefined;
  /** Events in the live rows. */
  readonly events: number;
  /** Events passed over since the rows were begun. */
  readonly skipped: readonly SkippedEvent[];
  readonly error: { readonly message: string; readonly event: SkippedEvent | undefined } | undefined;
}

/** The projection does not move any more, so what was waited for will not come. */
export class ProjectionHaltedError extends Error {
  override readonly name = "ProjectionHaltedError";
  constructor(
    readonly projection: string,
    readonly state: ProjectionState,
    cause?: unknown,
  ) {
    super(
      `Projection ${projection} is ${state}${cause instanceof Error ? `: ${cause.message}` : ""}. Start it again to go on.`,
      { cause },
    );
  }
}

export interface RunProjectionOptions<Row> {
  readonly projection: Projection<Row>;
  readonly log: EventLog;
  readonly store: ProjectionStore;
  readonly side: SideStore;
  readonly registry: EventRegistry;
  /** Name of this process among the owners. Default: a random one. */
  readonly owner?: string;
  readonly onError?: ErrorPolicy;
  /** Events of one transaction at most while tailing. Default 500. */
  readonly batchEvents?: number;
  /** Milliseconds after which another process may take over from a silent owner. Default 10,000. */
  readonly leaseMs?: number;
  /** Milliseconds between looks at what another process owns. Default 250. */
  readonly pollMs?: number;
  readonly onRebuild?: (progress: RebuildProgress) => void;
}

/** A projection that is kept up to date by this process, or watched while another does it. */
export interface ProjectionRun<Row> {
  readonly projection: Projection<Row>;
  readonly view: ProjectionView<Row>;
  status(): Promise<ProjectionStatus>;
  /** How far the rows are behind the log. Counts at most 10,000 events. */
  lag(): Promise<ProjectionLag>;
  /**
   * Resolves when the live rows hold everything up to a position, whichever process feeds them.
   * @throws {ProjectionHaltedError}
   */
  whenCaughtUp(position: string, options?: { signal?: AbortSignal }): Promise<void>;
  /** Ends feeding after the batch at hand and gives the ownership back. */
  stop(): Promise<void>;
}

const maxBackOffMs = 10_000;

/**
 * Keeps the rows of a projection up to date: catches up in batches, then follows the log. Of several processes one owns
 * a projection; the others watch and take over when it falls silent.
 *
 * @example
 * const run = runProjection({ projection: threadList, log, store, side, registry });
 * const { position } = await log.append(stream, events, { expectedVersion });
 * await run.whenCaughtUp(position);
 */
export function runProjection<Row>(options: RunProjectionOptions<Row>): ProjectionRun<Row> {
  const { projection, log, side, registry, owner = crypto.randomUUID() } = options;
  const { onError, batchEvents = 500, leaseMs = 10_000, pollMs = 250, onRebuild } = options;
  const { name, version, types } = projection;
  const shared = projection.keep === "disk";
  const store = shared ? options.store : createMemoryProjectionStore();
  const ownership = createOwnership({ side, name, owner, leaseMs });
  const stopping = new AbortController();
  const news = createNews();
  let state: ProjectionState = "waiting";
  let failure: unknown;

  const become = (next: ProjectionState) => {
    state = next;
    news.announce();
  };
  const rest = async (ms: number) => {
    await pause(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  };

  /** Feeds until the signal aborts, the table is replaced, or there is nothing more to do for this process. */
  const feed = async (signal: AbortSignal): Promise<"again" | "end"> => {
    const live = await store.live(name);
    if (live && live.version > version) {
      become("superseded");
      return "end";
    }
    if (live && live.version < version) {
      become("rebuilding");
      const progress = (at: RebuildProgress) => {
        news.announce();
        onRebuild?.(at);
      };
      await rebuildProjection({
        projection,
        log,
        store,
        registry,
        signal,
        onProgress: progress,
        ...(onError && { onError }),
      });
      return "again";
    }
    const table = live ?? (await store.open({ name, version, rows: initialRows(projection, store) }));
    const writer = createTableWriter({ projection, store, log, registry, table, onError });
    become("catching-up");
    const onCommit = () => news.announce();
    await catchUp({ log, writer, projection, batchEvents: defaultRebuildBatch, signal, onCommit });
    const after = writer.checkpoint;
    for await (const { events, caughtUp } of liveBatches({ log, after, types, signal, batchEvents })) {
      if (events.length > 0) {
        await writer.apply(projectedEvents(projection, events));
        await writer.commit();
      }
      if (caughtUp && state !== "live") become("live");
      else if (events.length > 0) news.announce();
    }
    return signal.aborted ? "again" : "end";
  };

  const own = async (): Promise<"again" | "end"> => {
    const lost = new AbortController();
    const renewal = setInterval(() => {
      ownership.claim().then(
        (held) => {
          if (!held) lost.abort();
        },
        () => lost.abort(),
      );
    }, leaseMs / 3);
    try {
      return await feed(AbortSignal.any([stopping.signal, lost.signal]));
    } finally {
      clearInterval(renewal);
      if (!lost.signal.aborted) await ownership.release().catch(() => undefined);
    }
  };

  const main = async () => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        if (shared && !(await ownership.claim())) {
          if (state !== "waiting") become("waiting");
          await rest(pollMs);
          continue;
        }
        const next = shared ? await own() : await feed(stopping.signal);
        failures = 0;
        if (next === "end") break;
      } catch (error) {
        if (error instanceof RebuildStoppedError) continue;
        if (error instanceof PoisonEventError) {
          failure = error;
          become("failed");
          return;
        }
        if (error instanceof ProjectionConflict) {
          await rest(1);
          continue;
        }
        failure = error;
        become("retrying");
        await rest(Math.min(maxBackOffMs, 100 * 2 ** failures));
        failures += 1;
      }
    }
    if (state !== "superseded") become("stopped");
  };
  const ended = main();

  const halted = () => state === "failed" || state === "superseded" || state === "stopped";

  const reached = async (position: string): Promise<boolean> => {
    const live = await store.live(name);
    if (!live || live.version < version) return false;
    if (live.checkpoint !== undefined && live.checkpoint >= position) return true;
    const next = await nextEventAfter(log, live.checkpoint, types);
    return next === undefined || next.position > position;
  };

  return {
    projection,
    view: viewOf(store, projection),
    async status() {
      const live = await store.live(name);
      return {
        name,
        version,
        state,
        checkpoint: live?.checkpoint,
        events: live?.events ?? 0,
        skipped: live ? await store.skipped(live.table) : [],
        error:
          failure === undefined || state === "live"
            ? undefined
            : {
                message: failure instanceof Error ? failure.message : String(failure),
                event: failure instanceof PoisonEventError ? failure.event : undefined,
              },
      };
    },
    lag: async () => measureLag(log, (await store.live(name))?.checkpoint, types),
    async whenCaughtUp(position, { signal } = {}) {
      for (;;) {
        const seen = news.count;
        if (await reached(position)) return;
        signal?.throwIfAborted();
        if (halted()) throw new ProjectionHaltedError(name, state, failure);
        const moved = news.beyond(seen, signal);
        // Another process may be the one that feeds the rows.
        if (state === "waiting") await Promise.race([moved, rest(pollMs)]);
        else await moved;
      }
    },
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}
