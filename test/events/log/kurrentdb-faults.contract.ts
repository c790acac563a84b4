import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findBrokenLink } from "../../../events/hash-chain.ts";
import type { EventLog } from "../../../events/log/event-log.ts";
import { type KurrentModule, openKurrentDb } from "../../../events/log/kurrentdb.ts";
import { type EventStoreDouble, startEventStoreDouble } from "./event-store-double/server.ts";
import { collect, newEvents } from "./new-events.ts";

const stream = "thread-1";

/** What must hold when the server or the way to it fails, through one of the two clients. */
export function describeFaults(name: string, client: KurrentModule): void {
  describe(`kurrentdb faults, through ${name}`, () => {
    let double: EventStoreDouble;
    let log: EventLog;
    beforeEach(async () => {
      double = await startEventStoreDouble();
      ({ log } = await openKurrentDb(double.url, { client, callTimeoutMs: 2000, reconnectMs: 8000 }));
    });
    afterEach(async () => {
      await log.close();
      await double.stop();
    });

    it.each(["lose-acknowledgement", "close-in-batch", "not-leader", "hang"] as const)(
      "appends once when the server does this: %s",
      async (fault) => {
        await log.append(stream, newEvents(1), { expectedVersion: 0 });
        double.faults.appends.push(fault);
        const { version } = await log.append(stream, newEvents(2), { expectedVersion: 1 });
        expect(version).toBe(3);
        expect(double.faults.appends).toEqual([]);
        const events = await collect(log.read(stream));
        expect(events).toHaveLength(3);
        expect(findBrokenLink(events)).toBeUndefined();
      },
    );

    it("begins a stream without asking for it, once the server has answered", async () => {
      await log.append("thread-0", newEvents(1), { expectedVersion: 0 });
      double.faults.reads.push("hang");
      expect(await log.append(stream, newEvents(1), { expectedVersion: 0 })).toMatchObject({ version: 1 });
      expect(double.faults.reads).toEqual(["hang"]);
    });

    it("gives what is stored when ids come again with other contents, and the chain goes on from there", async () => {
      const batch = newEvents(1);
      const first = await log.append(stream, batch, { expectedVersion: 0 });
      const { log: later } = await openKurrentDb(double.url, { client });
      const others = batch.map((event) => ({ ...event, data: { text: "another" } }));
      expect(await later.append(stream, others, { expectedVersion: 0 })).toEqual(first);
      await later.append(stream, newEvents(1), { expectedVersion: 1 });
      expect(findBrokenLink(await collect(later.read(stream)))).toBeUndefined();
      await later.close();
    });

    it.each(["hang", "unavailable"] as const)("reads again when the server does this: %s", async (fault) => {
      const { events } = await log.append(stream, newEvents(2), { expectedVersion: 0 });
      double.faults.reads.push(fault);
      expect(await collect(log.read(stream))).toEqual(events);
      expect(double.faults.reads).toEqual([]);
    });

    it("says that the outcome is unknown when the server stays away after an append", async () => {
      const { log: impatient } = await openKurrentDb(double.url, {
        client,
        callTimeoutMs: 3000,
        reconnectMs: 0,
      });
      await impatient.append(stream, newEvents(1), { expectedVersion: 0 });
      double.faults.appends.push("hang");
      const batch = newEvents(1);
      await expect(impatient.append(stream, batch, { expectedVersion: 1 })).rejects.toMatchObject({
        name: "AppendOutcomeUnknownError",
      });
      expect(await impatient.append(stream, batch, { expectedVersion: 1 })).toMatchObject({ version: 2 });
      await impatient.close();
    });

    it("works when the server was dead at the first read and came up then", async () => {
      await double.stop();
      const { log: patient } = await openKurrentDb(double.url, { client, connect: false });
      const reading = patient.head(stream);
      await double.start();
      expect(await reading).toMatchObject({ version: 0 });
      await patient.append(stream, newEvents(1), { expectedVersion: 0 });
      expect(await patient.head(stream)).toMatchObject({ version: 1 });
      await patient.close();
    });

    it("says in one line that nobody answers any more", async () => {
      const { log: alone } = await openKurrentDb(double.url, { client, reconnectMs: 100 });
      await double.stop();
      await expect(alone.head(stream)).rejects.toMatchObject({
        name: "LogUnavailableError",
        message: expect.stringMatching(/^kurrentdb:\/\/127\.0\.0\.1:\d+ cannot be used: .+tls=false/),
      });
      await alone.close();
    });

    it("goes on showing a stream whose erasure was begun and never ended", async () => {
      await log.append(stream, newEvents(1), { expectedVersion: 0 });
      await log.append("thread-2", newEvents(1), { expectedVersion: 0 });
      double.faults.tombstones.push("unavailable");
      const impatient = await openKurrentDb(double.url, { client, reconnectMs: 0 });
      await expect(impatient.log.erase(stream)).rejects.toMatchObject({ name: "LogUnavailableError" });
      await impatient.log.close();
      await log.append(stream, newEvents(1), { expectedVersion: 1 });
      expect(await collect(log.readAll())).toHaveLength(3);
      await log.erase(stream);
      expect(await collect(log.readAll())).toHaveLength(1);
      expect(await log.head(stream)).toMatchObject({ version: 2, deleted: true });
    });

    it("refuses writes when it was opened for reading only", async () => {
      const { log: reader } = await openKurrentDb(double.url, { client, readOnly: true });
      await expect(reader.append(stream, newEvents(1), { expectedVersion: 0 })).rejects.toMatchObject({
        name: "LogUnavailableError",
      });
      await expect(reader.erase(stream)).rejects.toMatchObject({ name: "LogUnavailableError" });
      await reader.close();
    });

    it("appends to a server that takes no batches", async () => {
      const old = await startEventStoreDouble({ version: "21.10.0", batchAppend: false });
      const { log: oldLog } = await openKurrentDb(old.url, { client });
      await oldLog.append(stream, newEvents(1), { expectedVersion: 0 });
      await expect(oldLog.append(stream, newEvents(1), { expectedVersion: 0 })).rejects.toMatchObject({
        actual: 1,
      });
      await oldLog.append(stream, newEvents(2), { expectedVersion: 1 });
      expect(await oldLog.head(stream)).toMatchObject({ version: 3 });
      await oldLog.close();
      await old.stop();
    });
  });
}
