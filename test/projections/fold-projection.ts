import type { EventDraft } from "../../events/define-event.ts";
import { createEventRegistry, type EventRegistry } from "../../events/event-registry.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { catchUp } from "../../projections/catch-up.ts";
import type { Projection } from "../../projections/define-projection.ts";
import { createMemoryProjectionStore } from "../../projections/memory-projection-store.ts";
import type { ProjectionStore } from "../../projections/projection-store.ts";
import { type ProjectionView, viewOf } from "../../projections/projection-view.ts";
import { initialRows } from "../../projections/row-session.ts";
import { createTableWriter } from "../../projections/table-writer.ts";
import { type AppendDraftsOptions, appendDrafts } from "./append-drafts.ts";

/** A projection on a memory log, brought up to date on demand. */
export interface ProjectionBench<Row> {
  readonly log: EventLog;
  readonly store: ProjectionStore;
  readonly view: ProjectionView<Row>;
  /** Appends drafts to a thread, one second after the ones before. */
  record(threadId: string, drafts: readonly EventDraft[], options?: AppendDraftsOptions): Promise<void>;
  update(): Promise<void>;
}

/** Time of the first event of a bench; each `record` is a second later. */
const benchStart = Date.UTC(2026, 0, 1);

export function createProjectionBench<Row>(
  projection: Projection<Row>,
  options: { log?: EventLog; store?: ProjectionStore; registry?: EventRegistry } = {},
): ProjectionBench<Row> {
  const {
    log = createMemoryLog(),
    store = createMemoryProjectionStore(),
    registry = createEventRegistry(),
  } = options;
  const { name, version } = projection;
  let seconds = 0;
  return {
    log,
    store,
    view: viewOf(store, projection),
    async record(threadId, drafts, more) {
      const recordedAt = new Date(benchStart + 1000 * seconds).toISOString();
      seconds += 1;
      await appendDrafts(log, threadId, drafts, { recordedAt, ...more });
    },
    async update() {
      const table = await store.open({ name, version, rows: initialRows(projection, store) });
      const writer = createTableWriter({ projection, store, log, registry, table });
      await catchUp({ log, writer, projection, batchEvents: 100 });
    },
  };
}
