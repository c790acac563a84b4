import { sha256 } from "../hash-chain.ts";
import type { Json } from "../json.ts";
import { storableJson } from "../storable-json.ts";
import type { KurrentClient, KurrentEventData, KurrentResolved } from "./kurrentdb-client.ts";
import { errorType, isTransient, type KurrentSession } from "./kurrentdb-session.ts";
import { checkRecordName, SideConflict, type SideRecord, type SideStore } from "./side-store.ts";

/** Streams of side records begin like this: no stream of a user does, and reads of the whole log leave them out. */
const sidePrefix = "_threadfold-side";
/** Bytes of one part of a large value, before base64: an append of servers up to 25.0 takes 1 MiB. */
const bytesPerPart = 600_000;
const keysPerPage = 500;
const recordsAtOnce = 16;

/** What the last event of a record's stream says. `entry`: the record's line in the index of its kind. */
interface StoredRecord {
  readonly key: string;
  /** 0: deleted. */
  readonly revision: number;
  readonly entry: string;
  readonly value?: Json;
  /** Where the value is when it is too large for one event. */
  readonly parts?: string;
}

type IndexLine = { readonly key: string; readonly entry: string } | { readonly removed: string };

/** The keys of one kind as far as its index was read. */
interface Index {
  readonly keys: Map<string, string>;
  next: bigint;
}

interface Found {
  /** Revision of the stream; undefined: there is none. */
  readonly at: bigint | undefined;
  readonly record: StoredRecord | undefined;
}

const plainKey = /^[A-Za-z0-9._:/|-]{1,120}$/;

function streamOf(kind: string, key: string): string {
  // A digest cannot be mistaken for a key that is written out: those have no `~`.
  const name = plainKey.test(kind) && plainKey.test(key) ? `${kind}/${key}` : `~${sha256(`${kind}\n${key}`)}`;
  return `${sidePrefix}-${name}`;
}

function indexOf(kind: string): string {
  return `${sidePrefix}s-${plainKey.test(kind) ? kind : `~${sha256(kind)}`}`;
}

function eventOf(type: string, data: unknown): KurrentEventData {
  return { id: crypto.randomUUID(), type, contentType: "application/json", data, metadata: {} };
}

/**
 * Side records on the server itself, so that machines which share a log share them, too: one stream for each record, of
 * which the server keeps the last event (`$maxCount`), and one stream for each kind that lists its keys. Writes name the
 * exact revision of the record's stream, so that one of two wins.
 */
export function createKurrentSide(session: KurrentSession): SideStore {
  const indexes = new Map<string, Index>();

  const collect = async (
    stream: string,
    options: Parameters<KurrentClient["readStream"]>[1],
  ): Promise<KurrentResolved[]> => {
    try {
      return await session.repeat(async (client) => {
        const events: KurrentResolved[] = [];
        for await (const event of client.readStream(stream, options)) events.push(event);
        return events;
      });
    } catch (error) {
      if (errorType(error) === "stream-not-found" || errorType(error) === "stream-deleted") return [];
      throw error;
    }
  };

  const find = async (stream: string): Promise<Found> => {
    const options = { fromRevision: "end", direction: "backwards", maxCount: 1 } as const;
    const last = (await collect(stream, options)).at(0)?.event;
    return { at: last?.revision, record: last?.data as StoredRecord | undefined };
  };

  /** The same event at the same revision again is the same write, so a call without an answer is repeated. */
  const write = async (stream: string, at: bigint | undefined, event: KurrentEventData): Promise<boolean> => {
    const expected = at ?? "no_stream";
    const options = { streamState: expected, expectedRevision: expected } as const;
    try {
      await session.repeat((client) => client.appendToStream(stream, [event], options));
      return true;
    } catch (error) {
      if (errorType(error) === "wrong-expected-version") return false;
      throw isTransient(error) || errorType(error) !== "" ? session.unavailable(error) : error;
    }
  };

  /** Where in the order nobody minds. Twice does no harm. */
  const add = (stream: string, event: KurrentEventData) =>
    session.repeat((client) =>
      client.appendToStream(stream, [event], { streamState: "any", expectedRevision: "any" }),
    );

  const keepLastOnly = (stream: string) => add(`$$${stream}`, eventOf("$metadata", { $maxCount: 1 }));

  const writeParts = async (bytes: Buffer): Promise<string> => {
    const stream = `${sidePrefix}-parts/${crypto.randomUUID()}`;
    for (let from = 0, at: bigint | undefined; from < bytes.length; from += bytesPerPart) {
      const part = bytes.subarray(from, from + bytesPerPart).toString("base64");
      await write(stream, at, eventOf("SidePart", { part }));
      at = (at ?? -1n) + 1n;
    }
    return stream;
  };

  const dropParts = async (stream: string | undefined): Promise<void> => {
    if (stream === undefined) return;
    await session.repeat((client) => client.tombstoneStream(stream, { expectedRevision: "any" }));
  };

  /** Undefined: the parts went away because the record was replaced meanwhile. */
  const contentOf = async ({ value = null, parts }: StoredRecord): Promise<{ value: Json } | undefined> => {
    if (parts === undefined) return { value };
    const options = { fromRevision: "start", direction: "forwards", maxCount: keysPerPage } as const;
    const found = await collect(parts, options);
    if (found.length === 0) return undefined;
    const bytes = found.flatMap(({ event }) =>
      event ? [Buffer.from((event.data as { part: string }).part, "base64")] : [],
    );
    return { value: JSON.parse(Buffer.concat(bytes).toString()) };
  };

  const get = async (kind: string, key: string): Promise<SideRecord | undefined> => {
    for (let tried: bigint | undefined; ; ) {
      const { at, record } = await find(streamOf(kind, key));
      // The same record without its parts again: somebody took them away by hand.
      if (!record || record.revision === 0 || at === tried) return undefined;
      const found = await contentOf(record);
      if (found) return { key, value: found.value, revision: record.revision };
      tried = at;
    }
  };

  /** Reads what is new in the index of a kind. */
  const keysOf = async (kind: string): Promise<readonly string[]> => {
    const index = indexes.get(kind) ?? { keys: new Map<string, string>(), next: 0n };
    indexes.set(kind, index);
    for (;;) {
      const options = { fromRevision: index.next, direction: "forwards", maxCount: keysPerPage } as const;
      const lines = await collect(indexOf(kind), options);
      for (const { event } of lines) {
        if (!event || event.revision < index.next) continue;
        const line = event.data as IndexLine;
        if ("removed" in line) index.keys.delete(line.removed);
        else index.keys.set(line.entry, line.key);
        index.next = event.revision + 1n;
      }
      if (lines.length < keysPerPage) return [...new Set(index.keys.values())];
    }
  };

  return {
    async get(kind, key) {
      checkRecordName(kind, key);
      return get(kind, key);
    },
    async put(kind, key, given, { ifRevision } = {}) {
      checkRecordName(kind, key);
      const bytes = Buffer.from(JSON.stringify(storableJson(given)));
      const stream = streamOf(kind, key);
      const parts = bytes.length > bytesPerPart ? await writeParts(bytes) : undefined;
      const content = parts === undefined ? { value: JSON.parse(bytes.toString()) } : { parts };
      let entry: string | undefined;
      for (;;) {
        const { at, record } = await find(stream);
        const current = record?.revision ?? 0;
        if (ifRevision !== undefined && ifRevision !== current) {
          await dropParts(parts);
          throw new SideConflict(kind, key);
        }
        if (record && current > 0) entry = record.entry;
        else if (entry === undefined) {
          entry = crypto.randomUUID();
          // Before the record itself, so that no record is missing in the list.
          const line: IndexLine = { key, entry };
          await Promise.all([
            add(indexOf(kind), eventOf("SideRecordListed", line)),
            at === undefined ? keepLastOnly(stream) : undefined,
          ]);
        }
        const next: StoredRecord = { key, revision: current + 1, entry, ...content };
        if (await write(stream, at, eventOf("SideRecordPut", next))) {
          await dropParts(record?.parts);
          return next.revision;
        }
      }
    },
    async delete(kind, key) {
      checkRecordName(kind, key);
      const stream = streamOf(kind, key);
      for (;;) {
        const { at, record } = await find(stream);
        if (!record || record.revision === 0) return;
        const { entry, parts } = record;
        if (!(await write(stream, at, eventOf("SideRecordDeleted", { key, revision: 0, entry })))) continue;
        await add(indexOf(kind), eventOf("SideRecordUnlisted", { removed: entry } satisfies IndexLine));
        return dropParts(parts);
      }
    },
    async list(kind, { prefix = "", after = "", limit = Number.POSITIVE_INFINITY } = {}) {
      const keys = (await keysOf(kind)).filter((key) => key.startsWith(prefix) && key > after).sort();
      const records: SideRecord[] = [];
      for (let from = 0; from < keys.length && records.length < limit; from += recordsAtOnce) {
        const some = keys.slice(from, from + Math.min(recordsAtOnce, limit - records.length));
        const found = await Promise.all(some.map((key) => get(kind, key)));
        records.push(...found.filter((record) => record !== undefined));
      }
      return records;
    },
  };
}
