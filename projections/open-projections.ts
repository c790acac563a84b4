import { basename, join } from "node:path";
import { createEventRegistry, type EventRegistry } from "../events/event-registry.ts";
import type { Store } from "../events/store.ts";
import { builtInProjections } from "./built-in.ts";
import type { AnyProjection, Projection } from "./define-projection.ts";
import { createMemoryProjectionStore } from "./memory-projection-store.ts";
import type { ProjectionStore } from "./projection-store.ts";
import type { ProjectionView } from "./projection-view.ts";
import {
  type ProjectionRun,
  type ProjectionStatus,
  type RunProjectionOptions,
  runProjection,
} from "./runner.ts";
import { openSqliteProjectionStore } from "./sqlite-projection-store.ts";

/** Where the rows of a store's projections are: beside its SQLite file, or in its folder; undefined: in memory. */
export function projectionFileOf(store: Pick<Store, "url" | "folder">): string | undefined {
  if (/^memory:/i.test(store.url)) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(store.url)?.[1]?.toLowerCase() ?? "sqlite";
  if (scheme !== "sqlite") return join(store.folder, "projections.db");
  // Named after the log: two logs in one folder have positions of their own.
  return join(
    store.folder,
    `${basename(store.url.replace(/^sqlite:/i, "")).replace(/\.db$/, "")}.projections.db`,
  );
}

/** Opens the rows that belong to a store: in its database when it has one, so that all machines share them. */
export async function openProjectionStore(
  store: Pick<Store, "url" | "folder" | "database">,
): Promise<ProjectionStore> {
  if (store.database) {
    const { createPostgresProjectionStore } = await import("./postgres-projection-store.ts");
    return createPostgresProjectionStore(store.database);
  }
  const file = projectionFileOf(store);
  return file === undefined ? createMemoryProjectionStore() : openSqliteProjectionStore(file);
}

export interface OpenProjectionsOptions
  extends Omit<RunProjectionOptions<unknown>, "projection" | "log" | "store" | "side" | "registry"> {
  /** Default: those that Threadfold brings along. */
  readonly projections?: readonly AnyProjection[];
  /** Default: the catalogue only. */
  readonly registry?: EventRegistry;
  /** Default: the file beside the log, or tables in its database. */
  readonly rows?: ProjectionStore;
}

/** A projection was asked for that is not among those that were opened. */
export class ProjectionNotOpenError extends Error {
  override readonly name = "ProjectionNotOpenError";
  constructor(readonly projection: string) {
    super(`Projection ${projection} is not running here. Add it to the projections that are opened.`);
  }
}

/** All projections of one process. */
export interface OpenProjections {
  readonly rows: ProjectionStore;
  readonly runs: readonly ProjectionRun<unknown>[];
  /** @throws {ProjectionNotOpenError} */
  view<Row>(projection: Projection<Row>): ProjectionView<Row>;
  status(): Promise<readonly ProjectionStatus[]>;
  /** Resolves when all of them hold everything up to a position. @throws {ProjectionHaltedError} */
  whenCaughtUp(position: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts the projections of a store and keeps them up to date until they are closed.
 *
 * @example
 * const projections = await openProjections(store);
 * const { position } = await store.log.append(stream, events, { expectedVersion });
 * await projections.whenCaughtUp(position);
 * await listThreads(projections.view(threadList), { search: "trip" });
 */
export async function openProjections(
  store: Store,
  options: OpenProjectionsOptions = {},
): Promise<OpenProjections> {
  const { projections = builtInProjections, registry = createEventRegistry(), rows, ...more } = options;
  const projectionStore = rows ?? (await openProjectionStore(store));
  const { log, side } = store;
  const runs = projections.map((projection) =>
    runProjection<unknown>({ ...more, projection, log, side, registry, store: projectionStore }),
  );
  return {
    rows: projectionStore,
    runs,
    view<Row>(projection: Projection<Row>) {
      const run = runs.find((one) => one.projection.name === projection.name);
      if (!run) throw new ProjectionNotOpenError(projection.name);
      return run.view as ProjectionView<Row>;
    },
    status: () => Promise.all(runs.map((run) => run.status())),
    async whenCaughtUp(position) {
      await Promise.all(runs.map((run) => run.whenCaughtUp(position)));
    },
    async close() {
      await Promise.all(runs.map((run) => run.stop()));
      if (!rows) await projectionStore.close();
    },
  };
}
