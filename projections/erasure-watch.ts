import type { EventLog } from "../events/log/event-log.ts";
import type { Segment } from "./lineage.ts";

/** Events after which content of earlier events is gone: what was folded before them must not be used any more. */
export const erasingTypes: readonly string[] = ["ThreadErased", "ContentRedacted"];

interface Searched {
  /** Version up to which the stream was searched. */
  readonly version: number;
  readonly erasures: number;
}

const maxStreams = 10_000;

/** Puts an entry last; the one that was used longest ago goes when there are too many. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxStreams && oldest !== undefined) map.delete(oldest);
}

/**
 * Tells whether a lineage may have lost content since it was last asked about: by an erasure or redaction in any of its
 * streams. Recorded events never change but for that, so everything else that is held in memory stays right.
 */
export function createErasureWatch(log: EventLog): (segments: readonly Segment[]) => Promise<boolean> {
  const searched = new Map<string, Searched>();
  /** Erasures of a whole lineage when it was last asked about, by its last stream. */
  const seen = new Map<string, number>();

  const erasuresOf = async (stream: string): Promise<number> => {
    const known = searched.get(stream) ?? { version: 0, erasures: 0 };
    const { version } = await log.head(stream);
    let { erasures } = known;
    if (version > known.version) {
      const range = { from: known.version + 1, to: version, types: erasingTypes };
      for await (const page of log.read(stream, range)) erasures += page.length;
    }
    remember(searched, stream, { version, erasures });
    return erasures;
  };

  return async (segments) => {
    const last = segments.at(-1)?.stream;
    if (last === undefined) return false;
    let erasures = 0;
    for (const stream of new Set(segments.map((segment) => segment.stream))) {
      erasures += await erasuresOf(stream);
    }
    const before = seen.get(last) ?? 0;
    remember(seen, last, erasures);
    return erasures !== before;
  };
}
