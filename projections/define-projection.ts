import type { EventDataByName } from "../events/catalogue.ts";
import type { BriefEvent, RecordedEvent } from "../events/envelope.ts";

/** What a projection's handlers read and write. Changes are committed together with the checkpoint. */
export interface Rows<Row> {
  get(key: string): Row | undefined;
  /** Plain JSON. A row is replaced, never changed in place. */
  put(key: string, row: Row): void;
  delete(key: string): void;
  /** Rows whose key starts with `prefix`, by key. */
  list(prefix: string): readonly { readonly key: string; readonly row: Row }[];
}

/**
 * What handlers see of an event: `whole`, or `brief`, without `id` and with no other metadata than `schema` and `runId`,
 * which stores read faster.
 */
export type ProjectedEnvelope = "whole" | "brief";

/** An event as handlers see it, with the type of its data. */
export type ProjectedEvent<Data, Envelope extends ProjectedEnvelope = "whole"> = Omit<
  Envelope extends "brief" ? BriefEvent : RecordedEvent,
  "data"
> & { readonly data: Data };

/** Changes rows by one event. Pure but for `rows`: it may be called again for the same event. */
export type ProjectionHandler<Row, Data, Envelope extends ProjectedEnvelope = "whole"> = (
  rows: Rows<Row>,
  event: ProjectedEvent<Data, Envelope>,
) => void;

export type ProjectionHandlers<Row, Envelope extends ProjectedEnvelope = "whole"> = {
  readonly [Name in keyof EventDataByName]?: ProjectionHandler<Row, EventDataByName[Name], Envelope>;
} & {
  // Events of user middlewares: the handler states the data type itself.
  // biome-ignore lint/suspicious/noExplicitAny: data of events that are not in the catalogue
  readonly [name: string]: ProjectionHandler<Row, any, Envelope> | undefined;
};

/** A read model: named rows that follow from the events of all threads. */
export interface Projection<Row = unknown> {
  readonly name: string;
  readonly version: number;
  /** Undefined: handlers are there for all events. */
  readonly types: readonly string[] | undefined;
  readonly init: ((rows: Rows<Row>) => void) | undefined;
  readonly keep: "disk" | "memory";
  /** What the handlers may be given: `brief` ones take whole events, too, but read no more of them. */
  readonly envelope: ProjectedEnvelope;
  handlerFor(type: string): ProjectionHandler<Row, unknown> | undefined;
  orderOf(row: Row, key: string): string;
  searchTextOf(row: Row): string;
}

/** A projection whatever its rows. */
// biome-ignore lint/suspicious/noExplicitAny: projections of all row types stand in one list
export type AnyProjection = Projection<any>;

/** Thrown when a projection is defined badly. */
export class ProjectionDefinitionError extends Error {
  override readonly name = "ProjectionDefinitionError";
}

type EnvelopeOption<Envelope extends ProjectedEnvelope> = Envelope extends "brief"
  ? { readonly envelope: Envelope }
  : { readonly envelope?: Envelope };

const kebabCase = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/**
 * Defines a read model over the events of all threads.
 *
 * @param options.version raise it when a change of the code changes rows: they are then built again beside the old ones
 * @param options.init writes the rows that are there before any event
 * @param options.handlers one for each event type; `"*"` gets every event that has none of its own
 * @param options.keep `disk` (default): in the projection store; `memory`: built again at every start
 * @param options.envelope `whole` (default), or `brief` when no handler needs ids, causes or hashes: a rebuild
 * from SQLite then takes about a third less time
 * @param options.order text by which rows are listed, largest first. Default: the key
 * @param options.search text of a row that searches look into. Default: none
 * @throws {ProjectionDefinitionError}
 * @example
 * const runsPerDay = defineProjection<{ runs: number }>({
 *   name: "runs-per-day",
 *   version: 1,
 *   handlers: {
 *     RunStarted(rows, event) {
 *       const day = event.recordedAt.slice(0, 10);
 *       rows.put(day, { runs: (rows.get(day)?.runs ?? 0) + 1 });
 *     },
 *   },
 * });
 */
export function defineProjection<Row, Envelope extends ProjectedEnvelope = "whole">(
  options: {
    readonly name: string;
    readonly version: number;
    readonly handlers: ProjectionHandlers<Row, Envelope>;
    readonly init?: (rows: Rows<Row>) => void;
    readonly keep?: "disk" | "memory";
    readonly order?: (row: Row, key: string) => string;
    readonly search?: (row: Row) => string;
  } & EnvelopeOption<Envelope>,
): Projection<Row> {
  const { name, version, handlers, init, keep = "disk", envelope = "whole", order, search } = options;
  if (!kebabCase.test(name)) {
    throw new ProjectionDefinitionError(
      `Projection name "${name}" is not kebab-case. Use small letters, digits and single dashes, like "runs-per-day".`,
    );
  }
  if (!Number.isInteger(version) || version < 1) {
    throw new ProjectionDefinitionError(
      `Projection "${name}" has version ${version}. Versions are whole numbers from 1.`,
    );
  }
  const byType = new Map<string, ProjectionHandler<Row, unknown>>();
  // Handlers of brief events take whole ones, too.
  for (const [type, handler] of Object.entries(handlers)) {
    if (handler) byType.set(type, handler as ProjectionHandler<Row, unknown>);
  }
  if (byType.size === 0) {
    throw new ProjectionDefinitionError(`Projection "${name}" handles no event. Add a handler.`);
  }
  const rest = byType.get("*");
  return {
    name,
    version,
    types: rest ? undefined : [...byType.keys()],
    init,
    keep,
    envelope,
    handlerFor: (type) => byType.get(type) ?? rest,
    orderOf: (row, key) => order?.(row, key) ?? key,
    searchTextOf: (row) => search?.(row) ?? "",
  };
}
