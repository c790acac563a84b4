import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type BriefEvent, briefOf } from "../../../events/envelope.ts";
import { createEventRegistry } from "../../../events/event-registry.ts";
import { createMemoryKeyStore } from "../../../events/keys/memory.ts";
import { DamagedEventError, type EventLog } from "../../../events/log/event-log.ts";
import { createMemoryLog } from "../../../events/log/memory.ts";
import { openSqlite } from "../../../events/log/sqlite.ts";
import { loadSqliteDriver } from "../../../events/log/sqlite-driver.ts";
import { openStore } from "../../../events/open-store.ts";
import { defineProjection } from "../../../projections/define-projection.ts";
import { createMemoryProjectionStore } from "../../../projections/memory-projection-store.ts";
import { rebuildProjection } from "../../../projections/rebuild.ts";
import { collect, newEvent } from "./new-events.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-brief-"));
  path = join(folder, "threads.db");
});
afterEach(() => rm(folder, { recursive: true }));

const perStream = 150;

/** Two streams, event by event in turn, with events in two runs and outside of any. */
async function fill(log: EventLog, schemas = 1): Promise<void> {
  for (let version = 0; version < perStream; version++) {
    for (const stream of ["thread-1", "thread-2"]) {
      const event = newEvent({
        type: version % 3 === 0 ? "TitleSet" : "TodosWritten",
        data: { title: `Version ${version}`, origin: "user" },
        metadata: {
          schema: 1 + (version % schemas),
          ...(version % 4 > 0 && { runId: `run-${version % 4}` }),
        },
      });
      await log.append(stream, [event], { expectedVersion: version });
    }
  }
}

describe("events of a SQLite file without ids, causes and hashes", () => {
  test("are those of `readAll`, over pages, after a position, up to a limit and of some types", async () => {
    const { log } = await openSqlite(path);
    await fill(log, 2);
    const whole = await collect(log.readAll());
    const after = whole[120]?.position ?? "";
    for (const options of [
      {},
      { after },
      { limit: 7 },
      { types: ["TitleSet"] },
      { after, types: ["TodosWritten", "Never"], limit: 130 },
    ]) {
      const brief = await collect<BriefEvent>(log.readAllBriefly?.(options) ?? log.readAll());
      expect(brief).toEqual((await collect(log.readAll(options))).map(briefOf));
      expect(brief.length).toBeGreaterThan(0);
    }
    await log.close();
  });

  test.each([
    ["DELETE FROM events WHERE stream = 1 AND version = 70", "thread-1@70"],
    ["UPDATE events SET data = '{' WHERE stream = 2 AND version = 80", "thread-2@80"],
    ["UPDATE events SET type = 9999 WHERE stream = 2 AND version = 90", "thread-2@90"],
    ["DELETE FROM streams WHERE id = 2", "#2@1"],
  ])("are read up to the first damage: %s", async (sql, place) => {
    const { log } = await openSqlite(path);
    await fill(log);
    await log.close();
    const database = (await loadSqliteDriver()).open(path);
    database.exec(sql);
    database.close();
    const { log: damaged } = await openSqlite(path);
    const reading = collect<BriefEvent>(damaged.readAllBriefly?.() ?? damaged.readAll());
    await expect(reading).rejects.toThrow(DamagedEventError);
    await expect(reading).rejects.toThrow(place);
    await damaged.close();
  });
});

describe("a projection with `envelope: brief`", () => {
  const seen = (envelope: "brief" | "whole") => {
    const events: unknown[] = [];
    const handlers = { "*": (_: unknown, event: unknown) => void events.push(event) };
    const name = "seen-events";
    const projection =
      envelope === "brief"
        ? defineProjection<object, "brief">({ name, version: 1, envelope, handlers })
        : defineProjection<object>({ name, version: 1, handlers });
    return { projection, events };
  };
  const handled = async (log: EventLog, envelope: "brief" | "whole") => {
    const { projection, events } = seen(envelope);
    const store = createMemoryProjectionStore();
    await rebuildProjection({ projection, log, store, registry: createEventRegistry() });
    return events as BriefEvent[];
  };

  test("is given the same brief events by every log, decrypted where they are encrypted", async () => {
    const encrypted = await openStore(path, { encrypt: createMemoryKeyStore() });
    const memory = createMemoryLog();
    const { log: sqlite } = await openSqlite(join(folder, "plain.db"));
    for (const log of [encrypted.log, memory, sqlite]) {
      await fill(log);
      const whole = await collect(log.readAll());
      const brief = await handled(log, "brief");
      expect(brief).toEqual(whole.map(briefOf));
      expect(brief.every((event) => !("id" in event) && !("hash" in event.metadata))).toBe(true);
      expect(brief[0]?.data).toEqual({ title: "Version 0", origin: "user" });
      expect(await handled(log, "whole")).toEqual(whole);
    }
    await encrypted.close();
    await sqlite.close();
  });
});
