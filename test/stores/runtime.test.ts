import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { type EventStoreDouble, startEventStoreDouble } from "../events/log/event-store-double/server.ts";
import {
  hasPostgres,
  type PostgresServer,
  serverStartMs,
  startPostgres,
} from "../events/log/postgres-server.ts";
import { describeRuntime } from "./runtime.contract.ts";

describe("on SQLite", () => {
  let folder: string;
  let files = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "threadfold-runtime-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  describeRuntime("sqlite", async () => `sqlite:${join(folder, `${++files}.db`)}`);
});

describe.skipIf(!hasPostgres)("on a real PostgreSQL server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, serverStartMs);
  afterAll(async () => {
    await server?.stop();
  });
  describeRuntime("postgres", async () => server.newUrl());
});

describe("on the double of the event store", () => {
  let double: EventStoreDouble;
  let folder: string;
  let stores = 0;
  beforeAll(async () => {
    double = await startEventStoreDouble();
    folder = await mkdtemp(join(tmpdir(), "threadfold-runtime-"));
  });
  afterAll(async () => {
    await double.stop();
    await rm(folder, { recursive: true, force: true });
  });
  describeRuntime("kurrentdb", async () => {
    double.clear();
    return `${double.url}&side=${encodeURIComponent(join(folder, String(++stores)))}`;
  });
});
