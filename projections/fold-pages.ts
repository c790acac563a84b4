import type { FoldEvent } from "../events/envelope.ts";
import type { EventRegistry } from "../events/event-registry.ts";
import type { EventLog, FoldReadOptions, StoredFoldEvent } from "../events/log/event-log.ts";
import type { Segment } from "./lineage.ts";

/** Events of one segment, brought up to date and ready to fold. */
interface FoldPage {
  readonly segment: Segment;
  readonly events: readonly FoldEvent[];
}

/** Reads ranges of streams for a fold, by the store's fast way when it has one. */
export type FoldPages = (segments: readonly Segment[], types?: readonly string[]) => AsyncIterable<FoldPage>;

async function* plainPages(
  log: EventLog,
  stream: string,
  options: FoldReadOptions,
): AsyncGenerator<readonly StoredFoldEvent[]> {
  for await (const page of log.read(stream, options)) {
    yield page.map(({ type, data, version, metadata }) => ({ type, data, version, schema: metadata.schema }));
  }
}

/**
 * Gives the events of segments in order, upcast to the schemas that the registry knows.
 *
 * @throws {NewerSchemaError} from the iteration, when a newer version wrote an event
 */
export function createFoldPages(log: EventLog, registry: EventRegistry): FoldPages {
  const current = (event: StoredFoldEvent): FoldEvent => {
    const data = registry.upcast(event.type, event.data, event.schema);
    return data === event.data ? event : { type: event.type, data, version: event.version };
  };
  return async function* foldPages(segments, types) {
    for (const segment of segments) {
      const { stream, from, to } = segment;
      const options = types ? { from, to, types } : { from, to };
      const pages = log.readForFold?.(stream, options) ?? plainPages(log, stream, options);
      for await (const page of pages) yield { segment, events: page.map(current) };
    }
  };
}
