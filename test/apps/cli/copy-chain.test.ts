import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { RecordedEvent } from "../../../events/envelope.ts";
import { openStore } from "../../../events/open-store.ts";
import { type EventStoreDouble, startEventStoreDouble } from "../../events/log/event-store-double/server.ts";
import { collect, newEvents } from "../../events/log/new-events.ts";
import {
  hasPostgres,
  type PostgresServer,
  serverStartMs,
  startPostgres,
} from "../../events/log/postgres-server.ts";
import { cli, cliBundle } from "./run-cli.ts";
import { sampleStore } from "./sample-store.ts";

vi.setConfig({ testTimeout: 240_000 });

/** Gives a command a terminal. */
const scriptProgram = "/usr/bin/script";
const hasTerminal = existsSync(scriptProgram);
if (!hasTerminal)
  process.stderr.write(`The test of the progress bar is skipped: no ${scriptProgram} here.\n`);

const first = "sqlite:.threadfold/threads.db";

describe.skipIf(!hasPostgres)("a log goes from engine to engine", () => {
  let postgres: PostgresServer;
  let double: EventStoreDouble;
  let cwd: string;
  beforeAll(async () => {
    postgres = await startPostgres();
    double = await startEventStoreDouble();
    const { folder, remove } = await sampleStore();
    cwd = folder;
    cleanups.push(remove);
    const store = await openStore(`sqlite:${join(cwd, ".threadfold", "threads.db")}`);
    await store.blobs.put("a blob that no event names", "text/plain");
    for (let version = 0; version < 3000; version += 500) {
      await store.log.append("thread-long", newEvents(500), { expectedVersion: version });
    }
    await store.close();
  }, serverStartMs);
  const cleanups: (() => Promise<void>)[] = [];
  afterAll(async () => {
    await postgres?.stop();
    await double?.stop();
    for (const remove of cleanups) await remove();
  });

  /** All that a copy must keep, by stream and version: everything but the place in the whole log. */
  const contentOf = async (url: string): Promise<Omit<RecordedEvent, "position">[]> => {
    const store = await openStore(url.replace("sqlite:", `sqlite:${cwd}/`), { readOnly: true });
    const events = await collect(store.log.readAll());
    await store.close();
    return events
      .map(({ position: _position, ...event }) => event)
      .sort((a, b) => (a.stream < b.stream ? -1 : a.stream > b.stream ? 1 : a.version - b.version));
  };
  const copy = async (from: string, to: string) => {
    const result = await cli(["copy", "--from", from, "--to", to, "--json"], { cwd });
    expect(result).toMatchObject({ code: 0 });
    return JSON.parse(result.stdout);
  };

  test("SQLite → PostgreSQL → KurrentDB → SQLite: the same ids, versions and hashes; a killed copy goes on", async () => {
    const second = postgres.newUrl();
    const third = `${double.url}&side=${encodeURIComponent(join(cwd, "beside"))}`;
    const fourth = "sqlite:back/threads.db";
    const original = await contentOf(first);
    const total = original.length;
    expect(await copy(first, second)).toMatchObject({ copied: total });

    const killed = spawn(process.execPath, [await cliBundle(), "copy", "--from", second, "--to", third], {
      cwd,
      stdio: "ignore",
    });
    const isHere = () => double.storage.all.filter(({ type }) => type === "TitleSet").length;
    while (isHere() < 600 && killed.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 2));
    killed.kill("SIGKILL");
    const before = isHere();
    expect(before).toBeLessThan(total);
    const resumed = await copy(second, third);
    expect(resumed).toMatchObject({ events: total, total });
    expect(resumed.copied).toBeLessThan(total);
    expect(resumed.copied).toBeGreaterThan(0);

    expect(await copy(third, fourth)).toMatchObject({ copied: total, missingBlobs: [] });
    for (const url of [second, third, fourth]) {
      expect(await contentOf(url)).toEqual(original);
      expect(await cli(["verify", "--all", "--store", url], { cwd })).toMatchObject({ code: 0 });
    }
    const state = async (store: string) => (await cli(["state", "child", "--store", store], { cwd })).stdout;
    expect(await state(fourth)).toBe(await state(first));
    expect(await copy(first, second)).toMatchObject({ copied: 0 });
  });

  test.skipIf(!hasTerminal)("a terminal is shown how far it is", async () => {
    const bundle = await cliBundle();
    const quoted = [process.execPath, bundle, "copy", "--from", first, "--to", "sqlite:shown.db"].join("' '");
    const output = execFileSync(scriptProgram, ["-qec", `'${quoted}'`, "/dev/null"], {
      cwd,
      encoding: "utf8",
    });
    const shown = [...output.matchAll(/(\d+) % (\d+)\/(\d+) events/g)].map(([, percent]) => Number(percent));
    expect(shown.length).toBeGreaterThan(3);
    expect(shown).toEqual([...shown].sort((a, b) => a - b));
    expect(shown.at(-1)).toBe(100);
  });
});
