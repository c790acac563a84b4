import type { BriefEvent, RecordedEvent } from "../events/envelope.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { AnyProjection } from "./define-projection.ts";
import type { ProjectionStore, SkippedEvent, TableInfo } from "./projection-store.ts";
import { createRowSession } from "./row-session.ts";

/**
 * What to do with an event whose handler throws: stop before it (default), pass it over and keep a record of it, or
 * call the handler again a few times first.
 */
export type ErrorPolicy =
  | "stop"
  | "skip"
  | {
      readonly attempts: number;
      /** Milliseconds before the second attempt; doubled before each further one. */
      readonly delayMs: number;
      /** What to do when the last attempt failed, too. */
      readonly otherwise: "stop" | "skip";
    };

/** A handler failed on an event and the projection stops before it. */
export class PoisonEventError extends Error {
  override readonly name = "PoisonEventError";
  constructor(
    readonly projection: string,
    readonly event: SkippedEvent,
    cause: unknown,
  ) {
    super(
      `Projection ${projection} stopped before ${event.type} at position ${event.position} (${event.stream}@${event.version}): ${event.error}. ` +
        'Mend its handler and start again, or pass over such events with onError: "skip".',
      { cause },
    );
  }
}

/** Folds events into one table, batch by batch. */
export interface TableWriter {
  readonly table: TableInfo;
  /** Position of the last committed event. */
  readonly checkpoint: string | undefined;
  readonly skipped: number;
  /** Events that were applied and are not committed yet. */
  readonly pending: number;
  /**
   * Applies events in order, in memory: whole ones, unless the projection handles brief ones. Events that are in the rows already are left out.
   * @throws {PoisonEventError} after everything before the event was committed
   * @throws {ProjectionConflict}
   */
  apply(events: readonly BriefEvent[]): Promise<void>;
  /** Commits what was applied, rows and checkpoint in one transaction. @throws {ProjectionConflict} */
  commit(): Promise<void>;
}

export interface TableWriterOptions {
  readonly projection: AnyProjection;
  readonly store: ProjectionStore;
  /** Where the events come from. */
  readonly log: EventLog;
  readonly registry: EventRegistry;
  readonly table: TableInfo;
  readonly onError?: ErrorPolicy | undefined;
  /** Waits between attempts; for tests. */
  readonly wait?: ((ms: number) => Promise<void>) | undefined;
}

/** A handler that asks for ever more rows that are not loaded is broken. */
const maxLoadsPerEvent = 1000;

/** Empty when the event was erased meanwhile. */
async function idOf({ stream, version }: BriefEvent, log: EventLog): Promise<string> {
  for await (const [event] of log.read(stream, { from: version, to: version })) return event?.id ?? "";
  return "";
}

async function describe(event: BriefEvent, error: unknown, log: EventLog): Promise<SkippedEvent> {
  const { position, stream, version, type } = event;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { position, eventId: await idOf(event, log), stream, version, type, error: text };
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export function createTableWriter(options: TableWriterOptions): TableWriter {
  const { projection, store, log, registry, onError = "stop", wait = sleep } = options;
  let table = options.table;
  let skippedCount = 0;
  const session = createRowSession(
    projection,
    store,
    table.table,
    // Nothing was committed yet and `init` wrote nothing: what is not in memory is not there.
    table.revision === 0 && projection.init === undefined,
  );

  /** Undefined: applied. */
  const tryOnce = (event: BriefEvent): { error: unknown } | "missing" | undefined => {
    const handler = projection.handlerFor(event.type);
    if (!handler) return undefined;
    session.begin();
    let failure: { error: unknown } | undefined;
    try {
      const data = registry.upcast(event.type, event.data, event.metadata.schema);
      // Handlers of brief events read no more of it than there is.
      const shown = event as RecordedEvent;
      handler(session.rows, data === event.data ? shown : { ...shown, data });
    } catch (error) {
      failure = { error };
    }
    if (session.missing) {
      session.rollback();
      return "missing";
    }
    if (failure) session.rollback();
    return failure;
  };

  const withRows = async (event: BriefEvent, first: ReturnType<typeof tryOnce>) => {
    let outcome = first;
    for (let loads = 0; outcome === "missing" && loads < maxLoadsPerEvent; loads++) {
      await session.load();
      outcome = tryOnce(event);
    }
    return outcome === "missing"
      ? { error: new Error("The handler asks for rows without an end.") }
      : outcome;
  };

  const retry = async (event: BriefEvent, first: { error: unknown }) => {
    if (typeof onError === "string") return first;
    let failure: { error: unknown } | undefined = first;
    for (let attempt = 1; failure && attempt < onError.attempts; attempt++) {
      await wait(onError.delayMs * 2 ** (attempt - 1));
      failure = await withRows(event, tryOnce(event));
    }
    return failure;
  };

  let last: string | undefined;
  let pending = 0;
  let skipped: SkippedEvent[] = [];

  const commit = async () => {
    if (last === undefined) return;
    const revision = await store.commit(table.table, {
      ...session.changes(),
      checkpoint: last,
      events: pending,
      skipped,
      expectedRevision: table.revision,
    });
    session.committed();
    skippedCount += skipped.length;
    table = { ...table, revision, checkpoint: last, events: table.events + pending };
    last = undefined;
    pending = 0;
    skipped = [];
  };

  const handleFailure = async (event: BriefEvent, first: { error: unknown }) => {
    const failure = await retry(event, first);
    if (!failure) return;
    const record = await describe(event, failure.error, log);
    if ((typeof onError === "string" ? onError : onError.otherwise) === "stop") {
      await commit();
      throw new PoisonEventError(projection.name, record, failure.error);
    }
    skipped.push(record);
  };

  return {
    get table() {
      return table;
    },
    get checkpoint() {
      return table.checkpoint;
    },
    get skipped() {
      return skippedCount;
    },
    get pending() {
      return pending;
    },
    commit,
    async apply(events) {
      const done = last ?? table.checkpoint ?? "";
      for (const event of events) {
        if (event.position <= done) continue;
        const first = tryOnce(event);
        const failure = first === "missing" ? await withRows(event, first) : first;
        if (failure) await handleFailure(event, failure);
        pending += 1;
        last = event.position;
      }
    },
  };
}
