import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

  test("tables of an older version are brought up to date, and keep what they hold", async () => {
    const url = server.newUrl();
    const before = await openPostgres(url);
    const { events } = await before.log.append("a", newEvents(2), { expectedVersion: 0 });
    await before.log.close();
    const schema = new URL(url).searchParams.get("schema");
    await server.sql(`
      DO $$ BEGIN EXECUTE 'DROP FUNCTION ' || '${schema}.append'::regproc::regprocedure; END $$;
      UPDATE ${schema}.meta SET value = '2' WHERE key = 'schema'`);

    const { log } = await openPostgres(url);
    const added = await log.append("a", newEvents(1), { expectedVersion: 2 });
    const read: unknown[] = [];
    for await (const page of log.read("a")) read.push(...page);
    expect(read).toEqual([...events, ...added.events]);
    await log.close();
    expect(await server.sql(`SELECT value FROM ${schema}.meta WHERE key = 'schema'`)).toEqual([
      { value: "3" },
    ]);
  });
});
