import type { EventLog } from "../events/log/event-log.ts";
import {
  addTurn,
  checkVersion,
  followLineage,
  lineageTypes,
  noTurns,
  type Segment,
  type StreamTurns,
} from "./lineage.ts";

/** Forks and rewinds of many streams, read once. */
export interface LineageCache {
  /**
   * The version asked for (or the head) and what its state builds on.
   * @throws {UnknownThreadError} @throws {VersionOutOfRangeError} @throws {BrokenLineageError}
   */
  resolve(stream: string, version?: number): Promise<{ version: number; segments: readonly Segment[] }>;
  forget(stream: string): void;
}

interface Known {
  /** Version up to which the stream has been searched. */
  readonly to: number;
  readonly turns: StreamTurns;
}

const maxStreams = 10_000;

/** Recorded events never change, so what was found stays found; only what came since is searched. */
export function createLineageCache(log: EventLog): LineageCache {
  const known = new Map<string, Known>();

  const turnsOf = async (stream: string, version: number): Promise<StreamTurns> => {
    const before = known.get(stream) ?? { to: 0, turns: noTurns };
    if (version <= before.to) return before.turns;
    let { turns } = before;
    const range = { from: before.to + 1, to: version, types: lineageTypes };
    for await (const page of log.read(stream, range)) turns = page.reduce(addTurn, turns);
    known.delete(stream);
    known.set(stream, { to: version, turns });
    const [oldest] = known.keys();
    if (known.size > maxStreams && oldest !== undefined) known.delete(oldest);
    return turns;
  };

  return {
    async resolve(stream, version) {
      const resolved = await checkVersion(log, stream, version);
      return { version: resolved, segments: await followLineage(log, stream, resolved, turnsOf) };
    },
    forget: (stream) => void known.delete(stream),
  };
}
