import type { EventLog } from "../events/log/event-log.ts";
import type { Segment } from "./lineage.ts";

/** Events after which content of earlier events is gone: what was folded before them must not be used any more. */
export const erasingTypes: readonly string[] = ["ThreadErased", "ContentRedacted"];

interface Searched {
  /** Version up to which the stream was searched. */
  readonly version: number;
  /** Erasures since the stream was first asked about. */
  readonly erasures: number;
}

const maxStreams = 10_000;

/**
 * Tells whether a lineage may have lost content since it was last asked about: by an erasure or redaction in any of its
 * streams. Recorded events never change but for that, so everything else that is held in memory stays right.
 */
export function createErasureWatch(log: EventLog): (segments: readonly Segment[]) => Promise<boolean> {
  const searched = new Map<string, Searched>();
  /** Erasures of a whole lineage when it was last asked about, by its last stream. */
  const seen = new Map<string, number>();
  /** More streams were asked about than are remembered here: what seems to be new may have been asked about before. */
  let hasForgotten = false;

  const erasuresOf = async (stream: string): Promise<number> => {
    const { version } = await log.head(stream);
    // Nothing is held in memory of a stream before it is asked about: only what is erased from then on matters.
    const known = searched.get(stream) ?? { version, erasures: hasForgotten ? 1 : 0 };
    let { erasures } = known;
    if (version > known.version) {
      const range = { from: known.version + 1, to: version, types: erasingTypes };
      for await (const page of log.read(stream, range)) erasures += page.length;
    }
    searched.set(stream, { version, erasures });
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
    seen.set(last, erasures);
    if (searched.size > maxStreams) {
      searched.clear();
      seen.clear();
      hasForgotten = true;
    }
    return erasures !== before;
  };
}
