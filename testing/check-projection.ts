import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { RecordedEvent } from "../events/envelope.ts";
import { deepFreeze } from "../events/log/deep-freeze.ts";
import type { AnyProjection, Rows } from "../projections/define-projection.ts";
import { projectedEvents } from "../projections/projected-events.ts";
import { type ThreadLog, threadLogs } from "./arbitraries/thread-logs.ts";
import { notJson } from "./laws/json-closed.ts";
import type { StateSource } from "./subject-of.ts";

/** A projection gives other rows when it is stopped and goes on, or is built again. */
export class ProjectionBrokenError extends Error {
  override readonly name = "ProjectionBrokenError";
  constructor(
    readonly projection: string,
    reason: string,
    readonly events: readonly RecordedEvent[],
    seed: number,
    path: string | null,
  ) {
    const lines = events.map(({ stream, version, type, data }) =>
      JSON.stringify({ stream, version, type, data }),
    );
    super(
      `Projection "${projection}": ${reason}.\n${lines.join("\n")}\nRepeat it with { seed: ${seed}, path: "${path}" }.`,
    );
  }
}

export interface ProjectionCheckOptions {
  /** Logs to try. Default 50. */
  readonly runs?: number;
  readonly seed?: number;
  readonly path?: string;
}

const positionDigits = 12;

/** The events of all threads in one order, as a store would give them. */
function inOneOrder({ threads }: ThreadLog): RecordedEvent[] {
  const events = threads.flatMap((thread) => thread.events);
  return events.map((event, at) =>
    deepFreeze({ ...event, position: String(at + 1).padStart(positionDigits, "0") }),
  );
}

type Table = ReadonlyMap<string, unknown>;

function rowsOf(table: Map<string, unknown>): Rows<unknown> {
  return {
    get: (key) => table.get(key),
    put: (key, row) => void table.set(key, deepFreeze(row)),
    delete: (key) => void table.delete(key),
    list: (prefix) =>
      [...table]
        .filter(([key]) => key.startsWith(prefix))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, row]) => ({ key, row })),
  };
}

/** Rows after some events, from the beginning or from rows that were written down. */
function project(projection: AnyProjection, events: readonly RecordedEvent[], from?: Table): Table {
  const table = new Map(from ?? []);
  const rows = rowsOf(table);
  if (!from) projection.init?.(rows);
  for (const event of projectedEvents(projection, events)) {
    projection.handlerFor(event.type)?.(rows, event as RecordedEvent);
  }
  return table;
}

function writtenDown(table: Table): Table {
  return new Map(
    [...table].map(([key, row]) => [key, deepFreeze(JSON.parse(JSON.stringify(row)) as unknown)]),
  );
}

/** As a store would give the rows. */
function sorted(table: Table): (readonly [string, unknown])[] {
  return [...writtenDown(table)].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Why a projection does not keep its laws on these events; undefined: it does. */
function problem(projection: AnyProjection, events: readonly RecordedEvent[]): string | undefined {
  try {
    const whole = project(projection, events);
    for (const [key, row] of whole) {
      const reason = notJson(row, `row ${key}`, true);
      if (reason) return `${reason}, and rows are plain JSON`;
    }
    if (!isDeepStrictEqual(sorted(project(projection, events)), sorted(whole)))
      return "it is built differently the second time";
    for (let cut = 0; cut <= events.length; cut++) {
      const stopped = writtenDown(project(projection, events.slice(0, cut)));
      const gone = project(projection, events.slice(cut), stopped);
      if (isDeepStrictEqual(sorted(gone), sorted(whole))) continue;
      return `stopped after event ${cut} and gone on, its rows are others than built at once`;
    }
    return undefined;
  } catch (error) {
    return `it threw ${error}`;
  }
}

/**
 * Holds a projection to its laws on generated logs: rows are plain JSON that no handler changes in place, and whether it
 * runs along, is stopped and goes on, or is built again, it comes to the same rows.
 *
 * @throws {ProjectionBrokenError}
 * @example
 * checkProjection(runsPerDay, agent);
 */
export function checkProjection(
  projection: AnyProjection,
  source: StateSource,
  options: ProjectionCheckOptions = {},
): void {
  const { runs = 50, seed, path } = options;
  const logs = threadLogs(source, { maxTurns: 2 }).map(inOneOrder);
  const outcome = fc.check(
    fc.property(logs, (events) => problem(projection, events) === undefined),
    { numRuns: runs, ...(seed === undefined ? {} : { seed }), ...(path === undefined ? {} : { path }) },
  );
  if (!outcome.failed) return;
  const [events = []] = outcome.counterexample ?? [];
  throw new ProjectionBrokenError(
    projection.name,
    problem(projection, events) ?? "it broke once only",
    events,
    outcome.seed,
    outcome.counterexamplePath,
  );
}
