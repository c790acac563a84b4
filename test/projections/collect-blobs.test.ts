import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAgent } from "../../actors/create-agent.ts";
import { blobGraceMs } from "../../events/blobs/blob-store.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { collectBlobs } from "../../projections/collect-blobs.ts";
import { verifyThread } from "../../projections/verify.ts";

describe.each([{ encrypt: false }, { encrypt: true }])("blobs without events, %j", ({ encrypt }) => {
  let folder: string;
  let store: Store;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "threadfold-collect-"));
    store = await openStore(`sqlite:${join(folder, "threads.db")}`, { encrypt });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });
  const age = async (sha256: string, ms: number) => {
    const then = new Date(Date.now() - ms);
    await utimes(join(folder, "blobs", sha256.slice(0, 2), sha256), then, then);
  };
  const digests = async () => {
    const found: string[] = [];
    for await (const { sha256 } of (store.blobs.stored ?? store.blobs).list()) found.push(sha256);
    return found;
  };

  test("are deleted after the grace period; what events name stays, however old", async () => {
    const agent = createAgent({ model: "builtin:planner", store });
    await agent.thread("t").run(`remember ${"this long text ".repeat(5000)}`).result;
    await agent.close();
    const named = await digests();
    expect(named.length).toBeGreaterThan(0);
    const { sha256: old } = await store.blobs.put("of a run that failed", "text/plain");
    const { sha256: young } = await store.blobs.put("of an event that is on its way", "text/plain");
    for (const sha256 of [...named, old]) await age(sha256, blobGraceMs + 60_000);
    await age(young, blobGraceMs - 60_000);

    const dry = await collectBlobs(store, { dryRun: true });
    expect(dry).toMatchObject({ blobs: named.length + 2, unnamed: [old] });
    expect(dry.bytes).toBeGreaterThan(0);
    expect(await digests()).toHaveLength(named.length + 2);

    expect(await collectBlobs(store)).toEqual(dry);
    expect((await digests()).sort()).toEqual([...named, young].sort());
    expect((await verifyThread(store, "t")).problems).toEqual([]);
    expect((await collectBlobs(store, { graceMs: 0 })).unnamed).toEqual([young]);
  });

  test("stay when they are put again while others are being deleted", async () => {
    const stored = store.blobs.stored ?? store.blobs;
    const old = await Promise.all(["one", "two", "three"].map((text) => stored.put(text, "text/plain")));
    for (const { sha256 } of old) await age(sha256, 3 * blobGraceMs);
    let deleted = 0;
    const blobs = {
      ...stored,
      async delete(...args: Parameters<typeof stored.delete>) {
        const again = ["one", "two", "three"].find((_, index) => old[index]?.sha256 !== args[0]);
        if (deleted++ === 0) await stored.put(again ?? "", "text/plain");
        return stored.delete(...args);
      },
    };
    expect((await collectBlobs({ log: store.log, blobs })).unnamed).toHaveLength(2);
    expect(await digests()).toHaveLength(1);
  });

  test("are young again when they are put again, so that the event that comes next finds its blob", async () => {
    const { sha256 } = await store.blobs.put("put twice", "text/plain");
    await age(sha256, 3 * blobGraceMs);
    // Encrypted blobs of the same text differ; the stored bytes are put again.
    const stored = store.blobs.stored ?? store.blobs;
    await stored.put(await stored.get(sha256), "text/plain");
    expect(await collectBlobs(store)).toMatchObject({ unnamed: [] });
    expect(await digests()).toEqual([sha256]);
  });
});
