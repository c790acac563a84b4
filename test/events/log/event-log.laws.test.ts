import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewEvent, RecordedEvent } from "../../../events/envelope.ts";
import { findBrokenLink } from "../../../events/hash-chain.ts";
import type { AppendResult, EventLog, ExpectedVersion } from "../../../events/log/event-log.ts";
import { createMemoryLog } from "../../../events/log/memory.ts";
import { openSqlite } from "../../../events/log/sqlite.ts";
import { collect, newEvent } from "./new-events.ts";

let folder: string;
let stores = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-laws-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function openNew(): Promise<EventLog> {
  stores += 1;
  return (await openSqlite(join(folder, `${stores}.db`), { synchronous: "normal" })).log;
}

interface Append {
  readonly kind: "append";
  readonly stream: string;
  readonly expectedVersion: ExpectedVersion;
  /** Ids from a small pool, so that retries and partial retries happen. */
  readonly batch: readonly number[];
}
type Command = Append | { readonly kind: "erase"; readonly stream: string } | { readonly kind: "settle" };

const streamName = fc.constantFrom("thread-a", "thread-b", "thread-c");
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      stream: streamName,
      expectedVersion: fc.oneof(fc.nat(6), fc.constantFrom("any" as const, "no-stream" as const)),
      batch: fc.uniqueArray(fc.nat(9), { maxLength: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: "settle" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("erase" as const), stream: streamName }) },
);

const pool = Array.from({ length: 10 }, (_, index) => newEvent({ data: { index } }));
const eventsOf = (batch: readonly number[]) => batch.map((index) => pool[index] as NewEvent);

/** Everything an append said, without positions: those belong to one store. */
function describeOutcome(outcome: PromiseSettledResult<AppendResult | undefined>): unknown {
  if (outcome.status === "rejected") return { ...outcome.reason, message: String(outcome.reason) };
  return outcome.value && { version: outcome.value.version, events: withoutPositions(outcome.value.events) };
}

function withoutPositions(events: readonly RecordedEvent[]): unknown[] {
  return events.map(({ position, ...event }) => event);
}

/** Asks for everything at once, and waits only where the commands say so. */
async function runAll(log: EventLog, commands: readonly Command[]): Promise<unknown[]> {
  const asked: Promise<AppendResult | undefined>[] = [];
  for (const one of commands) {
    if (one.kind === "settle") await Promise.allSettled(asked);
    else if (one.kind === "erase") asked.push(log.erase(one.stream).then(() => undefined));
    else asked.push(log.append(one.stream, eventsOf(one.batch), { expectedVersion: one.expectedVersion }));
  }
  return (await Promise.allSettled(asked)).map(describeOutcome);
}

describe("appends in any order and number", () => {
  it("have the same outcome, and leave the same events, in memory and in SQLite", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 30 }), async (commands) => {
        const memory = createMemoryLog();
        const sqlite = await openNew();
        expect(await runAll(sqlite, commands)).toEqual(await runAll(memory, commands));
        const [inSqlite, inMemory] = [await collect(sqlite.readAll()), await collect(memory.readAll())];
        expect(withoutPositions(inSqlite)).toEqual(withoutPositions(inMemory));
        await sqlite.close();
      }),
      { numRuns: 60 },
    );
  });

  it("leave whole batches, contiguous versions and sound chains, whoever of several connections wins", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ stream: streamName, size: fc.integer({ min: 1, max: 3 }), connection: fc.nat(2) }),
          {
            minLength: 1,
            maxLength: 40,
          },
        ),
        async (writes) => {
          const path = join(folder, `${++stores}.db`);
          const logs: EventLog[] = [];
          for (let index = 0; index < 3; index++)
            logs.push((await openSqlite(path, { synchronous: "normal" })).log);
          const attempts = writes.map(({ stream, size, connection }, index) => {
            const batch = Array.from({ length: size }, () => newEvent({ data: { write: index } }));
            const log = logs[connection] as EventLog;
            const appended = log.append(stream, batch, { expectedVersion: index % 2 === 0 ? "any" : 0 });
            return appended.then(
              () => batch,
              () => [],
            );
          });
          const written = (await Promise.all(attempts)).flat().map(({ id }) => id);
          const events = await collect((logs[0] as EventLog).readAll());
          expect(events.map(({ id }) => id).sort()).toEqual(written.sort());
          for (const stream of ["thread-a", "thread-b", "thread-c"]) {
            const ofStream = events.filter((event) => event.stream === stream);
            expect(findBrokenLink(ofStream)).toBeUndefined();
            const order = ofStream.map(({ data }) => (data as { write: number }).write);
            const isWhole = order.every(
              (write, index) => order.indexOf(write) + order.filter((w) => w === write).length > index,
            );
            expect(isWhole).toBe(true);
          }
          for (const log of logs) await log.close();
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe("any JSON value", () => {
  it("comes back from SQLite as it went in, and its chain holds", async () => {
    const log = await openNew();
    let version = 0;
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ stringUnit: "grapheme" }), fc.boolean(), async (value, wrapped) => {
        const data = JSON.parse(JSON.stringify(wrapped ? { value } : value));
        const { events } = await log.append("thread-1", [newEvent({ data })], { expectedVersion: version });
        version += 1;
        const [read] = await collect(log.read("thread-1", { from: version }));
        expect(read).toStrictEqual(events[0]);
        expect(JSON.stringify(read?.data)).toBe(JSON.stringify(data));
      }),
      { numRuns: 200 },
    );
    expect(findBrokenLink(await collect(log.read("thread-1")))).toBeUndefined();
    await log.close();
  });
});
