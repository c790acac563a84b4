import type { FoldEvent } from "../events/envelope.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import { lacksContent } from "../events/keys/seal-data.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { State, StateReducer } from "../reducers/thread-state.ts";
import { createFoldPages } from "./fold-pages.ts";
import { resolveLineage } from "./lineage.ts";
import { createStateHasher } from "./state-hash.ts";

/** A fold gave another state than the one that was recorded when the run ended. */
export interface Divergence {
  readonly stream: string;
  /** Version of the run's end. */
  readonly version: number;
  readonly runId: string;
  readonly recorded: string;
  readonly folded: string;
  /** State that the fold gave before the run's end. */
  readonly state: State;
}

export interface Refold {
  /** Events that were folded, those of parents included. */
  readonly events: number;
  /** Ends of runs whose recorded state hash was compared. */
  readonly checked: number;
  /** Ends of runs whose state could not be compared, because it had fields that these reducers do not know. */
  readonly unchecked: number;
  /** Ends of runs whose state cannot be compared any more, because content before them was erased or redacted. */
  readonly erased: number;
  /** Fields that are not known here. */
  readonly unknownFields: readonly string[];
  readonly state: State;
  /** Hash of `state`. */
  readonly stateHash: string;
  /** The first end of a run whose state came out otherwise. */
  readonly divergence: Divergence | undefined;
}

interface RunEnd {
  readonly runId?: string;
  readonly stateHash?: string;
  readonly stateFields?: readonly string[];
}

/** The part of a state that a recorded hash covers. */
function covered(state: State, fields: readonly string[] | undefined): State {
  if (!fields) return state;
  return Object.fromEntries(
    fields.filter((field) => Object.hasOwn(state, field)).map((field) => [field, state[field]]),
  );
}

const runEnds = new Set(["RunCompleted", "RunFailed", "RunCancelled", "RunInterrupted"]);

/**
 * Folds a thread from its first event, without snapshots or caches, and compares the state at each end of a run with
 * the hash that was recorded there, in the fields that the agent of the run had.
 *
 * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {BrokenLineageError}
 * @throws {NewerSchemaError} @throws {FoldError}
 * @example
 * const { divergence } = await refold(store.log, { registry, reducer }, "thread-0190c3…", 41);
 */
export async function refold(
  log: EventLog,
  { registry, reducer }: { readonly registry: EventRegistry; readonly reducer: StateReducer },
  stream: string,
  version: number,
  /** Ends of runs (`<stream>@<version>`) that were compared in another branch already; those of this fold are added. */
  compared: Set<string> = new Set(),
): Promise<Refold> {
  const hasher = createStateHasher();
  let state = reducer.initial;
  let events = 0;
  let checked = 0;
  let unchecked = 0;
  let erased = 0;
  let isWhole = true;
  const unknown = new Set<string>();
  let divergence: Divergence | undefined;
  for await (const page of createFoldPages(log, registry)(await resolveLineage(log, stream, version))) {
    let pending: FoldEvent[] = [];
    for (const event of page.events) {
      events += 1;
      const place = `${page.segment.stream}@${event.version}`;
      const isEnd = runEnds.has(event.type) && !compared.has(place);
      if (isEnd) compared.add(place);
      const { runId = "", stateHash, stateFields }: RunEnd = isEnd ? (event.data as RunEnd) : {};
      const foreign = stateFields?.filter((field) => !reducer.definitions.has(field)) ?? [];
      if (stateHash !== undefined && foreign.length > 0) {
        unchecked += 1;
        for (const field of foreign) unknown.add(field);
      } else if (stateHash !== undefined) {
        state = reducer.fold(pending, state);
        pending = [];
        const folded = hasher.hash(covered(state, stateFields));
        if (folded === stateHash) checked += 1;
        else if (!isWhole) erased += 1;
        else {
          checked += 1;
          divergence ??= {
            stream: page.segment.stream,
            version: event.version,
            runId,
            recorded: stateHash,
            folded,
            state,
          };
        }
      }
      if (isWhole && lacksContent(event.data)) isWhole = false;
      pending.push(event);
    }
    state = reducer.fold(pending, state);
  }
  return {
    events,
    checked,
    unchecked,
    erased,
    unknownFields: [...unknown],
    state,
    stateHash: hasher.hash(state),
    divergence,
  };
}
