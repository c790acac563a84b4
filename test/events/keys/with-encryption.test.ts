import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineEvent } from "../../../events/define-event.ts";
import { createEventRegistry } from "../../../events/event-registry.ts";
import { createMemoryKeyStore } from "../../../events/keys/memory.ts";
import { asEncrypted, blobsOfThread } from "../../../events/keys/with-encryption.ts";
import { openStore } from "../../../events/open-store.ts";
import type { Store } from "../../../events/store.ts";
import { newEvent } from "../log/new-events.ts";

const secret = "Chinchilla";
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-encrypt-"));
});
afterEach(() => rm(folder, { recursive: true }));

const url = () => `sqlite:${join(folder, "threads.db")}`;
const titleSet = () => newEvent({ data: { title: secret, origin: "user" } });
async function dataOf(store: Store): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const page of store.log.readAll()) found.push(...page.map(({ data }) => data));
  return found;
}
async function filesHold(text: string): Promise<boolean> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(files.map((file) => readFile(file)));
  return contents.some((content) => content.includes(text));
}

describe("encryption of a store", () => {
  test("is off by default", async () => {
    const store = await openStore(url());
    await store.log.append("thread-1", [titleSet()], { expectedVersion: 0 });
    expect(asEncrypted(store)).toBeUndefined();
    expect(await filesHold(secret)).toBe(true);
    expect(blobsOfThread(store, "1")).toBe(store.blobs);
    await store.close();
  });

  test("is on by one option, and from then on whenever the store is opened", async () => {
    const store = await openStore(url(), { encrypt: true });
    await store.log.append("thread-1", [titleSet()], { expectedVersion: 0 });
    await blobsOfThread(store, "1").put(secret, "text/plain");
    await store.side.put("snapshot", "thread-1|a|1", { title: secret });
    expect(await filesHold(secret)).toBe(false);
    await store.close();
    expect(await readdir(folder)).toContain("threads.keys");

    const again = await openStore(url());
    await again.log.append("thread-1", [titleSet()], { expectedVersion: 1 });
    expect(await dataOf(again)).toEqual(Array(2).fill({ title: secret, origin: "user" }));
    await again.close();
    expect(await filesHold(secret)).toBe(false);
  });

  test("can have its keys elsewhere, and can be left out to see what is stored", async () => {
    const keys = createMemoryKeyStore();
    const store = await openStore(url(), { encrypt: keys });
    await store.log.append("thread-1", [titleSet()], { expectedVersion: 0 });
    await store.close();
    expect(await readdir(folder)).not.toContain("threads.keys");
    expect(await keys.read("thread-1")).toBeInstanceOf(Uint8Array);
    const stored = await openStore(url(), { encrypt: false });
    expect(JSON.stringify(await dataOf(stored))).toContain("$sealed");
    await stored.close();
  });

  test("works in memory", async () => {
    const store = await openStore("memory:", { encrypt: true });
    await store.log.append("thread-1", [titleSet()], { expectedVersion: 0 });
    expect(await dataOf(store)).toEqual([{ title: secret, origin: "user" }]);
    expect(JSON.stringify(await dataOf({ ...store, log: store.log.stored ?? store.log }))).not.toContain(
      secret,
    );
    await store.close();
  });

  test("gives one blob store for each thread", async () => {
    const store = await openStore("memory:", { encrypt: true });
    expect(blobsOfThread(store, "1")).toBe(blobsOfThread(store, "1"));
    expect(blobsOfThread(store, "1")).not.toBe(blobsOfThread(store, "2"));
    await store.close();
  });

  test("covers the events of an agent that came later", async () => {
    const PlanWritten = defineEvent({
      type: "PlanWritten",
      schema: z.object({ plan: z.string() }),
      content: ["plan"],
    });
    const store = await openStore("memory:", { encrypt: true });
    asEncrypted(store)?.learn(createEventRegistry([{ source: "planner", events: [PlanWritten] }]));
    const plan = newEvent({ type: "PlanWritten", data: { plan: secret } });
    await store.log.append("thread-1", [plan], { expectedVersion: 0 });
    expect(JSON.stringify(await dataOf(asEncrypted(store)?.stored ?? store))).not.toContain(secret);
    expect(await dataOf(store)).toEqual([{ plan: secret }]);
    await store.close();
  });
});
