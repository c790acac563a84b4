import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../events/canonical-json.ts";
import type { RecordedEvent } from "../../events/envelope.ts";
import { chainStart, findBrokenLink, hashEvent, sealEvents, sha256 } from "../../events/hash-chain.ts";
import { newEvent, newEvents } from "./log/new-events.ts";

const seal = (count: number): RecordedEvent[] =>
  sealEvents("thread-1", { version: 0, hash: chainStart }, newEvents(count)).map((event, index) => ({
    ...event,
    position: String(index),
  }));

describe("hash chain", () => {
  it("hashes the previous hash and the canonical JSON of the event without hashes and position", () => {
    const event = newEvent({ metadata: { runId: "run-1", step: 3 } });
    const [sealed] = sealEvents("thread-1", { version: 4, hash: "ab".repeat(32) }, [event]);
    const text = "ab".repeat(32) + canonicalJson({ ...event, stream: "thread-1", version: 5 });
    expect(sealed?.metadata.hash).toBe(createHash("sha256").update(text).digest("hex"));
    expect(sealed).toMatchObject({ ...event, version: 5, metadata: { previousHash: "ab".repeat(32) } });
  });

  it("hashes the same with and without keys that are undefined", () => {
    const event = { ...newEvent(), stream: "thread-1", version: 1 };
    const padded = { ...event, metadata: { ...event.metadata, runId: undefined, traceparent: undefined } };
    expect(hashEvent(padded as never, chainStart)).toBe(hashEvent(event, chainStart));
  });

  it("holds for sealed events, from the start and from any head", () => {
    const events = seal(10);
    expect(findBrokenLink(events)).toBeUndefined();
    const head = events[5];
    if (!head) throw new Error("ten events");
    expect(findBrokenLink(events.slice(6), { version: 6, hash: head.metadata.hash })).toBeUndefined();
  });

  it.each([
    [
      "a changed event",
      "hash",
      (events: RecordedEvent[]) => events.with(3, { ...(events[3] as RecordedEvent), data: "changed" }),
    ],
    ["a missing event", "version-gap", (events: RecordedEvent[]) => events.toSpliced(3, 1)],
    [
      "another event in its place",
      "previous-hash",
      (events: RecordedEvent[]) => events.with(3, { ...(seal(4)[3] as RecordedEvent) }),
    ],
  ])("breaks at %s", (_what, reason, change) => {
    expect(findBrokenLink(change(seal(6)))).toMatchObject({ stream: "thread-1", reason });
  });

  it("names the version and both hashes", () => {
    const events = seal(3);
    const changed = { ...(events[1] as RecordedEvent), type: "Forged" };
    const link = findBrokenLink([events[0] as RecordedEvent, changed]);
    expect(link).toMatchObject({ version: 2, reason: "hash", actual: changed.metadata.hash });
    expect(link?.expected).toBe(hashEvent(changed, events[0]?.metadata.hash ?? ""));
  });

  it("hashes texts as UTF-8 and bytes alike", () => {
    expect(sha256("ä")).toBe(sha256(new TextEncoder().encode("ä")));
    expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });
});
