import type { z } from "zod";
import type { Json } from "../json.ts";
import { SideConflict, type SideRecord, type SideStore } from "../log/side-store.ts";
import { storableJson } from "../storable-json.ts";
import { lazySchema } from "../zod.ts";
import { checkQueuedRun, type QueueEntry, type QueueState, type RunQueue } from "./run-queue.ts";

/** Entries in the order they were queued; and where the entry of a run is. */
const kinds = { entry: "queue", place: "queue-place" } as const;

const entrySchema = lazySchema((z) =>
  z.object({
    runId: z.string(),
    threadId: z.string(),
    agent: z.string(),
    request: z.json(),
    afterVersion: z.number(),
    queuedAt: z.string(),
    attempts: z.number(),
    owner: z.string().nullable(),
    /** Milliseconds since the epoch. */
    until: z.number(),
    reason: z.string().nullable(),
  }),
);
type Entry = z.infer<ReturnType<typeof entrySchema>>;

interface Found {
  readonly key: string;
  readonly entry: Entry;
  readonly revision: number;
}

/** How far the queue was looked through. */
interface Scan {
  /** Key up to which every entry was taken. */
  after: string;
  /** Threads of the entries that were met, of which no later one may be given. */
  readonly threads: Set<string>;
  /** Milliseconds since the epoch: then it is looked through anew. */
  readonly until: number;
}

const entriesPerPage = 100;
/** Entries that are read beyond those that are wanted: some of them will be taken. */
const spareEntries = 10;
/** Milliseconds for which a run is held that is being taken out. */
const withdrawalMs = 10_000;
/** Digits that milliseconds and a count take in base 36, so that keys sort by time. */
const timeDigits = 9;
const countDigits = 6;

function read({ key, value, revision }: SideRecord): Found | undefined {
  const parsed = entrySchema().safeParse(value);
  return parsed.success ? { key, entry: parsed.data, revision } : undefined;
}

function stateOf({ owner, until, reason }: Entry, now: number): QueueState {
  if (reason !== null) return "parked";
  return owner !== null && until > now ? "claimed" : "waiting";
}

/**
 * Queued runs as side records: for stores that have no table to lock rows of. Who claims an entry compares and sets it.
 * Looking for work reads the entries one by one, so this is for queues of thousands, not of millions.
 */
export function createSideQueue(side: SideStore, now: () => number = Date.now): RunQueue {
  let count = 0;
  let scanned: Scan | undefined;

  const nextKey = (runId: string): string => {
    count += 1;
    const time = now().toString(36).padStart(timeDigits, "0");
    return `${time}.${count.toString(36).padStart(countDigits, "0")}|${runId}`;
  };

  async function* entries(from = "", perPage = entriesPerPage): AsyncGenerator<Found, void> {
    for (let after = from; ; ) {
      const page = await side.list(kinds.entry, { after, limit: perPage });
      for (const record of page) {
        const found = read(record);
        if (found) yield found;
      }
      const last = page.at(-1);
      if (!last || page.length < perPage) return;
      after = last.key;
    }
  }

  const find = async (runId: string): Promise<Found | undefined> => {
    const place = await side.get(kinds.place, runId);
    const record = place && (await side.get(kinds.entry, String(place.value)));
    return record && read(record);
  };

  /** False: somebody else changed the entry meanwhile. */
  const change = async ({ key, entry, revision }: Found, changes: Partial<Entry>): Promise<boolean> => {
    try {
      await side.put(kinds.entry, key, { ...entry, ...changes } as Json, { ifRevision: revision });
      return true;
    } catch (error) {
      if (error instanceof SideConflict) return false;
      throw error;
    }
  };

  /** Changes an entry that is as `wanted` says, however often others change it meanwhile. */
  const changeWhile = async (
    runId: string,
    wanted: (entry: Entry) => boolean,
    changes: (entry: Entry) => Partial<Entry>,
  ): Promise<boolean> => {
    for (;;) {
      const found = await find(runId);
      if (!found || !wanted(found.entry)) return false;
      if (await change(found, changes(found.entry))) return true;
    }
  };

  const remove = async ({ key, entry }: Found): Promise<void> => {
    await side.delete(kinds.entry, key);
    await side.delete(kinds.place, entry.runId);
  };

  const free = { owner: null, until: 0 };

  return {
    async add(run) {
      checkQueuedRun(run);
      const { runId } = run;
      const key = nextKey(runId);
      const entry = { ...run, request: storableJson(run.request), attempts: 0, ...free, reason: null };
      try {
        await side.put(kinds.place, runId, key, { ifRevision: 0 });
      } catch (error) {
        if (!(error instanceof SideConflict)) throw error;
        const place = await side.get(kinds.place, runId);
        // Whoever queued it first may have stopped between its two records.
        if (place) await addEntry(String(place.value), entry as Json);
        return;
      }
      await addEntry(key, entry as Json);
    },
    async claim({ owner, agent, leaseMs, limit }) {
      const claimed: (QueueEntry & { readonly attempt: number })[] = [];
      if (limit <= 0) return claimed;
      const claimFrom = async (scan: Scan, perPage: number) => {
        let isTaken = true;
        for await (const found of entries(scan.after, perPage)) {
          const { key, entry } = found;
          const state = stateOf(entry, now());
          const isFree = state !== "parked" && !scan.threads.has(entry.threadId);
          if (state !== "parked") scan.threads.add(entry.threadId);
          if (isFree && state === "waiting" && entry.agent === agent) {
            const attempts = entry.attempts + 1;
            if (await change(found, { owner, until: now() + leaseMs, attempts })) {
              claimed.push({ ...toEntry({ ...entry, owner, attempts }, "claimed"), attempt: attempts });
            }
          } else if (state === "waiting") isTaken = false;
          if (isTaken) scan.after = key;
          if (claimed.length >= limit) return;
        }
      };
      // What was taken a moment ago is taken still, as a rule: with work enough behind it, it is not read again.
      if (scanned && now() < scanned.until)
        await claimFrom(scanned, Math.min(entriesPerPage, limit + spareEntries));
      if (claimed.length >= limit) return claimed;
      scanned = {
        after: "",
        threads: new Set(claimed.map(({ threadId }) => threadId)),
        until: now() + leaseMs / 3,
      };
      await claimFrom(scanned, entriesPerPage);
      return claimed;
    },
    async renew(owner, runIds, leaseMs) {
      const renewed = await Promise.all(
        runIds.map((runId) =>
          changeWhile(
            runId,
            (entry) => entry.owner === owner && entry.reason === null,
            () => ({ until: now() + leaseMs }),
          ),
        ),
      );
      return runIds.filter((_, index) => renewed[index]);
    },
    async finish(owner, runId) {
      const found = await find(runId);
      if (found?.entry.owner === owner) await remove(found);
    },
    async release(owner, runId) {
      await changeWhile(
        runId,
        (entry) => entry.owner === owner,
        ({ attempts }) => ({ ...free, attempts: Math.max(0, attempts - 1) }),
      );
    },
    async park(owner, runId, reason) {
      await changeWhile(
        runId,
        (entry) => entry.owner === owner,
        () => ({ ...free, reason }),
      );
    },
    async list(limit) {
      const found: QueueEntry[] = [];
      if (limit <= 0) return found;
      for await (const { entry } of entries()) {
        found.push(toEntry(entry, stateOf(entry, now())));
        if (found.length >= limit) break;
      }
      return found;
    },
    retry: (runId) =>
      changeWhile(
        runId,
        (entry) => entry.reason !== null,
        () => ({ ...free, reason: null, attempts: 0 }),
      ),
    async withdraw(runId) {
      // Claimed first, so that no worker takes it in between.
      const owner = crypto.randomUUID();
      const taken = await changeWhile(
        runId,
        (entry) => stateOf(entry, now()) !== "claimed",
        () => ({ owner, until: now() + withdrawalMs, reason: null }),
      );
      const found = taken && (await find(runId));
      if (found) await remove(found);
      return taken;
    },
  };

  async function addEntry(key: string, entry: Json): Promise<void> {
    try {
      await side.put(kinds.entry, key, entry, { ifRevision: 0 });
    } catch (error) {
      if (!(error instanceof SideConflict)) throw error;
    }
  }
}

function toEntry(entry: Entry, state: QueueState): QueueEntry {
  const { owner, reason, until: _, ...run } = entry;
  return {
    ...run,
    state,
    owner: state === "claimed" ? (owner ?? undefined) : undefined,
    reason: reason ?? undefined,
  };
}
