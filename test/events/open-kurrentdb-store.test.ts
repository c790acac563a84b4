import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { openKurrentDb } from "../../events/log/kurrentdb.ts";
import { openStore, StoreUrlError } from "../../events/open-store.ts";
import { type S3Double, startS3Double } from "./blobs/s3-double.ts";
import { type EventStoreDouble, startEventStoreDouble } from "./log/event-store-double/server.ts";
import { collect, newEvents } from "./log/new-events.ts";
import { hasPostgres, type PostgresServer, serverStartMs, startPostgres } from "./log/postgres-server.ts";

let double: EventStoreDouble;
let folder: string;
beforeEach(async () => {
  double = await startEventStoreDouble();
  folder = await mkdtemp(join(tmpdir(), "threadfold-kurrentdb-"));
});
afterEach(async () => {
  await double.stop();
  await rm(folder, { recursive: true });
});
const urlWith = (parameters: Readonly<Record<string, string>>) =>
  `${double.url}&${new URLSearchParams(parameters)}`;
const open = async (parameters: Readonly<Record<string, string>>) => {
  const store = await openStore(urlWith(parameters));
  onTestFinished(() => store.close());
  return store;
};

it.each(["kurrentdb", "esdb"])(
  "%s: URLs open a log on the server, with the rest in a folder",
  async (scheme) => {
    const url = urlWith({ side: folder }).replace("kurrentdb", scheme);
    const store = await openStore(url);
    expect(store.folder).toBe(folder);
    expect(store.url).not.toContain("side");
    expect(store.log.kind).toBe("kurrentdb");
    const { events } = await store.log.append("thread-1", newEvents(2), { expectedVersion: 0 });
    await store.blobs.put("content", "text/plain");
    await store.close();
    const again = await openStore(url);
    expect(await collect(again.log.read("thread-1"))).toEqual(events);
    await again.close();
    expect(existsSync(join(folder, "blobs"))).toBe(true);
  },
);

it("shares side records with other machines, except snapshots", async () => {
  const [one, other] = [
    await open({ side: join(folder, "one") }),
    await open({ side: join(folder, "other") }),
  ];
  for (const kind of ["lease", "snapshot"]) await one.side.put(kind, "a", 1, { ifRevision: 0 });
  expect(await other.side.get("lease", "a")).toMatchObject({ value: 1, revision: 1 });
  await expect(other.side.put("lease", "a", 2, { ifRevision: 0 })).rejects.toMatchObject({
    name: "SideConflict",
  });
  expect(await other.side.get("snapshot", "a")).toBeUndefined();
  expect(await one.side.get("snapshot", "a")).toMatchObject({ value: 1 });
});

it("shows no password of a URL that cannot be taken apart", async () => {
  for (const password of ["se?b=cret", "%cret", "@se:cret,cret", "se#cret", "@se:cret?tls=cret"]) {
    const error = await openStore(`kurrentdb://ada:${password}@127.0.0.1:1?tls=false`).catch((e) => e);
    expect(error).toBeInstanceOf(StoreUrlError);
    expect(error.message).toContain("The URL of kurrentdb://127.0.0.1:1 cannot be used");
    // Also what is shown with all that hangs on the error.
    expect(inspect(error)).not.toContain("cret");
  }
});

it("refuses a parameter that the client does not know, which would show the URL in a warning", async () => {
  const warnings = vi.spyOn(console, "warn");
  onTestFinished(() => warnings.mockRestore());
  const url = "kurrentdb://ada:secret@127.0.0.1:1?tsl=false";
  const error = await openStore(url).catch((reason) => reason);
  expect(error).toBeInstanceOf(StoreUrlError);
  expect(error.message).toContain('The URL of kurrentdb://127.0.0.1:1 has the parameter "tsl"');
  // Both clients in one process would break each other.
  const client = { EventStoreDBClient: { connectionString: () => expect.unreachable() } };
  await expect(openKurrentDb(url.replace("tsl", "tlsVerifyCert"), { client })).rejects.toThrow(
    "tlsVerifyCert=false, which @eventstore/db-client does not support",
  );
  expect(warnings).not.toHaveBeenCalled();
});

it("says which part of a URL the client does not take, and which file is not there", async () => {
  await expect(openStore("kurrentdb://ada:secret@host:port")).rejects.toThrow('Unexpected "port"');
  await expect(openStore("kurrentdb://host?tlsCAFile=%2Fno%2Fsuch.pem")).rejects.toThrow(
    "The file that tlsCAFile of the KurrentDB URL names cannot be read (ENOENT): /no/such.pem",
  );
});

it("says which folder cannot be made, and what to do", async () => {
  await writeFile(join(folder, "file"), "");
  const refused = openStore(urlWith({ side: join(folder, "file", "side") }));
  await expect(refused).rejects.toMatchObject({ name: "LogUnavailableError" });
  await expect(refused).rejects.toThrow("name another one with ?side=<folder>");
});

it("is read without a folder on this machine, and none is made", async () => {
  await (await open({ side: folder })).log.append("thread-1", newEvents(2), { expectedVersion: 0 });
  const absent = join(folder, "absent");
  const store = await openStore(urlWith({ side: absent }), { readOnly: true });
  expect(await collect(store.log.readAll())).toHaveLength(2);
  await expect(store.side.put("lease", "a", 1)).rejects.toMatchObject({ name: "LogUnavailableError" });
  await store.close();
  expect(existsSync(absent)).toBe(false);
});

describe("keys and blobs elsewhere", () => {
  let s3: S3Double;
  let postgres: PostgresServer | undefined;
  beforeAll(async () => {
    s3 = await startS3Double();
    if (hasPostgres) postgres = await startPostgres();
  }, serverStartMs);
  afterAll(async () => {
    await s3?.stop();
    await postgres?.stop();
  });

  it("blobs in a bucket, keys in a folder", async () => {
    const blobs = s3.newUrl();
    const keys = join(folder, "keys-apart");
    const one = await openStore(urlWith({ side: join(folder, "one"), blobs, keys }), { encrypt: true });
    onTestFinished(() => one.close());
    expect(one.url).not.toContain("AKID");
    const { sha256 } = await (one.blobsFor?.("t") ?? one.blobs).put("content", "text/plain");
    // Another machine: encrypted without being told, because the keys were used.
    const other = await open({ side: join(folder, "other"), blobs, keys });
    expect(new TextDecoder().decode(await (other.blobsFor?.("t") ?? other.blobs).get(sha256))).toBe(
      "content",
    );
    expect(existsSync(join(folder, "one", "blobs"))).toBe(false);
  });

  it.skipIf(!hasPostgres)("both in tables of PostgreSQL", async () => {
    const place = postgres?.newUrl() ?? "";
    const one = await openStore(urlWith({ side: join(folder, "one"), blobs: place, keys: place }), {
      encrypt: true,
    });
    onTestFinished(() => one.close());
    const { sha256 } = await (one.blobsFor?.("t") ?? one.blobs).put("content", "text/plain");
    const other = await open({ side: join(folder, "other"), blobs: place, keys: place });
    expect(new TextDecoder().decode(await (other.blobsFor?.("t") ?? other.blobs).get(sha256))).toBe(
      "content",
    );
  });
});
