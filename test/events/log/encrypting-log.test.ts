import { describe, expect, test } from "vitest";
import { z } from "zod";
import { BlobMissingError } from "../../../events/blobs/blob-store.ts";
import { createEncryptingBlobs } from "../../../events/blobs/encrypting-blobs.ts";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import { defineEvent } from "../../../events/define-event.ts";
import { createEventRegistry, type EventRegistry } from "../../../events/event-registry.ts";
import { findBrokenLink } from "../../../events/hash-chain.ts";
import { KeyDestroyedError, KeyMissingError } from "../../../events/keys/key-store.ts";
import { createMemoryKeyStore } from "../../../events/keys/memory.ts";
import { createThreadKeys } from "../../../events/keys/thread-keys.ts";
import { createEncryptingLog, storedLog } from "../../../events/log/encrypting-log.ts";
import { createEncryptingSide } from "../../../events/log/encrypting-side.ts";
import { DamagedEventError, type EventLog } from "../../../events/log/event-log.ts";
import { createMemoryLog } from "../../../events/log/memory.ts";
import { createMemorySide } from "../../../events/log/memory-side.ts";
import { describeAppends } from "./event-log-appends.contract.ts";
import { describeReads } from "./event-log-reads.contract.ts";
import { describeSubscriptions } from "./event-log-subscriptions.contract.ts";
import { collect, newEvent } from "./new-events.ts";

const secret = "Chinchilla";
const stream = "thread-1";

const contentOf = (registry: EventRegistry) => (type: string) => registry.get(type)?.content ?? [];

function setUp(registry = createEventRegistry()) {
  const inner = createMemoryLog();
  const keyStore = createMemoryKeyStore();
  const keys = createThreadKeys(keyStore);
  return { inner, keyStore, keys, log: createEncryptingLog(inner, keys, contentOf(registry)) };
}
const titleSet = () => newEvent({ data: { title: secret, origin: "user" } });
const textOf = async (log: EventLog) => JSON.stringify(await collect(log.readAll()));

describe("a log that encrypts does what every log does", () => {
  describeAppends(() => setUp().log);
  describeReads(() => setUp().log);
  describeSubscriptions(() => setUp().log);
});

describe("content in an encrypted log", () => {
  test("is stored as ciphertext over which the chain verifies, and read as it was", async () => {
    const { inner, log } = setUp();
    const appended = await log.append(stream, [titleSet(), titleSet()], { expectedVersion: 0 });
    const read = await collect(log.read(stream));
    expect(read.map(({ data }) => data)).toEqual([
      { title: secret, origin: "user" },
      { title: secret, origin: "user" },
    ]);
    expect(appended.events).toEqual(read);
    expect(await textOf(inner)).not.toContain(secret);
    expect(storedLog(log)).toBe(inner);
    expect(findBrokenLink(await collect(inner.read(stream)))).toBeUndefined();
  });

  test("is read the same through every door", async () => {
    const { log } = setUp();
    await log.append(stream, [titleSet()], { expectedVersion: 0 });
    expect(await textOf(log)).toContain(secret);
    for await (const item of log.subscribe()) {
      expect(JSON.stringify(item)).toContain(secret);
      break;
    }
  });

  test("of equal texts gives different ciphertexts, so that nobody sees what repeats", async () => {
    const { inner, log } = setUp();
    await log.append(stream, [titleSet(), titleSet()], { expectedVersion: 0 });
    const [one, two] = (await collect(inner.read(stream))).map(({ data }) => JSON.stringify(data));
    expect(one).not.toBe(two);
  });

  test("of an event that a user defined is encrypted when the registry knows it", async () => {
    const PlanWritten = defineEvent({
      type: "PlanWritten",
      schema: z.object({ plan: z.string(), step: z.number() }),
      content: ["plan"],
    });
    const { inner, log } = setUp(createEventRegistry([{ source: "planner", events: [PlanWritten] }]));
    const event = newEvent({ type: "PlanWritten", data: { plan: secret, step: 1 } });
    await log.append(stream, [event], { expectedVersion: 0 });
    expect(await textOf(inner)).not.toContain(secret);
    expect(await textOf(log)).toContain(secret);
  });

  test("recorded in plain text before is still read", async () => {
    const { inner, log } = setUp();
    await inner.append(stream, [titleSet()], { expectedVersion: 0 });
    await log.append(stream, [titleSet()], { expectedVersion: 1 });
    expect((await collect(log.read(stream))).map(({ data }) => data)).toHaveLength(2);
    expect(await textOf(log)).not.toContain("$sealed");
  });

  test("moved to another event does not open", async () => {
    const { inner, log } = setUp();
    await log.append(stream, [titleSet()], { expectedVersion: 0 });
    const [event] = await collect(inner.read(stream));
    await inner.append(stream, [newEvent({ data: event?.data ?? null })], { expectedVersion: 1 });
    await expect(collect(log.read(stream))).rejects.toThrow(DamagedEventError);
  });
});

describe("when the key is destroyed", () => {
  test("events stay with blanks, the chain verifies, and nothing more can be added", async () => {
    const { inner, log, keys } = setUp();
    await log.append(stream, [titleSet()], { expectedVersion: 0 });
    await keys.destroy(stream);
    expect((await collect(log.read(stream)))[0]?.data).toEqual({
      title: "",
      origin: "user",
      $erased: ["title"],
    });
    expect(findBrokenLink(await collect(inner.read(stream)))).toBeUndefined();
    await expect(log.append(stream, [titleSet()], { expectedVersion: 1 })).rejects.toThrow(KeyDestroyedError);
    const plain = newEvent({ type: "ThreadErased", data: {} });
    expect((await log.append(stream, [plain], { expectedVersion: 1 })).version).toBe(2);
  });

  test("by another process, this one notices at the event that says so", async () => {
    const { inner, log, keyStore } = setUp();
    await log.append(stream, [titleSet()], { expectedVersion: 0 });
    await inner.append(stream, [newEvent({ type: "ThreadErased", data: {} })], { expectedVersion: 1 });
    await keyStore.destroy(stream);
    expect(await textOf(log)).not.toContain(secret);
  });

  test("other threads are not touched", async () => {
    const { log, keys } = setUp();
    await log.append(stream, [titleSet()], { expectedVersion: 0 });
    await log.append("thread-2", [titleSet()], { expectedVersion: 0 });
    await keys.destroy(stream);
    expect((await collect(log.read("thread-2")))[0]?.data).toEqual({ title: secret, origin: "user" });
  });

  test("deleting a stream destroys its key", async () => {
    const { log, keyStore } = setUp();
    await log.append(stream, [titleSet()], { expectedVersion: 0 });
    await log.erase(stream);
    expect(await keyStore.read(stream)).toBe("destroyed");
  });
});

test("a log without its key store says so instead of showing blanks", async () => {
  const { inner, log } = setUp();
  await log.append(stream, [titleSet()], { expectedVersion: 0 });
  const foreign = createEncryptingLog(
    inner,
    createThreadKeys(createMemoryKeyStore()),
    contentOf(createEventRegistry()),
  );
  await expect(collect(foreign.read(stream))).rejects.toThrow(KeyMissingError);
});

describe("encrypted blobs", () => {
  function blobs() {
    const inner = createMemoryBlobs();
    const keys = createThreadKeys(createMemoryKeyStore());
    const of = (keyId: string) => createEncryptingBlobs(inner, keys, keyId);
    return { inner, keys, of };
  }

  test("come back as they were, under any thread's eyes, and the reference tells the plain size", async () => {
    const { inner, of } = blobs();
    const reference = await of("thread-1").put(secret, "text/plain");
    expect(reference).toMatchObject({ mimeType: "text/plain", size: secret.length });
    expect(Buffer.from(await of("store").get(reference.sha256)).toString()).toBe(secret);
    expect(Buffer.from(await inner.get(reference.sha256)).includes(secret)).toBe(false);
  });

  test("of one thread are stored once; of two threads they cannot be linked", async () => {
    const { of } = blobs();
    const [one, again, other] = await Promise.all(
      ["thread-1", "thread-1", "thread-2"].map((id) => of(id).put(secret, "text/plain")),
    );
    expect(one?.sha256).toBe(again?.sha256);
    expect(one?.sha256).not.toBe(other?.sha256);
  });

  test("are missing when their thread's key is destroyed", async () => {
    const { keys, of } = blobs();
    const { sha256 } = await of("thread-1").put(secret, "text/plain");
    await keys.destroy("thread-1");
    await expect(of("store").get(sha256)).rejects.toThrow(BlobMissingError);
  });

  test("stored in plain text before are read as they are", async () => {
    const { inner, of } = blobs();
    const { sha256 } = await inner.put(secret, "text/plain");
    expect(Buffer.from(await of("thread-1").get(sha256)).toString()).toBe(secret);
  });
});

describe("encrypted side records", () => {
  test("hide snapshots, leave the others, and lose snapshots with the key", async () => {
    const inner = createMemorySide();
    const keys = createThreadKeys(createMemoryKeyStore());
    const side = createEncryptingSide(inner, keys);
    await side.put("snapshot", "thread-1|abc|1", { title: secret });
    await side.put("lease", "owner", { until: 1 });
    expect(JSON.stringify(await inner.list("snapshot"))).not.toContain(secret);
    expect(await side.get("snapshot", "thread-1|abc|1")).toMatchObject({
      value: { title: secret },
      revision: 1,
    });
    expect(await side.list("snapshot", { prefix: "thread-1|" })).toHaveLength(1);
    expect(await inner.get("lease", "owner")).toMatchObject({ value: { until: 1 } });
    await keys.destroy("thread-1");
    expect(await side.get("snapshot", "thread-1|abc|1")).toBeUndefined();
    expect(await side.list("snapshot")).toEqual([]);
  });
});
