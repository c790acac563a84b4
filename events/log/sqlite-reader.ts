import type { BriefEvent, RecordedEvent } from "../envelope.ts";
import { chainStart } from "../hash-chain.ts";
import { DamagedEventError, type StoredFoldEvent, type StreamHead, type StreamSummary } from "./event-log.ts";
import { briefColumns, createBriefDecoder } from "./sqlite-brief.ts";
import type { SqliteDatabase, SqlRow } from "./sqlite-driver.ts";
import { createFoldReader, type FoldRange } from "./sqlite-fold.ts";
import {
  createRowDecoder,
  decodeId,
  decodeTime,
  eventColumnCount,
  eventColumns,
  eventJoins,
  idText,
} from "./sqlite-rows.ts";
import { createStatements } from "./sqlite-statements.ts";
import { typeFilter } from "./sqlite-type-filter.ts";
import type { Words } from "./sqlite-words.ts";
import type { TailPage } from "./tail.ts";

/** Head of a stream with its number in the file, which it gets with its first event. */
interface SqliteHead extends StreamHead {
  readonly number: number | undefined;
}

/** Versions `from` to `to` of one stream, oldest first unless `backwards`. */
interface StreamRange {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  readonly backwards?: boolean;
  readonly limit: number;
  readonly types?: readonly string[] | undefined;
}

interface PassOptions {
  readonly types?: readonly string[] | undefined;
  readonly limit: number;
}

interface AfterOptions extends PassOptions {
  readonly stream?: string | undefined;
}

/** What can be asked of the file. All of it is synchronous; a call reads one page at most. */
export interface SqliteReader {
  head(stream: string): SqliteHead;
  /** @throws {DamagedEventError} */
  range(range: StreamRange): RecordedEvent[];
  /** @throws {DamagedEventError} */
  foldRange(range: FoldRange): StoredFoldEvent[];
  /** @throws {DamagedEventError} */
  after(position: number, options: AfterOptions): TailPage;
  /** Begins a pass over all streams: gives a function that reads a page after a position, which throws `DamagedEventError`. */
  briefly(types?: readonly string[]): (position: number, limit: number) => TailPage<BriefEvent>;
  lastPosition(): number;
  /** Ids of the events of a stream from a version on. */
  idsFrom(stream: number, version: number): [id: string, version: number][];
  summaries(options: { prefix: string; after: string; limit: number }): StreamSummary[];
}

/** Positions that one query with a filter looks through at most. */
const positionsPerScan = 5000;

export function createReader(database: SqliteDatabase, words: Words): SqliteReader {
  const statement = createStatements(database);
  const decodeRows = createRowDecoder(database, words);
  const selectStream = database.prepare(
    "SELECT id, deleted_version, lower(hex(deleted_hash)) FROM streams WHERE name = ?",
  );
  const selectHead = database.prepare(
    "SELECT version, lower(hex(hash)) FROM events WHERE stream = ? ORDER BY version DESC LIMIT 1",
  );
  const selectLast = database.prepare("SELECT max(position) FROM events");
  const selectErased = database.prepare("SELECT value FROM meta WHERE key = 'erased_through'");
  const selectIds = database.prepare(
    `SELECT ${idText("id")}, version FROM events WHERE stream = ? AND version >= ? ORDER BY version`,
  );
  const selectSummaries = database.prepare(`
    SELECT s.name, l.version, f.at, l.at
    FROM streams s
    LEFT JOIN events l ON l.stream = s.id AND l.version = (SELECT max(version) FROM events WHERE stream = s.id)
    LEFT JOIN events f ON f.stream = s.id AND f.version = 1
    WHERE s.name > ? AND s.name >= ? AND s.name < ? AND s.deleted_version IS NULL
    ORDER BY s.name LIMIT ?`);

  const head = (stream: string): SqliteHead => {
    const row = selectStream.get(stream) as [number, number | null, string] | undefined;
    if (!row) return { number: undefined, version: 0, hash: chainStart, deleted: false };
    const [number, deletedVersion, deletedHash] = row;
    if (deletedVersion !== null) return { number, version: deletedVersion, hash: deletedHash, deleted: true };
    const last = selectHead.get(number) as [number, string] | undefined;
    if (!last) throw new DamagedEventError(stream, 1, "none of its events is found");
    const [version, hash] = last;
    return { number, version, hash, deleted: false };
  };

  /** Versions come from the index and must agree with the rows: neither can be changed without the other. */
  const checkRows = (rows: readonly SqlRow[], number: number, range: StreamRange) => {
    const { stream, from, to, backwards, limit, types } = range;
    for (const row of rows) {
      if (row[eventColumnCount] !== row[3] || row[1] !== number) {
        const version = row[eventColumnCount] as number;
        throw new DamagedEventError(
          stream,
          version,
          `its row says it is version ${row[3]} of stream #${row[1]}`,
        );
      }
    }
    if (types) return;
    const step = backwards ? -1 : 1;
    const expectedRows = Math.min(limit, to - from + 1);
    for (let index = 0; index < expectedRows; index++) {
      const version = (backwards ? to : from) + index * step;
      if (rows[index]?.[3] !== version) throw new DamagedEventError(stream, version, "its row is missing");
    }
  };

  const range = (asked: StreamRange): RecordedEvent[] => {
    const { number, deleted, version } = head(asked.stream);
    const clamped = { ...asked, from: Math.max(1, asked.from), to: Math.min(version, asked.to) };
    const { from, to, backwards, limit, types } = clamped;
    if (number === undefined || deleted || from > to || limit <= 0) return [];
    const { index, condition, parameters } = typeFilter(words, types, "i");
    const sql = `
      SELECT ${eventColumns}, i.version
      FROM events i INDEXED BY ${index} CROSS JOIN events e ON e.position = i.position ${eventJoins}
      WHERE i.stream = ? AND i.version BETWEEN ? AND ? ${condition}
      ORDER BY i.version ${backwards ? "DESC" : ""} LIMIT ?`;
    const rows = statement(sql).all(number, from, to, ...parameters, limit);
    checkRows(rows, number, clamped);
    return backwards ? decodeRows(rows.reverse()).reverse() : decodeRows(rows);
  };

  const readForFold = createFoldReader(database, words);
  const foldRange = (asked: FoldRange): StoredFoldEvent[] => {
    const { number, deleted, version } = head(asked.stream);
    if (number === undefined || deleted) return [];
    return readForFold({ ...asked, from: Math.max(1, asked.from), to: Math.min(version, asked.to) }, number);
  };

  const lastPosition = () =>
    Math.max(Number(selectLast.get()?.[0] ?? 0), Number(selectErased.get()?.[0] ?? 0));

  const afterInStream = (
    position: number,
    stream: string,
    condition: string,
    parameters: readonly number[],
    limit: number,
  ) =>
    statement(`
      SELECT ${eventColumns} FROM events e ${eventJoins}
      WHERE e.stream = (SELECT id FROM streams WHERE name = ?)
        AND e.version > coalesce((
          SELECT version FROM events b
          WHERE b.stream = (SELECT id FROM streams WHERE name = ?) AND b.position <= ?
          ORDER BY b.version DESC LIMIT 1), 0)
        ${condition}
      ORDER BY e.version LIMIT ?`).all(stream, stream, position, ...parameters, limit);

  const rowsAfter = (position: number, options: AfterOptions, columns: string): TailPage<SqlRow> => {
    const { types, stream, limit } = options;
    const end = lastPosition();
    if (position >= end) return { events: [], through: position };
    const { condition, parameters } = typeFilter(words, types, "e");
    let through = end;
    let rows: SqlRow[];
    if (stream !== undefined) {
      rows = afterInStream(position, stream, condition, parameters, limit);
    } else {
      if (types) through = Math.min(end, position + positionsPerScan);
      const sql = `
        SELECT ${columns}
        WHERE e.position > ? AND e.position <= ? ${condition} ORDER BY e.position LIMIT ?`;
      rows = statement(sql).all(position, through, ...parameters, limit);
    }
    if (rows.length >= limit) through = (rows.at(-1)?.[0] as number | undefined) ?? through;
    return { events: rows, through };
  };

  const after = (position: number, options: AfterOptions): TailPage => {
    const { events: rows, through } = rowsAfter(
      position,
      options,
      `${eventColumns} FROM events e ${eventJoins}`,
    );
    return { events: decodeRows(rows), through };
  };

  /** One snapshot of the file for everything that `read` looks at. */
  const inOneSnapshot =
    <Arguments extends readonly unknown[], Result>(read: (...parameters: Arguments) => Result) =>
    (...parameters: Arguments): Result => {
      if (database.isTransaction) return read(...parameters);
      statement("BEGIN").run();
      try {
        return read(...parameters);
      } finally {
        statement("COMMIT").run();
      }
    };

  return {
    head: inOneSnapshot(head),
    range: inOneSnapshot(range),
    foldRange: inOneSnapshot(foldRange),
    after: inOneSnapshot(after),
    briefly(types) {
      const decode = createBriefDecoder(database, words, types === undefined);
      return inOneSnapshot((position, limit) => {
        const { events: rows, through } = rowsAfter(
          position,
          { types, limit },
          `${briefColumns} FROM events e`,
        );
        return { events: decode(rows), through };
      });
    },
    lastPosition: inOneSnapshot(lastPosition),
    idsFrom: (stream, version) =>
      (selectIds.all(stream, version) as unknown as [string, number][]).map(([id, at]) => [decodeId(id), at]),
    summaries({ prefix, after: afterName, limit }) {
      // "~" sorts after every character that a stream name may have.
      const rows = selectSummaries.all(afterName, prefix, `${prefix}~`, limit);
      return rows.map(([stream, version, first, last]) => {
        if (version === null) throw new DamagedEventError(String(stream), 1, "none of its events is found");
        return {
          stream: String(stream),
          version: Number(version),
          firstRecordedAt: decodeTime(first ?? null),
          lastRecordedAt: decodeTime(last ?? null),
        };
      });
    },
  };
}
