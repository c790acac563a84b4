import type { EventRegistry } from "../events/event-registry.ts";
import type { EventLog } from "../events/log/event-log.ts";
import { catchUp } from "./catch-up.ts";
import type { AnyProjection } from "./define-projection.ts";
import { ProjectionConflict, type ProjectionStore, type TableInfo } from "./projection-store.ts";
import { rebuildProjection } from "./rebuild.ts";
import { createTableWriter, PoisonEventError } from "./table-writer.ts";

export interface ProjectionsToForgetIn {
  readonly store: ProjectionStore;
  /** Code of the projections that are kept there. Rows of others are dropped: nobody can tell what they hold. */
  readonly projections: readonly AnyProjection[];
}

/** What became of the rows. */
export interface ForgottenInProjections {
  /** Projections that took the erasure in. */
  readonly updated: readonly string[];
  /** Tables that were dropped and have to be built again. */
  readonly dropped: readonly string[];
}

const eventsPerBatch = 1000;

/** Brings a live table past a position; false: it stops at an event before it. */
async function bringPast(
  target: ProjectionsToForgetIn,
  projection: AnyProjection,
  table: TableInfo,
  log: EventLog,
  registry: EventRegistry,
  position: string,
): Promise<boolean> {
  const { store } = target;
  let at: TableInfo | undefined = table;
  while (at) {
    const writer = createTableWriter({ projection, store, log, registry, table: at });
    try {
      await catchUp({ log, writer, projection, batchEvents: eventsPerBatch, to: position });
      return true;
    } catch (error) {
      if (error instanceof PoisonEventError) return false;
      if (!(error instanceof ProjectionConflict)) throw error;
      // Its owner in another process is at work, too: go on from where it is.
      at = await store.live(projection.name);
    }
  }
  return true;
}

/**
 * Makes the rows of all projections take in what was erased up to a position, and leaves no byte of the old rows in the
 * store's files. Each projection drops content by its own handlers of `ThreadErased` and `ContentRedacted`; unfinished
 * rebuilds and rows of unknown code are dropped whole.
 */
export async function forgetInProjections(
  target: ProjectionsToForgetIn,
  source: { readonly log: EventLog; readonly registry: EventRegistry },
  position: string,
): Promise<ForgottenInProjections> {
  const { store, projections } = target;
  const { log, registry } = source;
  const updated: string[] = [];
  const dropped: string[] = [];
  const drop = async ({ table }: TableInfo) => {
    await store.drop(table);
    dropped.push(table);
  };
  for (const info of await store.tables()) {
    const projection = projections.find(({ name }) => name === info.name);
    if (info.state !== "live" || !projection || info.version > projection.version) {
      await drop(info);
    } else if (info.version < projection.version) {
      await rebuildProjection({ projection, store, log, registry, onError: "skip" });
      updated.push(info.name);
    } else if (await bringPast(target, projection, info, log, registry, position)) {
      updated.push(info.name);
    } else {
      await drop(info);
    }
  }
  await store.purge();
  return { updated, dropped };
}
