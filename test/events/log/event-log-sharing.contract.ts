import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EventLog } from "../../../events/log/event-log.ts";
import type { LogUnderTest } from "./event-log.contract.ts";
import { eventsOf, takeUntil } from "./event-log-subscriptions.contract.ts";
import { collect, newEvents } from "./new-events.ts";
import { brokenLinkIn, storedName } from "./renamed-log.ts";

const stream = "thread-1";
const writerScript = fileURLToPath(new URL("append-from-another-process.ts", import.meta.url));

/** Runs a process that appends to streams by one-event batches, and checks that it succeeded. */
async function runWriter(url: string, streams: readonly string[], eventsPerStream: number): Promise<void> {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", writerScript, url, String(eventsPerStream), ...streams],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let complaint = "";
  child.stderr.on("data", (chunk) => {
    complaint += chunk;
  });
  const [code] = await once(child, "close");
  expect(complaint).toBe("");
  expect(code).toBe(0);
}

/** A store that several processes can open at the same time. */
export interface SharedLogUnderTest extends LogUnderTest {
  /** Another connection to the same events. The suite closes it. */
  connect(): Promise<EventLog>;
  /** URL with which another process opens the store. */
  readonly url: string;
}

/** What an event log must do with several connections and processes on it. */
export function describeSharedLog(name: string, open: () => Promise<SharedLogUnderTest>): void {
  describe(`event log shared by several processes: ${name}`, () => {
    let opened: SharedLogUnderTest;
    let log: EventLog;
    let other: EventLog;
    beforeEach(async () => {
      opened = await open();
      log = opened.log;
      other = await opened.connect();
    });
    afterEach(async () => {
      await other.close();
      await opened.dispose();
    });

    it("lets each connection see what the other appended, conflicts included", async () => {
      const first = await log.append(stream, newEvents(1), { expectedVersion: 0 });
      expect(await collect(other.read(stream))).toEqual(first.events);
      const second = await other.append(stream, newEvents(2), { expectedVersion: 1 });
      expect(await log.head(stream)).toMatchObject({ version: 3 });
      await expect(log.append(stream, newEvents(1), { expectedVersion: 1 })).rejects.toMatchObject({
        actual: 3,
      });
      await log.append(stream, newEvents(1), { expectedVersion: 3 });
      const events = await collect(other.read(stream));
      expect(events.slice(0, 3)).toEqual([...first.events, ...second.events]);
      expect(brokenLinkIn(log, events)).toBeUndefined();
    });

    it("knows event types that another connection was the first to use", async () => {
      await log.append(stream, newEvents(1), { expectedVersion: 0 });
      await other.append(stream, newEvents(1, { type: "InventedMeanwhile" }), { expectedVersion: 1 });
      expect((await collect(log.read(stream))).map(({ type }) => type)).toEqual([
        "TitleSet",
        "InventedMeanwhile",
      ]);
      expect(await collect(log.read(stream, { types: ["InventedMeanwhile"] }))).toHaveLength(1);
    });

    it("gives a retry that reaches another connection the first result", async () => {
      const batch = newEvents(2);
      const first = await log.append(stream, batch, { expectedVersion: 0 });
      expect(await other.append(stream, batch, { expectedVersion: 0 })).toEqual(first);
    });

    it("brings events of one connection to the subscriptions of the other", async () => {
      const items = other.subscribe({ after: "end" })[Symbol.asyncIterator]();
      // Only then has the other connection found out where the log ends.
      expect((await items.next()).value).toMatchObject({ kind: "caught-up" });
      const { events } = await log.append(stream, newEvents(3), { expectedVersion: 0 });
      for (const event of events) expect((await items.next()).value).toEqual({ kind: "event", event });
      await items.return?.();
    });

    it("misses nothing on either connection while 8 writers append through both", async () => {
      const perWriter = 25;
      const total = 8 * perWriter;
      const tails = [log, other].map((reader) =>
        takeUntil(reader.subscribe(), (_item, taken) => eventsOf(taken).length === total),
      );
      const write = async (writer: number) => {
        for (let version = 0; version < perWriter; version++) {
          const through = (writer + version) % 2 === 0 ? log : other;
          await through.append(`thread-${writer}`, newEvents(1), { expectedVersion: version });
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
      const all = await collect(log.readAll());
      expect(all).toHaveLength(total);
      for (const tail of tails) expect(eventsOf(await tail)).toEqual(all);
    });

    it("refuses appends to a stream that another connection erased", async () => {
      await log.append(stream, newEvents(1), { expectedVersion: 0 });
      await other.erase(stream);
      const refused = log.append(stream, newEvents(1), { expectedVersion: 1 });
      await expect(refused).rejects.toMatchObject({ name: "StreamDeletedError" });
    });

    it("loses and doubles nothing when processes write at once, and a tail misses nothing", {
      timeout: 60_000,
    }, async () => {
      const eventsPerStream = 30;
      // Two processes and this one share `thread-shared`; each has a stream of its own.
      const streams = ["thread-shared", "thread-a", "thread-b", "thread-c"];
      const total = eventsPerStream * 6;
      const tail = takeUntil(log.subscribe(), (_item, taken) => eventsOf(taken).length === total);
      const writeHere = async () => {
        for (let written = 0; written < eventsPerStream; written++) {
          await log.append("thread-c", newEvents(1), { expectedVersion: written });
          await log.append("thread-shared", newEvents(1), { expectedVersion: "any" });
        }
      };
      const runThere = (names: string[]) =>
        runWriter(
          opened.url,
          names.map((name) => storedName(log, name)),
          eventsPerStream,
        );
      await Promise.all([
        runThere(["thread-shared", "thread-a"]),
        runThere(["thread-shared", "thread-b"]),
        writeHere(),
      ]);
      expect(eventsOf(await tail)).toEqual(await collect(log.readAll()));
      for (const name of streams) {
        const events = await collect(log.read(name));
        expect(events).toHaveLength(name === "thread-shared" ? 3 * eventsPerStream : eventsPerStream);
        expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
        expect(brokenLinkIn(log, events)).toBeUndefined();
      }
    });
  });
}
