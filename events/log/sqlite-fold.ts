import type { Json } from "../json.ts";
import { DamagedEventError, type StoredFoldEvent } from "./event-log.ts";
import type { SqliteDatabase } from "./sqlite-driver.ts";
import { createStatements } from "./sqlite-statements.ts";
import { typeFilter } from "./sqlite-type-filter.ts";
import type { Words } from "./sqlite-words.ts";

/** Versions `from` to `to` of one stream, oldest first. */
export interface FoldRange {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  readonly types?: readonly string[] | undefined;
}

type FoldRow = readonly [version: number, type: number, schema: number, data: string];

function parse(data: string, stream: string, version: number): Json {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new DamagedEventError(stream, version, (cause as Error).message);
  }
}

/**
 * Reads the columns that a fold needs and no others. Measured against one `group_concat` text for each page: that is
 * as fast for short rows, slower as soon as a page is over 128 kB, and cannot name a damaged row.
 */
export function createFoldReader(database: SqliteDatabase, words: Words) {
  const statement = createStatements(database);

  return (range: FoldRange, streamNumber: number): StoredFoldEvent[] => {
    const { stream, from, to, limit, types } = range;
    const { index, condition, parameters } = typeFilter(words, types, "e");
    const sql = `
      SELECT e.version, e.type, e.schema, e.data FROM events e INDEXED BY ${index}
      WHERE e.stream = ? AND e.version BETWEEN ? AND ? ${condition}
      ORDER BY e.version LIMIT ?`;
    const rows = statement(sql).all(streamNumber, from, to, ...parameters, limit) as readonly unknown[];
    const events: StoredFoldEvent[] = [];
    for (const [version, typeNumber, schema, data] of rows as readonly FoldRow[]) {
      const type = words.wordOf(typeNumber);
      if (type === undefined) {
        throw new DamagedEventError(stream, version, `its type number ${typeNumber} has no name`);
      }
      events.push({ type, data: parse(data, stream, version), version, schema });
    }
    if (!types) {
      const count = Math.min(limit, to - from + 1);
      for (let index = 0; index < count; index++) {
        if (events[index]?.version !== from + index) {
          throw new DamagedEventError(stream, from + index, "its row is missing");
        }
      }
    }
    return events;
  };
}
