import { beforeEach, describe, expect, it } from "vitest";
import { chainStart, sealEvents } from "../../../events/hash-chain.ts";
import {
  type EventLog,
  EventTooLargeError,
  eventOverheadBytes,
  InvalidNameError,
  maxAppendBytes,
  maxEventBytes,
} from "../../../events/log/event-log.ts";
import { collect, newEvent, newEvents } from "./new-events.ts";
import { brokenLinkIn, storedName } from "./renamed-log.ts";

const stream = "thread-1";

/** What is stored comes back as it went in, or is refused. */
export function describeContent(current: () => EventLog): void {
  let log: EventLog;
  beforeEach(() => {
    log = current();
  });
  describe("what is stored", () => {
    it.each([
      ["null", null],
      ["text in many scripts", { text: '日本語 عربى 🧵 \u0000 \u2028 \ufeff "\\/' }],
      ["keys in any order", { z: 1, a: { y: [], b: {} }, 10: "ten", 9: "nine", "": "" }],
      ["numbers", [0, 1e21, 1e-7, -1.5, Number.MAX_SAFE_INTEGER, 5e-324, 1.7976931348623157e308]],
      ["a key named __proto__", JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')],
      ["nesting", [[[[[{ a: [{ b: [null, true, false] }] }]]]]]],
      ["a large text", { text: "ä".repeat(200_000) }],
    ])("comes back as it went in: %s", async (_what, data) => {
      const { events } = await log.append(stream, [newEvent({ data })], { expectedVersion: 0 });
      const [read] = await collect(log.read(stream));
      expect(read).toEqual(events[0]);
      expect(JSON.stringify(read?.data)).toBe(JSON.stringify(data));
      expect(brokenLinkIn(log, read ? [read] : [])).toBeUndefined();
    });

    it("keeps every field of the envelope, given or left out", async () => {
      const first = newEvent({ metadata: { schema: 7, by: "model:gpt-x" } });
      const batch = [
        first,
        newEvent({ metadata: { runId: "run-1", correlationId: "run-1", step: 0, causationId: first.id } }),
        newEvent({
          metadata: { runId: "run-1", correlationId: "elsewhere", step: 12, traceparent: "00-ab-cd-01" },
        }),
        newEvent({ id: "not-a-uuid", metadata: { causationId: "an event of another stream" } }),
        newEvent({
          id: first.id.toUpperCase(),
          recordedAt: "2024-02-29T12:00:00+02:00",
          type: "SomethingElse",
        }),
        newEvent({ id: "=", metadata: { causationId: "not-a-uuid" } }),
      ];
      await log.append(stream, batch, { expectedVersion: 0 });
      const events = await collect(log.read(stream));
      expect(
        events.map(({ id, type, data, recordedAt, metadata: { hash, previousHash, ...metadata } }) => ({
          id,
          type,
          data,
          recordedAt,
          metadata,
        })),
      ).toStrictEqual(batch);
      expect(brokenLinkIn(log, events)).toBeUndefined();
    });

    it("refers to causes near and far", async () => {
      const first = newEvent();
      await log.append(stream, [first], { expectedVersion: 0 });
      for (let version = 1; version < 120; version++) {
        await log.append(stream, [newEvent({ metadata: { causationId: first.id } })], {
          expectedVersion: version,
        });
      }
      const events = await collect(log.read(stream, { from: 100 }));
      expect(new Set(events.map(({ metadata }) => metadata.causationId))).toEqual(new Set([first.id]));
      expect(await collect(log.readAll())).toEqual(await collect(log.read(stream)));
    });

    it("has the same hashes in every store", async () => {
      const batch = newEvents(4);
      await log.append(stream, batch.slice(0, 1), { expectedVersion: 0 });
      await log.append(stream, batch.slice(1), { expectedVersion: 1 });
      const sealed = sealEvents(storedName(log, stream), { version: 0, hash: chainStart }, batch);
      const events = await collect(log.read(stream));
      expect(events.map(({ position, ...event }) => event)).toEqual(
        sealed.map((event) => ({ ...event, stream })),
      );
    });

    it("replaces halves of surrogate pairs before it hashes", async () => {
      const event = newEvent({ data: { text: "half \ud83d", list: ["\udc00"] } });
      const { events } = await log.append(stream, [event], { expectedVersion: 0 });
      expect(events[0]?.data).toEqual({ text: "half \ufffd", list: ["\ufffd"] });
      const read = await collect(log.read(stream));
      expect(read).toEqual(events);
      expect(brokenLinkIn(log, read)).toBeUndefined();
    });

    it.each([
      ["NaN", { value: Number.NaN }],
      ["undefined in an array", [undefined]],
      ["a bigint", { value: 1n }],
      ["a date", { value: new Date(0) }],
      [
        "a cycle",
        (() => {
          const cycle: Record<string, unknown> = {};
          cycle.self = cycle;
          return cycle;
        })(),
      ],
    ])("refuses %s and writes nothing of the batch", async (_what, data) => {
      const batch = [newEvent(), newEvent({ data: data as never })];
      await expect(log.append(stream, batch, { expectedVersion: 0 })).rejects.toMatchObject({
        name: "NotJsonError",
      });
      expect(await log.head(stream)).toMatchObject({ version: 0 });
    });

    it("does not change when the caller changes what it appended", async () => {
      const data = { list: ["a"] };
      await log.append(stream, [newEvent({ data })], { expectedVersion: 0 });
      data.list.push("b");
      expect((await collect(log.read(stream)))[0]?.data).toEqual({ list: ["a"] });
    });
  });

  describe("limits", () => {
    it("takes events up to the limit and refuses larger ones with their size", async () => {
      const empty = newEvent({ data: { text: "" } });
      const bytes = JSON.stringify(empty).length;
      const largest = { ...empty, data: { text: "x".repeat(maxEventBytes - bytes) } };
      await log.append(stream, [largest], { expectedVersion: 0 });
      const tooLarge = { ...newEvent(), data: { text: "x".repeat(maxEventBytes - bytes + 1) } };
      const refused = log.append(stream, [newEvent(), tooLarge], { expectedVersion: 1 });
      await expect(refused).rejects.toThrow(EventTooLargeError);
      await expect(refused).rejects.toMatchObject({
        type: "TitleSet",
        bytes: maxEventBytes + 1,
        limit: maxEventBytes,
      });
      expect(await log.head(stream)).toMatchObject({ version: 1 });
    });

    it("refuses batches over the limit", async () => {
      const batch = newEvents(3, { data: { text: "ü".repeat(180_000) } });
      await expect(log.append(stream, batch, { expectedVersion: 0 })).rejects.toMatchObject({
        name: "EventTooLargeError",
        limit: maxAppendBytes,
      });
      await log.append(stream, batch.slice(1), { expectedVersion: 0 });
    });

    it("takes as many small events at once as the limit allows, and refuses one more", async () => {
      const one = JSON.stringify(newEvent({ data: {} })).length + eventOverheadBytes;
      const most = Math.floor(maxAppendBytes / one);
      await log.append(stream, newEvents(most, { data: {} }), { expectedVersion: 0 });
      const refused = log.append(stream, newEvents(most + 1, { data: {} }), { expectedVersion: most });
      await expect(refused).rejects.toThrow(EventTooLargeError);
    });

    it.each(["", "$system", "-a", "a b", "a@b", "ä", "x".repeat(201)])("refuses the name %j", async (bad) => {
      await expect(log.append(bad, newEvents(1), { expectedVersion: 0 })).rejects.toThrow(InvalidNameError);
    });

    it.each([
      { id: "an id\u0000" },
      { type: "Half\ud83d" },
      { metadata: { by: "model:\u0000" as const } },
      { metadata: { causationId: "\u0000" } },
      { metadata: { correlationId: "\udc00" } },
      { metadata: { runId: "run\u0000" } },
      { metadata: { traceparent: "\u0000" } },
    ])("refuses texts around the data that not every store can keep: %j", async (given) => {
      const refused = log.append(stream, [newEvent(), newEvent(given)], { expectedVersion: 0 });
      await expect(refused).rejects.toMatchObject({ name: "InvalidTextError" });
      expect(await log.head(stream)).toMatchObject({ version: 0 });
    });

    it("takes names of every allowed character", async () => {
      for (const good of ["A", "0", "thread-a.b_c:d/e-f", "x".repeat(200)]) {
        await log.append(good, newEvents(1), { expectedVersion: 0 });
        expect((await collect(log.read(good)))[0]?.stream).toBe(good);
      }
    });
  });
}
