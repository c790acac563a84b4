import type { RecordedEvent } from "../envelope.ts";
import { chainStart } from "../hash-chain.ts";
import type { AsyncTailPage } from "./async-tail.ts";
import type { ReadOptions, StreamHead, StreamSummary } from "./event-log.ts";
import type { KurrentClient, KurrentFilter, KurrentRecord, KurrentResolved } from "./kurrentdb-client.ts";
import { decodeEvent, isOwnEvent, placeOf } from "./kurrentdb-events.ts";
import { errorType, type KurrentSession } from "./kurrentdb-session.ts";
import { fromPosition } from "./position.ts";

export const eventsPerPage = 500;
/** Our own notes of erased streams: no stream of a user has a name like it. */
export const erasedStream = "_threadfold-erased";

/** Streams of users: neither the system's nor our own notes. */
const ownStreams = /^[A-Za-z0-9]/;
const systemTypes = /^\$/;
const checkpointInterval = 10;

export const everyStream: KurrentFilter = {
  filterOn: "streamName",
  regex: ownStreams.source,
  checkpointInterval,
};

function filterFor(types: readonly string[] | undefined, stream: string | undefined): KurrentFilter {
  const exactly = (names: readonly string[]) => `^(?:${names.map(escapeRegex).join("|")})$`;
  if (stream !== undefined) return { ...everyStream, regex: exactly([stream]) };
  return types ? { filterOn: "eventType", regex: exactly(types), checkpointInterval } : everyStream;
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

interface Erasure {
  readonly version: number;
  readonly hash: string;
}

/** What is noted of an erasure before it, and again, `done`, after it. */
export interface ErasureNote extends Erasure {
  readonly stream: string;
  readonly done?: true;
}

/** How far the end of the log was searched for the last event of a user, and which that was. */
interface SearchedEnd {
  readonly through: number;
  readonly last: number;
}

interface PageWish {
  readonly types?: readonly string[] | undefined;
  readonly stream?: string | undefined;
  readonly limit: number;
  /** Erasures were asked for when this reading began, and need not be again. */
  readonly erasuresKnown?: boolean;
  /** Also finds out how far the server has come with all that was not asked for, so that it need not be read again. */
  readonly pastOthers?: boolean;
}

interface StreamWindow {
  readonly from: bigint | "start" | "end";
  readonly backwards: boolean;
  readonly count: number;
}

export interface KurrentReader {
  read(stream: string, options: ReadOptions): AsyncIterable<readonly RecordedEvent[]>;
  /** Events of all streams after a place. */
  after(place: number, wish: PageWish): Promise<AsyncTailPage & { readonly ended: boolean }>;
  /** Place of the last event of the log; 0: none. */
  lastPlace(): Promise<number>;
  head(stream: string): Promise<StreamHead>;
  summaries(): Promise<ReadonlyMap<string, StreamSummary>>;
}

/** Place of the last event of anybody. */
async function lastOfAll(client: KurrentClient): Promise<number> {
  const [last] = await collect(client.readAll({ direction: "backwards", fromPosition: "end", maxCount: 1 }));
  return last ? placeOf(last) : 0;
}

async function collect(events: AsyncIterable<KurrentResolved>): Promise<KurrentResolved[]> {
  const all: KurrentResolved[] = [];
  for await (const event of events) all.push(event);
  return all;
}

export function createKurrentReader(session: KurrentSession): KurrentReader {
  const erased = new Map<string, Erasure>();
  let erasuresRead = 0n;
  const known = new Map<string, StreamSummary>();
  let listedThrough = 0;
  let searched: SearchedEnd | undefined;

  /** Undefined: the stream is tombstoned. */
  const page = (stream: string, { from, backwards, count }: StreamWindow) =>
    session
      .repeat((client) =>
        collect(
          client.readStream(stream, {
            fromRevision: from,
            direction: backwards ? "backwards" : "forwards",
            maxCount: count,
          }),
        ),
      )
      .catch((error: unknown) => {
        if (errorType(error) === "stream-not-found") return [];
        if (errorType(error) === "stream-deleted") return undefined;
        throw error;
      });

  /** Notes of streams that were not tombstoned yet: somebody is at it, or died between the two. */
  const begun = new Map<string, Erasure>();

  const isTombstoned = async (stream: string) =>
    (await page(stream, { from: "end", backwards: true, count: 1 })) === undefined;

  const forget = (stream: string, erasure: Erasure) => {
    erased.set(stream, erasure);
    searched = undefined;
  };

  /** Others may use the server, too: what they wrote is passed over. Theirs in a stream of ours is found on reading it. */
  const isShown = (event: KurrentRecord) =>
    ownStreams.test(event.streamId) &&
    !systemTypes.test(event.type) &&
    isOwnEvent(event) &&
    !erased.has(event.streamId);

  /** The server keeps the events of tombstoned streams in $all until it is scavenged. */
  const readErasures = async () => {
    await readNotes();
    for (const [stream, erasure] of begun) {
      if (!(await isTombstoned(stream))) continue;
      begun.delete(stream);
      forget(stream, erasure);
    }
  };

  const readNotes = async () => {
    for (;;) {
      const events =
        (await page(erasedStream, { from: erasuresRead, backwards: false, count: eventsPerPage })) ?? [];
      for (const { event } of events) {
        if (!event) continue;
        const { stream, version, hash, done } = event.data as ErasureNote;
        if (done) {
          begun.delete(stream);
          forget(stream, { version, hash });
        } else if (!erased.has(stream)) begun.set(stream, { version, hash });
        erasuresRead = event.revision + 1n;
      }
      if (events.length < eventsPerPage) return;
    }
  };

  const reader: KurrentReader = {
    async *read(stream, options) {
      const { from = 1, backwards = false, types } = options;
      let { to = Number.POSITIVE_INFINITY, limit: left = Number.POSITIVE_INFINITY } = options;
      const wanted = types && new Set(types);
      let first = Math.max(1, from);
      while (left > 0 && first <= to) {
        // With types, nobody knows how many events must be read for so many.
        const count = Math.ceil(Math.min(eventsPerPage, wanted ? eventsPerPage : left, to - first + 1));
        const start = to === Number.POSITIVE_INFINITY ? "end" : BigInt(to - 1);
        const found = await page(stream, { from: backwards ? start : BigInt(first - 1), backwards, count });
        const events = (found ?? []).flatMap((resolved) =>
          resolved.event ? [decodeEvent(resolved.event, placeOf(resolved))] : [],
        );
        const picked = events
          .filter(({ version, type }) => version >= first && version <= to && (!wanted || wanted.has(type)))
          .slice(0, left);
        left -= picked.length;
        if (picked.length > 0) yield picked;
        const last = events.at(-1);
        if (!last || events.length < count) return;
        if (backwards) to = last.version - 1;
        else first = last.version + 1;
      }
    },
    async after(place, { types, stream, limit, erasuresKnown = false, pastOthers = false }) {
      const at = BigInt(place);
      // With one client, so that the same server answers both: another may not have come as far.
      const { found, end } = await session.repeat(async (client) => ({
        end: pastOthers ? await lastOfAll(client) : 0,
        found: await collect(
          client.readAll({
            direction: "forwards",
            // Inclusive: the event at the place itself comes again.
            fromPosition: place === 0 ? "start" : { commit: at, prepare: at },
            maxCount: limit + 1,
            filter: filterFor(types, stream),
          }),
        ),
      }));
      const isNew = (resolved: KurrentResolved) => placeOf(resolved) > place;
      if (!erasuresKnown && found.some(isNew)) await readErasures();
      const wanted = types && new Set(types);
      const events: RecordedEvent[] = [];
      let through = place;
      for (const resolved of found) {
        const { event } = resolved;
        const at = placeOf(resolved);
        if (!event || at <= place || events.length >= limit) continue;
        through = at;
        if (!isShown(event) || (wanted && !wanted.has(event.type))) continue;
        if (stream !== undefined && event.streamId !== stream) continue;
        events.push(decodeEvent(event, at));
      }
      const ended = found.length <= limit;
      return { events, through: ended ? Math.max(through, end) : through, ended };
    },
    async lastPlace() {
      await readErasures();
      const before = searched;
      let newest = 0;
      const ending = (last: number) => {
        searched = { through: newest, last };
        return last;
      };
      let from: bigint | undefined;
      for (let count = 10; ; count = eventsPerPage) {
        const at = from;
        const found = await session.repeat((client) =>
          collect(
            client.readAll({
              direction: "backwards",
              fromPosition: at === undefined ? "end" : { commit: at, prepare: at },
              maxCount: count,
              filter: everyStream,
            }),
          ),
        );
        const [first] = found;
        if (from === undefined && first) newest = placeOf(first);
        const last = found.find(({ event }) => event && isShown(event));
        if (last) return ending(placeOf(last));
        const oldest = found.at(-1);
        if (!oldest || found.length < count) return ending(0);
        if (before && placeOf(oldest) <= before.through) return ending(before.last);
        from = BigInt(placeOf(oldest));
      }
    },
    async head(stream) {
      const found = await page(stream, { from: "end", backwards: true, count: 1 });
      const [last] = found ?? [];
      if (last?.event) {
        const { version, metadata } = decodeEvent(last.event, placeOf(last));
        return { version, hash: metadata.hash, deleted: false };
      }
      if (found) return { version: 0, hash: chainStart, deleted: false };
      await readErasures();
      return { ...(erased.get(stream) ?? { version: 0, hash: chainStart }), deleted: true };
    },
    async summaries() {
      for (let ended = false; !ended; ) {
        const next = await reader.after(listedThrough, { limit: eventsPerPage });
        for (const { stream, version, recordedAt, position } of next.events) {
          if (fromPosition(position) <= listedThrough) continue;
          const firstRecordedAt = known.get(stream)?.firstRecordedAt ?? recordedAt;
          known.set(stream, { stream, version, firstRecordedAt, lastRecordedAt: recordedAt });
        }
        listedThrough = Math.max(listedThrough, next.through);
        ended = next.ended;
      }
      for (const stream of erased.keys()) known.delete(stream);
      return known;
    },
  };
  return reader;
}
