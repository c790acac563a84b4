import { sha256 } from "../events/hash-chain.ts";
import type { EventLog } from "../events/log/event-log.ts";
import type { SideStore } from "../events/log/side-store.ts";
import type { State } from "../reducers/thread-state.ts";
import type { Segment } from "./lineage.ts";
import type { StreamVersion } from "./state-cache.ts";

/** Kind of the records in the side store. */
export const snapshotKind = "snapshot";

/** All fields but the messages at one version, and where in the log the messages begin. */
export interface FieldsAt {
  readonly fields: State;
  /** The messages are the fold of the message events from this one on; undefined: from the beginning. */
  readonly messagesFrom: StreamVersion | undefined;
}

interface Snapshot extends FieldsAt, StreamVersion {
  /** Bytes of the record. */
  readonly size: number;
}

/** Reads and writes snapshots of one reducer. They are a cache: what is wrong, foreign or missing is folded again. */
export interface Snapshots {
  /** The latest sound snapshot on a lineage. */
  nearest(segments: readonly Segment[]): Promise<Snapshot | undefined>;
  /** Begins to store a snapshot and gives the bytes of its record. Never fails: a lost snapshot costs time only. */
  write(at: StreamVersion, value: FieldsAt): number;
  /** Resolves when everything that was begun is stored. */
  settled(): Promise<void>;
}

/** A snapshot as it is stored. */
type SnapshotRecord = {
  readonly stream: string;
  readonly version: number;
  /** Hash of the event at the version: a log of the same name with another history is not meant. */
  readonly hash: string;
  /** JSON text of the fields: as text it keeps its bytes in every store. */
  readonly fields: string;
  readonly messagesFrom?: { readonly stream: string; readonly version: number };
  readonly checksum: string;
};

function isPlace(value: unknown): value is StreamVersion {
  const { stream, version } = (value ?? {}) as Partial<StreamVersion>;
  return typeof stream === "string" && typeof version === "number";
}

function isRecord(value: unknown): value is SnapshotRecord {
  if (!isPlace(value)) return false;
  const { hash, fields, checksum, messagesFrom } = value as Partial<SnapshotRecord>;
  const texts = [hash, fields, checksum].every((text) => typeof text === "string");
  return texts && (messagesFrom === undefined || isPlace(messagesFrom));
}

/** Reducer versions of one stream that are kept side by side. */
const maxSets = 2;
/** Older snapshots that are tried when the latest is damaged. */
const maxTries = 3;
const largestVersion = 999_999_999_999;

/** Later versions sort first, so that "the latest up to version n" is one ascending look-up. */
function order(version: number): string {
  return String(largestVersion - version).padStart(12, "0");
}

function checksumOf({
  checksum: _,
  ...rest
}: Omit<SnapshotRecord, "checksum"> & { checksum?: string }): string {
  const { stream, version, hash, fields, messagesFrom } = rest;
  return sha256(JSON.stringify([stream, version, hash, fields, messagesFrom?.stream, messagesFrom?.version]));
}

/**
 * Opens the snapshots of one reducer.
 *
 * @param options.description the reducer's; another description has other snapshots
 */
export function createSnapshots(options: {
  readonly log: EventLog;
  readonly side: SideStore;
  readonly description: string;
}): Snapshots {
  const { log, side } = options;
  const set = sha256(options.description).slice(0, 16);
  const prefixOf = (stream: string) => `${stream}|${set}|`;
  const tidied = new Set<string>();
  const pending = new Set<Promise<void>>();

  const hashAt = async ({ stream, version }: StreamVersion): Promise<string | undefined> => {
    for await (const page of log.read(stream, { from: version, to: version })) return page[0]?.metadata.hash;
    return undefined;
  };

  const sound = async (value: unknown, segment: Segment): Promise<Snapshot | undefined> => {
    if (!isRecord(value)) return undefined;
    const { stream, version, hash, fields, messagesFrom, checksum } = value;
    const onSegment = stream === segment.stream && segment.from <= version && version <= segment.to;
    if (!onSegment || checksum !== checksumOf(value)) return undefined;
    if (hash !== (await hashAt({ stream, version }))) return undefined;
    return { stream, version, fields: JSON.parse(fields) as State, messagesFrom, size: fields.length };
  };

  /** The latest snapshot on a segment. Damage is rare and local: a few older ones are tried, then none. */
  const firstSound = async (
    segment: Segment,
    options: { readonly prefix: string; readonly after: string; readonly limit: number },
  ): Promise<Snapshot | undefined> => {
    const records = await side.list(snapshotKind, options);
    for (const { value } of records) {
      const snapshot = await sound(value, segment);
      if (snapshot) return snapshot;
    }
    const last = records.at(-1);
    if (!last || options.limit > 1) return undefined;
    return firstSound(segment, { ...options, after: last.key, limit: maxTries });
  };

  const latest = async (segments: readonly Segment[]): Promise<Snapshot | undefined> => {
    for (const segment of segments.toReversed()) {
      const prefix = prefixOf(segment.stream);
      const after = prefix + order(segment.to + 1);
      const snapshot = await firstSound(segment, { prefix, after, limit: 1 });
      if (snapshot) return snapshot;
    }
    return undefined;
  };

  const store = async (
    at: StreamVersion,
    record: Omit<SnapshotRecord, "hash" | "checksum">,
  ): Promise<void> => {
    const hash = await hashAt(at);
    if (hash === undefined) return;
    await tidy(at.stream);
    const whole = { ...record, hash };
    await side.put(snapshotKind, prefixOf(at.stream) + order(at.version), {
      ...whole,
      checksum: checksumOf(whole),
    });
  };

  /** Takes away what older reducers left, so that all snapshots together stay small. */
  const tidy = async (stream: string): Promise<void> => {
    if (tidied.has(stream)) return;
    tidied.add(stream);
    const others: string[] = [];
    let after = `${stream}|`;
    for (;;) {
      const [record] = await side.list(snapshotKind, { prefix: `${stream}|`, after, limit: 1 });
      if (!record) break;
      const prefix = record.key.slice(0, record.key.lastIndexOf("|") + 1);
      if (prefix !== prefixOf(stream)) others.push(prefix);
      after = `${prefix}~`;
    }
    for (const prefix of others.slice(maxSets - 1)) await dropByPrefix(side, prefix);
  };

  return {
    async nearest(segments) {
      try {
        return await latest(segments);
      } catch {
        // Whatever is wrong with a cache, the log has the answer, and its own errors.
        return undefined;
      }
    },
    write(at, { fields, messagesFrom }) {
      const record = { ...at, fields: JSON.stringify(fields), ...(messagesFrom ? { messagesFrom } : {}) };
      const storing = store(at, record)
        .catch(() => undefined)
        .finally(() => pending.delete(storing));
      pending.add(storing);
      return snapshotBytes(record.fields);
    },
    async settled() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

/** About the bytes of a record that holds `fields` as JSON text: quotes are escaped, names and digests come along. */
export function snapshotBytes(fields: string): number {
  return Math.ceil(fields.length * 1.15) + 500;
}

async function dropByPrefix(side: SideStore, prefix: string): Promise<void> {
  for (;;) {
    const records = await side.list(snapshotKind, { prefix, limit: 100 });
    if (records.length === 0) return;
    for (const { key } of records) await side.delete(snapshotKind, key);
  }
}

/** Deletes all snapshots of a stream, whatever reducer made them: they hold content that the log may have lost. */
export async function dropSnapshots(side: SideStore, stream: string): Promise<void> {
  await dropByPrefix(side, `${stream}|`);
}
