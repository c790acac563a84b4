import { generateKeyPairSync } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { RecordedEvent } from "../../events/envelope.ts";
import { createMemoryKeyStore } from "../../events/keys/memory.ts";
import { createThreadKeys } from "../../events/keys/thread-keys.ts";
import { createEncryptingLog } from "../../events/log/encrypting-log.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { TitleSet } from "../../events/title.ts";
import { VersionOutOfRangeError } from "../../projections/lineage.ts";
import {
  generateSigningKeys,
  parseSignedHead,
  type SignedHead,
  SignedHeadFormatError,
  SigningKeyError,
  signHead,
  verifySignedHead,
} from "../../projections/signed-head.ts";
import { appendDrafts } from "./append-drafts.ts";
import { readThread } from "./read-thread.ts";

const { privateKey, publicKey } = generateSigningKeys();
const stream = "thread-t";
let log: EventLog;
let head: SignedHead;
let events: RecordedEvent[];
const title = () => TitleSet({ title: "t", origin: "user" });

beforeEach(async () => {
  log = createMemoryLog();
  await appendDrafts(log, "t", [title(), title(), title()]);
  head = await signHead(log, stream, { privateKey });
  events = await readThread(log, "t");
});

describe("a signed head", () => {
  test("holds for the stream that was signed, and for what follows it", async () => {
    expect(head).toMatchObject({
      stream,
      version: 3,
      hash: events[2]?.metadata.hash,
      recordedAt: events[2]?.recordedAt,
    });
    expect(await verifySignedHead(head, { publicKey })).toEqual({ holds: true, version: 3 });
    await appendDrafts(log, "t", [title()]);
    const parsed = parseSignedHead(JSON.stringify(head));
    expect(await verifySignedHead(parsed, { publicKey, events: log.read(stream) })).toEqual({
      holds: true,
      version: 3,
    });
  });

  test("of an earlier version can be made", async () => {
    const earlier = await signHead(log, stream, { privateKey, version: 2 });
    expect(await verifySignedHead(earlier, { publicKey, events: [events] })).toEqual({
      holds: true,
      version: 2,
    });
    await expect(signHead(log, stream, { privateKey, version: 9 })).rejects.toThrow(VersionOutOfRangeError);
  });

  test("is over the ciphertext of an encrypted log, so that an auditor needs no content key", async () => {
    const inner = createMemoryLog();
    const encrypted = createEncryptingLog(inner, createThreadKeys(createMemoryKeyStore()), () => ["title"]);
    await appendDrafts(encrypted, "t", [title()]);
    const signed = await signHead(encrypted, stream, { privateKey });
    expect(await verifySignedHead(signed, { publicKey, events: inner.read(stream) })).toMatchObject({
      holds: true,
    });
  });

  test.each(["stream", "version", "hash", "recordedAt"] as const)(
    "does not hold with another %s",
    async (field) => {
      const forged = { ...head, [field]: field === "version" ? 2 : `${head[field]}x` };
      expect(await verifySignedHead(forged, { publicKey })).toMatchObject({
        holds: false,
        reason: "signature",
      });
    },
  );

  test("does not hold for another key", async () => {
    const other = generateSigningKeys();
    expect(await verifySignedHead(head, { publicKey: other.publicKey })).toMatchObject({
      reason: "other-key",
    });
  });

  test("does not hold for a stream that was cut, changed or rewritten", async () => {
    expect(await verifySignedHead(head, { publicKey, events: [events.slice(0, 2)] })).toMatchObject({
      reason: "missing",
    });
    const changed = events.map((event) => (event.version === 2 ? { ...event, data: { title: "x" } } : event));
    expect(await verifySignedHead(head, { publicKey, events: [changed] })).toMatchObject({
      reason: "chain",
      detail: expect.stringContaining("thread-t@2"),
    });
    const rewritten = createMemoryLog();
    await appendDrafts(rewritten, "t", [title(), title(), title()]);
    expect(await verifySignedHead(head, { publicKey, events: rewritten.read(stream) })).toMatchObject({
      reason: "hash",
    });
  });
});

test("files and keys of another kind are refused with what is wanted", async () => {
  for (const text of ["", "{}", '{"format":"threadfold.signed-head"}']) {
    expect(() => parseSignedHead(text)).toThrow(SignedHeadFormatError);
  }
  const rsa = String(
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
  );
  for (const key of ["no key", rsa]) {
    await expect(signHead(log, stream, { privateKey: key })).rejects.toThrow(SigningKeyError);
  }
});
