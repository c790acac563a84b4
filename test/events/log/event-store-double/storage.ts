/** A record as the server keeps it. Positions are byte offsets: they grow, but not by one. */
export interface StoredRecord extends ProposedRecord {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  readonly createdMs: number;
}

export interface ProposedRecord {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** Revision of the last event, or a kind of state. */
export type Expected = number | "any" | "no-stream" | "stream-exists";

export type WriteOutcome =
  | { readonly kind: "written"; readonly revision: number; readonly position: number }
  | { readonly kind: "wrong-expected-version"; readonly current: number }
  | { readonly kind: "stream-deleted" }
  | { readonly kind: "too-large"; readonly limit: number };

interface StoredStream {
  records: StoredRecord[];
  /** First revision that reads still give: soft deletion, `$tb` and `$maxCount`. */
  truncateBefore: number;
  maxCount: number;
  tombstoned: boolean;
}

export interface Storage {
  append(stream: string, expected: Expected, proposed: readonly ProposedRecord[]): WriteOutcome;
  softDelete(stream: string, expected: Expected): WriteOutcome;
  tombstone(stream: string, expected: Expected): WriteOutcome;
  /** Undefined: not there, or deleted softly. */
  stream(name: string): readonly StoredRecord[] | undefined;
  isTombstoned(name: string): boolean;
  readonly all: readonly StoredRecord[];
  onWrite(listener: () => void): () => void;
}

/** Default of servers up to 25.0 (`MaxAppendSize` in ClusterVNodeOptions.cs). */
const defaultMaxAppendBytes = 1024 * 1024;

export function createStorage(maxAppendBytes = defaultMaxAppendBytes): Storage {
  const streams = new Map<string, StoredStream>();
  const all: StoredRecord[] = [];
  const listeners = new Set<() => void>();
  let offset = 0;

  const write = (stream: string, into: StoredStream, proposed: readonly ProposedRecord[]) => {
    for (const record of proposed) {
      const revision = into.records.length;
      const stored = { ...record, stream, revision, position: offset, createdMs: Date.now() };
      offset += 64 + 2 * record.type.length + record.data.length + record.metadata.length;
      into.records.push(stored);
      all.push(stored);
    }
    for (const listener of listeners) listener();
  };

  const entry = (name: string): StoredStream => {
    const known = streams.get(name) ?? {
      records: [],
      truncateBefore: 0,
      maxCount: Number.POSITIVE_INFINITY,
      tombstoned: false,
    };
    streams.set(name, known);
    return known;
  };

  /** As IndexWriter.CheckCommit: with an exact revision below the head, equal ids are the same write again. */
  const check = (
    { records, tombstoned }: StoredStream,
    expected: Expected,
    proposed: readonly ProposedRecord[],
  ): WriteOutcome | undefined => {
    if (tombstoned) return { kind: "stream-deleted" };
    const current = records.length - 1;
    if (expected === "any") return undefined;
    if (expected === "stream-exists")
      return current >= 0 ? undefined : { kind: "wrong-expected-version", current };
    const wanted = expected === "no-stream" ? -1 : expected;
    if (wanted === current) return undefined;
    const same = records.slice(wanted + 1, wanted + 1 + proposed.length);
    const last = same.at(-1);
    if (last && same.length === proposed.length && same.every(({ id }, index) => id === proposed[index]?.id))
      return { kind: "written", revision: last.revision, position: last.position };
    return { kind: "wrong-expected-version", current };
  };

  const applyMetadata = (stream: string, proposed: readonly ProposedRecord[]) => {
    const last = proposed.at(-1);
    if (!stream.startsWith("$$") || !last) return;
    const settings = JSON.parse(Buffer.from(last.data).toString("utf8"));
    const about = entry(stream.slice(2));
    about.maxCount = settings.$maxCount ?? Number.POSITIVE_INFINITY;
    about.truncateBefore = Math.max(about.truncateBefore, settings.$tb ?? 0);
  };

  const system = (type: string, stream: string): ProposedRecord => ({
    id: crypto.randomUUID(),
    type,
    contentType: "application/json",
    data: Buffer.from(JSON.stringify({ stream })),
    metadata: new Uint8Array(),
  });

  // A real server's $all never begins with a user's event.
  write("$users", entry("$users"), [system("$UserCreated", "$users")]);

  return {
    all,
    append(name, expected, proposed) {
      const bytes = proposed.reduce(
        (sum, { data, metadata, type }) => sum + data.length + metadata.length + 2 * type.length,
        0,
      );
      if (bytes > maxAppendBytes) return { kind: "too-large", limit: maxAppendBytes };
      const stream = entry(name);
      const refused = check(stream, expected, proposed);
      if (refused) return refused;
      write(name, stream, proposed);
      applyMetadata(name, proposed);
      const last = stream.records.at(-1);
      return { kind: "written", revision: last?.revision ?? -1, position: last?.position ?? 0 };
    },
    softDelete(name, expected) {
      const stream = entry(name);
      const refused = check(stream, expected, []);
      if (refused) return refused;
      stream.truncateBefore = stream.records.length;
      return { kind: "written", revision: stream.records.length - 1, position: offset };
    },
    tombstone(name, expected) {
      const stream = entry(name);
      const refused = check(stream, expected, []);
      if (refused) return refused;
      // The events stay in $all until the server is scavenged.
      write(name, stream, [system("$streamDeleted", name)]);
      stream.tombstoned = true;
      return { kind: "written", revision: stream.records.length - 1, position: offset };
    },
    stream(name) {
      const known = streams.get(name);
      if (!known) return undefined;
      const { records, truncateBefore, maxCount } = known;
      const readable = records.slice(Math.max(truncateBefore, records.length - maxCount, 0));
      return readable.length > 0 ? readable : undefined;
    },
    isTombstoned: (name) => streams.get(name)?.tombstoned ?? false,
    onWrite(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
