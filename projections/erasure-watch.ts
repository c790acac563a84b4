import type { EventLog } from "../events/log/event-log.ts";
import type { Segment } from "./lineage.ts";

/** Events after which content of earlier events is gone: what was folded before them must not be used any more. */
export const erasingTypes: readonly string[] = ["ThreadErased", "ContentRedacted"];

const maxStreams = 10_000;

/**
 * Tells which streams lost content since they were last looked at. Recorded events never change but for that, so
 * everything else that is held in memory stays right.
 */
export function createErasureWatch(
  log: EventLog,
): (segments: readonly Segment[]) => Promise<readonly string[]> {
  /** Version up to which a stream was searched. */
  const searched = new Map<string, number>();
  return async (segments) => {
    const erased: string[] = [];
    for (const stream of new Set(segments.map((segment) => segment.stream))) {
      const before = searched.get(stream) ?? 0;
      const { version } = await log.head(stream);
      if (version === before) continue;
      let found = false;
      for await (const page of log.read(stream, { from: before + 1, to: version, types: erasingTypes })) {
        found ||= page.length > 0;
      }
      if (found) erased.push(stream);
      searched.delete(stream);
      searched.set(stream, version);
      const [oldest] = searched.keys();
      if (searched.size > maxStreams && oldest !== undefined) searched.delete(oldest);
    }
    return erased;
  };
}
