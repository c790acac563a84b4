import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { KeysElsewhereError } from "../../../events/keys/encryption-mark.ts";
import { createMemoryKeyStore } from "../../../events/keys/memory.ts";
import { type OpenStoreOptions, openStore } from "../../../events/open-store.ts";
import { copyLog } from "../../../projections/copy-log.ts";
import { startEventStoreDouble } from "../log/event-store-double/server.ts";
import { collect, newEvent } from "../log/new-events.ts";
import { hasPostgres, type PostgresServer, serverStartMs, startPostgres } from "../log/postgres-server.ts";

const title = "Chinchilla";
const titleSet = () => newEvent({ data: { title, origin: "user" } });
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-mark-"));
  onTestFinished(() => rm(folder, { recursive: true }));
});
const open = async (url: string, options: OpenStoreOptions = {}) => {
  const store = await openStore(url, options);
  onTestFinished(() => store.close());
  return store;
};

/** Records an encrypted title in one way of opening a store, and expects that the other neither shows nor adds any. */
async function expectRefused(
  withKeys: () => ReturnType<typeof open>,
  without: () => ReturnType<typeof open>,
) {
  const encrypted = await withKeys();
  await encrypted.log.append("thread-1", [titleSet()], { expectedVersion: 0 });
  const keyless = await without();
  await expect(collect(keyless.log.read("thread-1"))).rejects.toThrow(KeysElsewhereError);
  for (const [stream, expectedVersion] of [
    ["thread-1", 1],
    ["thread-new", 0],
  ] as const)
    await expect(keyless.log.append(stream, [titleSet()], { expectedVersion })).rejects.toThrow(
      KeysElsewhereError,
    );
  // What needs no content is there.
  expect((await keyless.log.head("thread-1")).version).toBe(1);
  expect(await collect((keyless.log.stored ?? keyless.log).read("thread-1"))).toHaveLength(1);
  await encrypted.log.append("thread-1", [titleSet()], { expectedVersion: 1 });
  expect((await collect(encrypted.log.read("thread-1"))).map(({ data }) => data)).toMatchObject([
    { title },
    { title },
  ]);
}

describe("a store with encrypted threads that is opened without their keys refuses to show and to add content", () => {
  test("SQLite with keys in a key store of the caller's", async () => {
    const url = join(folder, "threads.db");
    const encrypt = createMemoryKeyStore();
    await expectRefused(
      () => open(url, { encrypt }),
      () => open(url),
    );
    expect((await open(url, { encrypt: false })).log.stored).toBeUndefined();
  });

  test("SQLite whose folder of keys is away, until it is back", async () => {
    const url = join(folder, "threads.db");
    const first = await openStore(url, { encrypt: true });
    await first.log.append("thread-1", [titleSet()], { expectedVersion: 0 });
    await first.close();
    await rename(join(folder, "threads.keys"), join(folder, "away"));
    await expect(collect((await open(url)).log.readAll())).rejects.toThrow(KeysElsewhereError);
    await rename(join(folder, "away"), join(folder, "threads.keys"));
    expect((await collect((await open(url)).log.readAll()))[0]?.data).toMatchObject({ title });
  });

  test("a copy of it, too", async () => {
    const from = await open(join(folder, "threads.db"), { encrypt: createMemoryKeyStore() });
    await from.log.append("thread-1", [titleSet()], { expectedVersion: 0 });
    const to = await openStore(join(folder, "copy.db"), { encrypt: false });
    await copyLog({ from, to });
    await to.close();
    const copy = await open(join(folder, "copy.db"));
    await expect(copy.log.append("thread-2", [titleSet()], { expectedVersion: 0 })).rejects.toThrow(
      KeysElsewhereError,
    );
  });

  test("an event store from another folder", async () => {
    const double = await startEventStoreDouble();
    onTestFinished(() => double.stop());
    const at = (name: string) => `${double.url}&side=${encodeURIComponent(join(folder, name))}`;
    await expectRefused(
      () => open(at("one"), { encrypt: true }),
      () => open(at("other")),
    );
  });

  describe.skipIf(!hasPostgres)("on a real PostgreSQL server", () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    }, serverStartMs);
    afterAll(() => server?.stop());

    test("PostgreSQL with keys in a key store of the caller's", async () => {
      const url = server.newUrl();
      const encrypt = createMemoryKeyStore();
      await expectRefused(
        () => open(url, { encrypt }),
        () => open(url),
      );
    });
  });
});
