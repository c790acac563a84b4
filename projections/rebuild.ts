import type { EventRegistry } from "../events/event-registry.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { catchUp } from "./catch-up.ts";
import type { AnyProjection } from "./define-projection.ts";
import { createMemoryProjectionStore } from "./memory-projection-store.ts";
import {
  type ProjectionStore,
  ProjectionTableMissingError,
  type SkippedEvent,
  type TableComparison,
  type TableInfo,
} from "./projection-store.ts";
import { initialRows } from "./row-session.ts";
import { createTableWriter, type ErrorPolicy } from "./table-writer.ts";

export interface RebuildProgress {
  /** Events in the new rows so far, those of an earlier, interrupted rebuild included. */
  readonly events: number;
  /** Events to expect: exact when the projection has rows already, else at most; undefined when unknown. */
  readonly total: number | undefined;
  /** Events per second of this call. */
  readonly rate: number;
  readonly secondsLeft: number | undefined;
  readonly position: string | undefined;
}

export interface RebuildOptions {
  readonly projection: AnyProjection;
  readonly log: EventLog;
  readonly store: ProjectionStore;
  readonly registry: EventRegistry;
  /** Begin after this position: the rows then hold only what happened later. */
  readonly from?: string;
  /** Throw away what an interrupted rebuild left instead of going on with it. */
  readonly fresh?: boolean;
  readonly onError?: ErrorPolicy;
  /** Events of one transaction at most. Default 10,000. */
  readonly batchEvents?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: RebuildProgress) => void;
}

export interface RebuildResult {
  readonly table: TableInfo;
  readonly rows: number;
  readonly skipped: readonly SkippedEvent[];
  /** Events that an earlier, interrupted rebuild had done already. */
  readonly resumedAt: number;
}

/** The rebuild was stopped by its signal. What it did so far is kept; call again to go on. */
export class RebuildStoppedError extends Error {
  override readonly name = "RebuildStoppedError";
  constructor(readonly projection: string) {
    super(
      `The rebuild of ${projection} was stopped. The rows before it still serve; rebuild again to go on from here.`,
    );
  }
}

export const defaultRebuildBatch = 10_000;
const streamsPerPage = 1000;

async function countEvents(log: EventLog): Promise<number> {
  let total = 0;
  let after = "";
  for (;;) {
    const page = await log.streams({ after, limit: streamsPerPage });
    for (const { version } of page) total += version;
    const last = page.at(-1);
    if (!last || page.length < streamsPerPage) return total;
    after = last.stream;
  }
}

/** The unfinished table of an earlier rebuild of this version, or a new one. */
async function shadowTable(options: RebuildOptions): Promise<TableInfo> {
  const { projection, store, from, fresh } = options;
  let found: TableInfo | undefined;
  for (const info of await store.tables(projection.name)) {
    if (info.state === "retired") await store.drop(info.table);
    if (info.state !== "building" || info.version > projection.version) continue;
    const usable = !fresh && info.version === projection.version && info.from === from && !found;
    if (usable) found = info;
    else await store.drop(info.table);
  }
  const { name, version } = projection;
  return found ?? store.build({ name, version, from, rows: initialRows(projection, store) });
}

async function fill(options: RebuildOptions, store: ProjectionStore, table: TableInfo, to?: string) {
  const {
    projection,
    log,
    registry,
    onError,
    signal,
    onProgress,
    batchEvents = defaultRebuildBatch,
  } = options;
  const writer = createTableWriter({ projection, store, log, registry, table, onError });
  const before = await options.store.live(projection.name);
  const known = before && before.version === projection.version && before.from === options.from;
  const total = onProgress && (known ? before.events : await countEvents(log));
  const startedAt = performance.now();
  const onCommit = () => {
    const { events, checkpoint } = writer.table;
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = seconds > 0 ? (events - table.events) / seconds : 0;
    const left = total === undefined ? undefined : Math.max(0, total - events);
    const secondsLeft = left === undefined || rate === 0 ? undefined : left / rate;
    onProgress?.({ events, total, rate, secondsLeft, position: checkpoint });
  };
  const run = async () => {
    await catchUp({ log, writer, projection, batchEvents, to, signal, onCommit });
    if (signal?.aborted) throw new RebuildStoppedError(projection.name);
  };
  await run();
  return { writer, again: run };
}

/**
 * Builds the rows of a projection anew beside those that serve, and switches to them in one step. It may be killed at
 * any moment: the old rows go on serving, and the next call goes on where this one was.
 *
 * @throws {PoisonEventError} @throws {RebuildStoppedError}
 * @throws {ProjectionConflict} another process rebuilds the same projection
 * @example
 * await rebuildProjection({ projection: threadList, log: store.log, store: projectionStore, registry });
 */
export async function rebuildProjection(options: RebuildOptions): Promise<RebuildResult> {
  const { projection, store } = options;
  const table = await shadowTable(options);
  const { writer, again } = await fill(options, store, table);
  while (!(await store.switchTo(table.table, writer.table.revision))) await again();
  for (const info of await store.tables(projection.name)) {
    if (info.state === "retired") await store.drop(info.table);
  }
  return {
    table: { ...writer.table, state: "live" },
    rows: await store.count(table.table),
    skipped: await store.skipped(table.table),
    resumedAt: table.events,
  };
}

/**
 * Runs a rebuild without writing anything: tells how many rows come out and which events fail.
 *
 * @throws {PoisonEventError} @throws {RebuildStoppedError}
 */
export async function dryRunRebuild(options: RebuildOptions): Promise<RebuildResult> {
  const { projection, from } = options;
  const store = createMemoryProjectionStore();
  const { name, version } = projection;
  const table = await store.build({ name, version, from, rows: initialRows(projection, store) });
  const { writer } = await fill(options, store, table);
  return {
    table: writer.table,
    rows: await store.count(table.table),
    skipped: await store.skipped(table.table),
    resumedAt: 0,
  };
}

/**
 * Builds the rows anew up to where the live rows stand and compares the two. Nothing is switched.
 *
 * @param options.limit differences to give at most; default 10
 * @throws {ProjectionTableMissingError} the projection has no live rows
 */
export async function compareRebuild(options: RebuildOptions & { limit?: number }): Promise<TableComparison> {
  const { projection, store, limit = 10 } = options;
  const { name, version } = projection;
  const liveTable = async () => {
    const live = await store.live(name);
    if (!live) throw new ProjectionTableMissingError(name);
    return live;
  };
  const { from } = await liveTable();
  // What a comparison left that was killed.
  for (const info of await store.tables(name)) if (info.state === "comparing") await store.drop(info.table);
  const rows = initialRows(projection, store);
  let table = await store.build({ name, version, from, rows, state: "comparing" });
  try {
    for (;;) {
      const target = await liveTable();
      if (target.checkpoint !== undefined) {
        table = (await fill(options, store, table, target.checkpoint)).writer.table;
      }
      const comparison = await store.compare(name, table.table, limit);
      // Otherwise the live rows moved while the others were built: build on and look again.
      if (comparison.left.checkpoint === target.checkpoint) return comparison;
    }
  } finally {
    await store.drop(table.table);
  }
}
