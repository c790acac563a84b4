import { beforeEach, describe, expect, it } from "vitest";
import type { RecordedEvent } from "../../../events/envelope.ts";
import { chainStart } from "../../../events/hash-chain.ts";
import { type EventLog, StreamDeletedError, VersionConflict } from "../../../events/log/event-log.ts";
import { collect, newEvents } from "./new-events.ts";

const stream = "thread-1";

/** Versions, conflicts, retries and erasure. */
export function describeAppends(current: () => EventLog): void {
  let log: EventLog;
  beforeEach(() => {
    log = current();
  });
  const readAll = () => collect(log.readAll());
  const versionsOf = (events: readonly RecordedEvent[]) => events.map((event) => event.version);
  describe("append", () => {
    it.each([0, "no-stream", "any"] as const)(
      "begins a stream at version 1 when %s is expected",
      async (expectedVersion) => {
        const events = newEvents(3);
        const result = await log.append(stream, events, { expectedVersion });
        expect(result.version).toBe(3);
        expect(versionsOf(result.events)).toEqual([1, 2, 3]);
        expect(result.position).toBe(result.events[2]?.position);
        expect(await collect(log.read(stream))).toEqual(result.events);
        expect(await log.head(stream)).toEqual({
          version: 3,
          hash: result.events[2]?.metadata.hash,
          deleted: false,
        });
      },
    );

    it.each([
      ["no-stream", 2],
      [0, 2],
      [1, 2],
      [3, 2],
      [17, 2],
    ] as const)(
      "refuses expected version %s at version %i and names the actual one",
      async (expected, actual) => {
        await log.append(stream, newEvents(actual), { expectedVersion: 0 });
        const refused = log.append(stream, newEvents(1), { expectedVersion: expected });
        await expect(refused).rejects.toThrow(VersionConflict);
        await expect(refused).rejects.toMatchObject({ stream, expected, actual });
        expect(await readAll()).toHaveLength(actual);
      },
    );

    it("refuses an expected version when there is no stream, with 0 as the actual one", async () => {
      await expect(log.append(stream, newEvents(1), { expectedVersion: 3 })).rejects.toMatchObject({
        name: "VersionConflict",
        expected: 3,
        actual: 0,
      });
      expect(await log.head(stream)).toEqual({ version: 0, hash: chainStart, deleted: false });
    });

    it("gives the first result again when the same ids come at the same expected version", async () => {
      const batch = newEvents(2);
      const first = await log.append(stream, batch, { expectedVersion: "no-stream" });
      await log.append(stream, newEvents(2), { expectedVersion: 2 });
      for (const expectedVersion of ["no-stream", 0] as const) {
        expect(await log.append(stream, batch, { expectedVersion })).toEqual(first);
      }
      expect(await readAll()).toHaveLength(4);
    });

    it("knows a retry at `any` among the last events of the stream", async () => {
      const batch = newEvents(2);
      const first = await log.append(stream, batch, { expectedVersion: "any" });
      await log.append(stream, newEvents(200), { expectedVersion: "any" });
      expect(await log.append(stream, batch, { expectedVersion: "any" })).toEqual(first);
    });

    it("refuses other ids, and batches that repeat only a part, at a version that is taken", async () => {
      const [a, b, c] = newEvents(3);
      if (!a || !b || !c) throw new Error("three events");
      await log.append(stream, [a, b], { expectedVersion: 0 });
      for (const batch of [[c], [a, c], [b, a], [a, b, c]]) {
        await expect(log.append(stream, batch, { expectedVersion: 0 })).rejects.toMatchObject({
          actual: 2,
        });
      }
      expect(await readAll()).toHaveLength(2);
    });

    it("lets exactly one of 20 writers have a version", async () => {
      const attempts = await Promise.allSettled(
        newEvents(20).map((event) => log.append(stream, [event], { expectedVersion: "no-stream" })),
      );
      expect(attempts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const attempt of attempts) {
        if (attempt.status === "rejected") expect(attempt.reason).toMatchObject({ actual: 1 });
      }
      expect(await readAll()).toHaveLength(1);
    });

    it("keeps the appends of one stream in the order in which they were asked for", async () => {
      const events = newEvents(50);
      await Promise.all(
        events.map((event, index) => log.append(stream, [event], { expectedVersion: index })),
      );
      expect((await collect(log.read(stream))).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    });

    it("writes nothing for an empty batch, and still checks the version", async () => {
      const { position } = await log.append(stream, newEvents(2), { expectedVersion: 0 });
      expect(await log.append(stream, [], { expectedVersion: 2 })).toEqual({
        version: 2,
        position,
        events: [],
      });
      await expect(log.append(stream, [], { expectedVersion: 1 })).rejects.toThrow(VersionConflict);
      expect(await log.append("thread-2", [], { expectedVersion: "any" })).toMatchObject({
        version: 0,
        events: [],
      });
      expect(await log.streams()).toHaveLength(1);
    });
  });

  describe("erase", () => {
    it("takes the events away and refuses appends for ever", async () => {
      const kept = await log.append("thread-2", newEvents(2), { expectedVersion: 0 });
      const batch = newEvents(3);
      const { events } = await log.append(stream, batch, { expectedVersion: 0 });
      await log.erase(stream);
      expect(await collect(log.read(stream))).toEqual([]);
      expect(await readAll()).toEqual(kept.events);
      expect(await log.head(stream)).toEqual({ version: 3, hash: events[2]?.metadata.hash, deleted: true });
      expect((await log.streams()).map((summary) => summary.stream)).toEqual(["thread-2"]);
      for (const expectedVersion of [0, 3, "any", "no-stream"] as const) {
        const refused = log.append(stream, batch, { expectedVersion });
        await expect(refused).rejects.toThrow(StreamDeletedError);
      }
      await log.erase(stream);
      expect(await log.head(stream)).toMatchObject({ version: 3, deleted: true });
    });

    it("takes nothing away when the stream is not at the version that is named", async () => {
      const { events } = await log.append(stream, newEvents(3), { expectedVersion: 0 });
      for (const expectedVersion of [0, 2, 4]) {
        await expect(log.erase(stream, { expectedVersion })).rejects.toThrow(VersionConflict);
      }
      expect(await collect(log.read(stream))).toEqual(events);
      const racing = await Promise.allSettled([
        log.append(stream, newEvents(1), { expectedVersion: 3 }),
        log.erase(stream, { expectedVersion: 3 }),
      ]);
      expect(racing.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      const { version, deleted } = await log.head(stream);
      expect([version, deleted]).toEqual(racing[1].status === "fulfilled" ? [3, true] : [4, false]);
      await log.erase(stream, { expectedVersion: version });
      await log.erase(stream, { expectedVersion: 1 });
      expect(await log.head(stream)).toMatchObject({ deleted: true });
    });

    it("leaves a tombstone also where no stream was", async () => {
      await log.erase(stream);
      expect(await log.head(stream)).toMatchObject({ version: 0, deleted: true });
      await expect(log.append(stream, newEvents(1), { expectedVersion: 0 })).rejects.toThrow(
        StreamDeletedError,
      );
    });

    it("never gives a position twice, so that a reader behind the erased events sees the next ones", async () => {
      const { position } = await log.append(stream, newEvents(3), { expectedVersion: 0 });
      await log.erase(stream);
      const next = await log.append("thread-2", newEvents(1), { expectedVersion: 0 });
      expect(next.position > position).toBe(true);
      expect(await collect(log.readAll({ after: position }))).toEqual(next.events);
    });
  });
}
