import type { RecordedEvent } from "../envelope.ts";
import { chainStart } from "../hash-chain.ts";
import {
  DamagedEventError,
  type ReadOptions,
  type StoredFoldEvent,
  type StreamHead,
  type StreamSummary,
} from "./event-log.ts";
import { toPosition } from "./position.ts";
import { decodeEvent, decodeFoldEvent, eventColumns, foldColumns, hexOf } from "./postgres-rows.ts";
import type { PostgresRow, PostgresSession } from "./postgres-session.ts";
import type { TailPage } from "./tail.ts";

interface AfterOptions {
  readonly types?: readonly string[] | undefined;
  readonly stream?: string | undefined;
  readonly limit: number;
}

export const eventsPerPage = 500;
const summariesPerPage = 1000;

/** What can be asked of the tables; each call is one statement, `read` one for each page. */
export interface PostgresReader {
  heads(streams: readonly string[]): Promise<ReadonlyMap<string, StreamHead>>;
  read(stream: string, options: ReadOptions): AsyncGenerator<readonly RecordedEvent[], void>;
  readForFold(stream: string, options: ReadOptions): AsyncGenerator<readonly StoredFoldEvent[], void>;
  after(position: number, options: AfterOptions): Promise<TailPage>;
  lastPosition(): Promise<number>;
  /** Version of the last event with this id, looked for from a version on. */
  find(stream: string, id: string, from: number): Promise<number | undefined>;
  /** Position of the last event of a stream. */
  lastPositionOf(stream: string): Promise<string>;
  summaries(options: { prefix: string; after: string; limit: number }): Promise<StreamSummary[]>;
}

const noStream: StreamHead = { version: 0, hash: chainStart, deleted: false };

/** @param schema a name that needs no quotes */
export function createPostgresReader(session: PostgresSession, schema: string): PostgresReader {
  const select = (text: string, values: readonly unknown[]) => session.query("read", text, values);
  const events = `${schema}.events e JOIN ${schema}.streams s ON s.id = e.stream`;

  const heads = async (streams: readonly string[]) => {
    const rows = await select(
      `SELECT name, version, hash, deleted FROM ${schema}.streams WHERE name = ANY($1)`,
      [streams],
    );
    const found = rows.map(([name, version, hash, deleted]): [string, StreamHead] => [
      String(name),
      { version: Number(version), hash: hexOf(hash), deleted: deleted === "t" },
    ]);
    return new Map(found);
  };

  async function* pages<Event extends { readonly version: number }>(
    stream: string,
    options: ReadOptions,
    columns: string,
    decode: (row: PostgresRow) => Event,
  ): AsyncGenerator<readonly Event[], void> {
    const { from = 1, to = Number.POSITIVE_INFINITY, backwards = false, types } = options;
    const head = (await heads([stream])).get(stream) ?? noStream;
    if (head.deleted) return;
    let [low, high] = [Math.max(1, from), Math.min(head.version, to)];
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    const text = `
      SELECT ${columns} FROM ${events}
      WHERE s.name = $1 AND e.version BETWEEN $2 AND $3 AND ($4::text[] IS NULL OR e.type = ANY($4))
      ORDER BY e.version ${backwards ? "DESC" : ""} LIMIT $5`;
    while (left > 0 && low <= high) {
      const limit = Math.min(left, eventsPerPage);
      const page = (await select(text, [stream, low, high, types ?? null, limit])).map(decode);
      if (
        !types &&
        !isWhole(page, { first: backwards ? high : low, count: Math.min(limit, high - low + 1) })
      ) {
        if ((await heads([stream])).get(stream)?.deleted) return;
        throw new DamagedEventError(stream, firstMissing(page, backwards ? high : low), "its row is missing");
      }
      if (page.length > 0) yield page;
      const last = page.at(-1)?.version;
      if (last === undefined || page.length < limit) return;
      left -= page.length;
      if (backwards) high = last - 1;
      else low = last + 1;
    }
  }

  const conditionFor = (stream: string | undefined) =>
    stream === undefined
      ? "$4::text IS NULL"
      : `e.stream = (SELECT id FROM ${schema}.streams WHERE name = $4)`;

  return {
    heads,
    read: (stream, options) => pages(stream, options, eventColumns, decodeEvent),
    readForFold: (stream, options) =>
      pages(stream, options, foldColumns, (row) => decodeFoldEvent(row, stream)),
    async after(position, { types, stream, limit }) {
      const text = `
        SELECT ${eventColumns} FROM ${events}
        WHERE e.position > $1 AND ($2::text[] IS NULL OR e.type = ANY($2)) AND ${conditionFor(stream)}
        ORDER BY e.position LIMIT $3`;
      // The end before the page: what a filter leaves out up to there was looked at.
      const end = types || stream !== undefined ? await this.lastPosition() : position;
      const rows = await select(text, [position, types ?? null, limit, stream ?? null]);
      const found = rows.map(decodeEvent);
      const last = Number(rows.at(-1)?.[0] ?? position);
      return { events: found, through: rows.length < limit ? Math.max(end, last) : last };
    },
    async lastPosition() {
      const [row] = await select(`SELECT ${schema}.last_position()`, []);
      return Number(row?.[0] ?? 0);
    },
    async find(stream, id, from) {
      const [row] = await select(
        `SELECT max(e.version) FROM ${events} WHERE s.name = $1 AND e.version >= $2 AND e.id = $3`,
        [stream, from, id],
      );
      return row?.[0] ? Number(row[0]) : undefined;
    },
    async lastPositionOf(stream) {
      const [row] = await select(`SELECT max(e.position) FROM ${events} WHERE s.name = $1`, [stream]);
      return toPosition(Number(row?.[0] ?? 0));
    },
    async summaries({ prefix, after, limit }) {
      const found: StreamSummary[] = [];
      for (let last = after; found.length < limit; ) {
        const wanted = Math.min(limit - found.length, summariesPerPage);
        const rows = await select(
          `SELECT name, version, first_at, last_at FROM ${schema}.streams
           WHERE name > $1 AND name >= $2 AND starts_with(name, $2) AND version > 0 AND NOT deleted
           ORDER BY name LIMIT $3`,
          [last, prefix, wanted],
        );
        for (const [stream, version, first, end] of rows) {
          const times = { firstRecordedAt: String(first), lastRecordedAt: String(end) };
          found.push({ stream: String(stream), version: Number(version), ...times });
        }
        if (rows.length < wanted) break;
        last = found.at(-1)?.stream ?? last;
      }
      return found;
    },
  };
}

function isWhole(
  page: readonly { readonly version: number }[],
  expected: { readonly first: number; readonly count: number },
): boolean {
  const { first, count } = expected;
  // Versions are unique and in order: the first and the last of so many rows prove those between them.
  const span = Math.abs((page.at(-1)?.version ?? first) - first) + 1;
  return page.length === count && page[0]?.version === first && span === count;
}

function firstMissing(page: readonly { readonly version: number }[], first: number): number {
  const step = (page.at(-1)?.version ?? first) < first ? -1 : 1;
  const gap = page.findIndex(({ version }, index) => version !== first + index * step);
  return first + (gap < 0 ? page.length : gap) * step;
}
