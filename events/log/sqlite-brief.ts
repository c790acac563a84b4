import type { BriefEvent } from "../envelope.ts";
import { DamagedEventError } from "./event-log.ts";
import { toPosition } from "./position.ts";
import type { SqliteDatabase, SqlRow, SqlValue } from "./sqlite-driver.ts";
import { decodeTime } from "./sqlite-rows.ts";
import type { Words } from "./sqlite-words.ts";

/** Type and schema travel as one number, and no name is joined: each column less saves five percent. */
const schemas = 2 ** 32;

/** Columns for a brief decoder, of `events e`. */
export const briefColumns = `e.position, e.stream, e.version, e.type * ${schemas} + e.schema, e.at, e.run, e.data`;

type BriefRow = readonly [
  position: number,
  stream: number,
  version: number,
  kind: number,
  at: SqlValue,
  run: number | null,
  data: SqlValue,
];

interface PassedStream {
  readonly name: string;
  /** The last version that came by. */
  version: number;
}

/** Streams and runs that a pass remembers; what it forgot is looked up again. */
const maxRemembered = 20_000;

/** Makes brief events of the rows of one pass over the log, page by page. */
export type BriefDecoder = (rows: readonly SqlRow[]) => BriefEvent[];

/**
 * A decoder for one pass: names of streams and runs are looked up when they first come by, and not for every event.
 *
 * @param isWhole the pass leaves no event out, so that one which is missing in its stream is found
 */
export function createBriefDecoder(database: SqliteDatabase, words: Words, isWhole: boolean): BriefDecoder {
  const selectStream = database.prepare("SELECT name FROM streams WHERE id = ?");
  const selectRun = database.prepare("SELECT run FROM runs WHERE id = ?");
  const selectVersion = database.prepare("SELECT 1 FROM events WHERE stream = ? AND version = ?");
  const streams = new Map<number, PassedStream>();
  const runs = new Map<number, BriefEvent["metadata"]>();
  const outsideRuns = new Map<number, BriefEvent["metadata"]>();

  const streamOf = (row: BriefRow): PassedStream => {
    const [, number, version] = row;
    const known = streams.get(number);
    if (known) return known;
    const name = selectStream.get(number)?.[0];
    if (typeof name !== "string") {
      throw new DamagedEventError(`#${number}`, version, `its stream number ${number} has no name`);
    }
    if (streams.size >= maxRemembered) streams.clear();
    const stream = { name, version: 0 };
    streams.set(number, stream);
    return stream;
  };

  const follow = (stream: PassedStream, number: number, version: number) => {
    if (stream.version !== version - 1 && !selectVersion.get(number, version - 1)) {
      throw new DamagedEventError(stream.name, version - 1, "its row is missing");
    }
    stream.version = version;
  };

  /** Events of one run share their metadata. */
  const metadataOf = (run: number | null, schema: number): BriefEvent["metadata"] => {
    const known = run === null ? outsideRuns.get(schema) : runs.get(run);
    if (known?.schema === schema) return known;
    const runId = run === null ? undefined : (known?.runId ?? selectRun.get(run)?.[0]);
    const metadata = Object.freeze(typeof runId === "string" ? { schema, runId } : { schema });
    if (run === null) {
      outsideRuns.set(schema, metadata);
    } else {
      if (runs.size >= maxRemembered) runs.clear();
      runs.set(run, metadata);
    }
    return metadata;
  };

  const decode = (row: BriefRow): BriefEvent => {
    const [position, number, version, kind, at, run, data] = row;
    const stream = streamOf(row);
    if (isWhole) follow(stream, number, version);
    const type = words.wordOf(Math.floor(kind / schemas));
    if (type === undefined) throw new DamagedEventError(stream.name, version, "its type number has no name");
    try {
      return {
        type,
        data: JSON.parse(data as string),
        stream: stream.name,
        version,
        position: toPosition(position),
        recordedAt: decodeTime(at),
        metadata: metadataOf(run, kind % schemas),
      };
    } catch (cause) {
      throw new DamagedEventError(stream.name, version, (cause as Error).message);
    }
  };

  return (rows) => (rows as readonly unknown[] as readonly BriefRow[]).map(decode);
}
