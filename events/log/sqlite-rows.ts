import type { Emitter, RecordedEvent } from "../envelope.ts";
import { chainStart, type SealedEvent } from "../hash-chain.ts";
import { DamagedEventError } from "./event-log.ts";
import { toPosition } from "./position.ts";
import type { SqliteDatabase, SqlRow, SqlValue } from "./sqlite-driver.ts";
import type { Words } from "./sqlite-words.ts";

/*
 * How an event becomes a row:
 *   type, by       numbers of the words table
 *   id             16 bytes when it is a lower-case UUID, otherwise text
 *   at             milliseconds since 1970 when the text is what Date makes of them, otherwise the text
 *   run            row of the runs table, NULL outside a run
 *   cause          NULL: the event itself; a number: so many versions before it in its stream; otherwise the id as text
 *   correlation    NULL: the run id, or outside a run the event's own id; otherwise text
 *   hash           32 bytes
 *   data           the JSON text as JSON.stringify made it, order of keys and all
 */

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function encodeId(id: string): SqlValue {
  return uuid.test(id) ? Buffer.from(id.replaceAll("-", ""), "hex") : id;
}

/** SQL that gives an id column as text: bytes as hex digits, a text behind "=". */
export const idText = (column: string) =>
  `CASE typeof(${column}) WHEN 'blob' THEN lower(hex(${column})) ELSE '=' || ${column} END`;

export function decodeId(text: string): string {
  if (text.startsWith("=")) return text.slice(1);
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

let lastTime: { readonly text: string; readonly encoded: SqlValue } = { text: "", encoded: "" };

/** Events come in batches of one time. */
function encodeTime(recordedAt: string): SqlValue {
  if (recordedAt === lastTime.text) return lastTime.encoded;
  const time = Date.parse(recordedAt);
  const isExact = !Number.isNaN(time) && new Date(time).toISOString() === recordedAt;
  lastTime = { text: recordedAt, encoded: isExact ? time : recordedAt };
  return lastTime.encoded;
}

let lastDecoded = { at: 0, text: "1970-01-01T00:00:00.000Z" };

/** @throws {RangeError} a number that is no time */
export function decodeTime(at: SqlValue): string {
  if (typeof at !== "number") return String(at);
  if (at !== lastDecoded.at) lastDecoded = { at, text: new Date(at).toISOString() };
  return lastDecoded.text;
}

/** What the row of an event refers to. */
export interface RowReferences {
  readonly stream: number;
  readonly type: number;
  readonly by: number;
  readonly run: number | null;
  /** Versions between the event and the one that caused it; undefined: the cause is not in reach in this stream. */
  readonly causeDistance: number | undefined;
}

export const insertEvent = `
  INSERT INTO events
    (position, stream, version, type, schema, by, id, at, run, step, cause, correlation, trace, hash, data)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Parameters of `insertEvent`. */
export function encodeEvent(
  event: SealedEvent,
  dataText: string,
  position: number,
  { stream, type, by, run, causeDistance }: RowReferences,
): SqlValue[] {
  const { id, version, recordedAt, metadata } = event;
  const { schema, step = null, causationId, correlationId, runId = id, traceparent = null, hash } = metadata;
  const cause = causationId === id ? null : (causeDistance ?? causationId);
  const correlation = correlationId === runId ? null : correlationId;
  const at = encodeTime(recordedAt);
  const hashBytes = Buffer.from(hash, "hex");
  return [
    position,
    stream,
    version,
    type,
    schema,
    by,
    encodeId(id),
    at,
    run,
    step,
    cause,
    correlation,
    traceparent,
    hashBytes,
    dataText,
  ];
}

/** Columns for `decodeRows`, of `events e` with its run and stream joined as `r` and `s`. */
export const eventColumns = `
  e.position, e.stream, s.name, e.version, e.type, e.schema, e.by, ${idText("e.id")}, e.at, r.run, e.step,
  e.cause, e.correlation, e.trace, lower(hex(e.hash)), e.data`;
/** Columns of `eventColumns`: what a query adds comes behind them. */
export const eventColumnCount = 16;
export const eventJoins = "LEFT JOIN runs r ON r.id = e.run LEFT JOIN streams s ON s.id = e.stream";

type EventRow = readonly [
  position: number,
  streamNumber: number,
  stream: string | null,
  version: number,
  type: number,
  schema: number,
  by: number,
  id: string,
  at: SqlValue,
  runId: string | null,
  step: number | null,
  cause: SqlValue,
  correlation: string | null,
  trace: string | null,
  hash: string,
  data: SqlValue,
];

interface Link {
  readonly id: string;
  readonly hash: string;
}

/** Finds what an event refers to in its stream. */
type FindLink = (stream: number, version: number) => Link | undefined;

type WritableMetadata = {
  -readonly [Key in keyof RecordedEvent["metadata"]]: RecordedEvent["metadata"][Key];
};

/** The word of a number, or the reason why the row is damaged. */
function wordOf(words: Words, number: number, row: EventRow, what: string): string {
  const word = words.wordOf(number);
  if (word === undefined) throw damaged(row, `its ${what} number ${number} has no name`);
  return word;
}

function damaged(row: EventRow, reason: string): DamagedEventError {
  return new DamagedEventError(row[2] ?? `#${row[1]}`, row[3], reason);
}

function causeOf(row: EventRow, id: string, findLink: FindLink): string {
  const [stream, version, cause] = [row[1], row[3], row[11]];
  if (cause === null) return id;
  if (typeof cause !== "number") return String(cause);
  const link = findLink(stream, version - cause);
  if (!link) throw damaged(row, `its cause, ${cause} versions before it, is missing`);
  return link.id;
}

function previousHashOf(row: EventRow, findLink: FindLink): string {
  const [stream, version] = [row[1], row[3]];
  if (version === 1) return chainStart;
  const link = findLink(stream, version - 1);
  if (!link) throw new DamagedEventError(row[2] ?? `#${stream}`, version - 1, "its row is missing");
  return link.hash;
}

/** No spreads and no closures: this runs for every event that is read. */
function decodeRow(row: EventRow, words: Words, findLink: FindLink): RecordedEvent {
  const [position, number, stream, version, type, schema, by, idOfRow, at, runId, step] = row;
  const [correlation, trace, hash, data] = [row[12], row[13], row[14], row[15]];
  if (stream === null) throw damaged(row, `its stream number ${number} has no name`);
  const id = decodeId(idOfRow);
  const metadata: Partial<WritableMetadata> = {
    schema,
    by: wordOf(words, by, row, "emitter") as Emitter,
    causationId: causeOf(row, id, findLink),
    correlationId: correlation ?? runId ?? id,
  };
  if (runId !== null) metadata.runId = runId;
  if (step !== null) metadata.step = step;
  if (trace !== null) metadata.traceparent = trace;
  metadata.hash = hash;
  metadata.previousHash = previousHashOf(row, findLink);
  try {
    return {
      id,
      type: wordOf(words, type, row, "type"),
      data: JSON.parse(data as string),
      stream,
      version,
      position: toPosition(position),
      recordedAt: decodeTime(at),
      metadata: metadata as WritableMetadata,
    };
  } catch (error) {
    throw error instanceof DamagedEventError ? error : damaged(row, (error as Error).message);
  }
}

/** Makes events of rows again; what a row refers to is looked up among the rows given with it, then in the file. */
export function createRowDecoder(database: SqliteDatabase, words: Words) {
  const selectLink = database.prepare(
    `SELECT ${idText("id")}, lower(hex(hash)) FROM events WHERE stream = ? AND version = ?`,
  );

  /** @param rows in order of version within each stream */
  return function decodeRows(rows: readonly SqlRow[]): RecordedEvent[] {
    const links = new Map<number, Map<number, Link>>();
    const findLink: FindLink = (stream, version) => {
      const known = links.get(stream)?.get(version);
      if (known) return known;
      const row = selectLink.get(stream, version) as [string, string] | undefined;
      return row && { id: decodeId(row[0]), hash: row[1] };
    };
    return (rows as readonly unknown[] as readonly EventRow[]).map((row) => {
      const event = decodeRow(row, words, findLink);
      let ofStream = links.get(row[1]);
      if (!ofStream) {
        ofStream = new Map();
        links.set(row[1], ofStream);
      }
      ofStream.set(event.version, { id: event.id, hash: event.metadata.hash });
      return event;
    });
  };
}
