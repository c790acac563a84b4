import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StreamDeletedError } from "../../../events/log/event-log.ts";
import { openPostgres } from "../../../events/log/postgres.ts";
import { newEvents } from "./new-events.ts";
import { hasPostgres, type PostgresServer, serverStartMs, startPostgres } from "./postgres-server.ts";

describe.skipIf(!hasPostgres)("on a real server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(async () => {
    await server?.stop();
  });

  test("short and long appends, of one stream and of several at once, are told as they are read", async () => {
    const { log } = await openPostgres(server.newUrl());
    const told = new Map<string, unknown[]>();
    const add = async (stream: string, count: number) => {
      const events = told.get(stream) ?? [];
      const result = await log.append(stream, newEvents(count), { expectedVersion: events.length });
      told.set(stream, [...events, ...result.events]);
    };
    // The first append of a stream makes it; up to 16 events are written one by one, more as a set.
    for (const count of [1, 1, 2, 16, 17, 40, 1]) await add("a", count);
    for (const count of [3, 1, 20]) await Promise.all([add("a", count), add("b", count), add("c", 1)]);
    for (const [stream, events] of told) {
      const read: unknown[] = [];
      for await (const page of log.read(stream)) read.push(...page);
      expect(read).toEqual(events);
      expect(await log.head(stream)).toMatchObject({ version: events.length });
    }
    const positions: string[] = [];
    for await (const page of log.readAll()) positions.push(...page.map(({ position }) => position));
    expect(positions).toHaveLength([...told.values()].flat().length);
    expect(positions).toEqual([...positions].sort());
    for (const { stream, lastRecordedAt } of await log.streams()) {
      expect(told.get(stream)?.at(-1)).toMatchObject({ recordedAt: lastRecordedAt });
    }
    await log.close();
  });

  test.each([
    { version: 2, missing: ["append", "append_one"] },
    { version: 3, missing: ["append_one"] },
  ])("tables of version $version are brought up to date, and keep what they hold", async (older) => {
    const url = server.newUrl();
    const before = await openPostgres(url);
    const { events } = await before.log.append("a", newEvents(2), { expectedVersion: 0 });
    await before.log.close();
    const schema = new URL(url).searchParams.get("schema");
    for (const name of older.missing) {
      await server.sql(
        `DO $$ BEGIN EXECUTE 'DROP FUNCTION ' || '${schema}.${name}'::regproc::regprocedure; END $$`,
      );
    }
    await server.sql(`UPDATE ${schema}.meta SET value = '${older.version}' WHERE key = 'schema'`);

    const { log } = await openPostgres(url);
    const one = await log.append("a", newEvents(1), { expectedVersion: 2 });
    const several = await log.append("a", newEvents(3), { expectedVersion: 3 });
    const read: unknown[] = [];
    for await (const page of log.read("a")) read.push(...page);
    expect(read).toEqual([...events, ...one.events, ...several.events]);
    await log.close();
    expect(await server.sql(`SELECT value FROM ${schema}.meta WHERE key = 'schema'`)).toEqual([
      { value: "4" },
    ]);
  });

  test("one event is appended only where its stream is, whoever moved or erased it meanwhile", async () => {
    const url = server.newUrl();
    const [{ log: ours }, { log: theirs }] = [await openPostgres(url), await openPostgres(url)];
    await ours.append("a", newEvents(2), { expectedVersion: 0 });
    const [event] = newEvents(1);
    if (!event) throw new Error("one event");
    const first = await theirs.append("a", [event], { expectedVersion: 2 });
    await theirs.append("a", newEvents(1), { expectedVersion: 3 });

    await expect(ours.append("a", newEvents(1), { expectedVersion: 2 })).rejects.toMatchObject({ actual: 4 });
    expect(await ours.append("a", [event], { expectedVersion: 2 })).toEqual(first);
    expect(await ours.append("a", [event], { expectedVersion: "any" })).toEqual(first);
    await theirs.append("a", newEvents(1), { expectedVersion: 4 });
    expect(await ours.append("a", newEvents(1), { expectedVersion: "any" })).toMatchObject({ version: 6 });

    const { position: last } = await theirs.append("b", newEvents(1), { expectedVersion: 0 });
    await theirs.append("c", newEvents(1), { expectedVersion: 0 });
    await theirs.erase("c");
    // Positions of erased events are not given again.
    const { position } = await theirs.append("b", newEvents(1), { expectedVersion: 1 });
    expect(Number(position)).toBe(Number(last) + 2);
    await theirs.erase("a");
    await expect(ours.append("a", newEvents(1), { expectedVersion: 6 })).rejects.toThrow(StreamDeletedError);
    await ours.close();
    await theirs.close();
  });

  test("a process that listens is told of one event and of several", async () => {
    const url = server.newUrl();
    const { log } = await openPostgres(url);
    // It would look for itself after an hour only.
    const { log: listening } = await openPostgres(url, { pollIntervalMs: 3_600_000 });
    const isListening = async () => {
      for (let rows: readonly unknown[] = []; rows.length === 0; ) {
        rows = await server.sql(
          "SELECT 1 FROM pg_stat_activity WHERE query = 'LISTEN threadfold' AND state = 'idle'",
        );
      }
    };
    const seen: number[] = [];
    const reading = (async () => {
      for await (const item of listening.subscribe()) {
        if (item.kind === "event" && seen.push(item.event.version) === 30) return;
      }
    })();
    await isListening();
    for (let version = 0; version < 30; version += version < 20 ? 1 : 2) {
      const result = await log.append("a", newEvents(version < 20 ? 1 : 2), { expectedVersion: version });
      while (seen.length < result.version) await nextTurn();
    }
    await reading;
    await log.close();
    await listening.close();
  });

  test("appends that are asked for together share transactions from the first to the last", async () => {
    const url = server.newUrl();
    const { log } = await openPostgres(url);
    const write = async (stream: string) => {
      for (let version = 0; version < 5; version++) {
        await log.append(stream, newEvents(1), { expectedVersion: version });
      }
    };
    // The first is on its way when the others come.
    const first = write("first");
    await nextTurn();
    await Promise.all([first, ...Array.from({ length: 30 }, (_, writer) => write(`other-${writer}`))]);
    await log.close();
    const schema = new URL(url).searchParams.get("schema");
    const [row] = await server.sql(`SELECT count(DISTINCT xmin::text)::int AS count FROM ${schema}.events`);
    expect(row?.count).toBeLessThanOrEqual(7);
  });

  test("a store with one connection is read while it appends without a pause", async () => {
    const { log } = await openPostgres(server.newUrl(), { maxConnections: 1 });
    let isRead = false;
    let reading: Promise<void> | undefined;
    let version = 0;
    for (; !isRead && version < 200; version++) {
      const appending = log.append("a", newEvents(1), { expectedVersion: version });
      // The append has the connection now.
      await nextTurn();
      reading ??= log.head("a").then(() => {
        isRead = true;
      });
      await appending;
    }
    expect(version).toBeLessThan(50);
    await reading;
    await log.close();
  });
});
