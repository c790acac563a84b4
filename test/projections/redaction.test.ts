import { beforeEach, describe, expect, test } from "vitest";
import { findBrokenLink } from "../../events/hash-chain.ts";
import { createMemoryKeyStore } from "../../events/keys/memory.ts";
import { parseRedactionRule, RedactionRuleError } from "../../events/keys/redaction-rule.ts";
import { blobsOfThread, type EncryptedStore, withEncryption } from "../../events/keys/with-encryption.ts";
import { withRedaction } from "../../events/log/redacting-log.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { TitleSet } from "../../events/title.ts";
import { ToolOutputExternalized } from "../../events/tool.ts";
import { openProjectionStore, openProjections } from "../../projections/open-projections.ts";
import { NothingToRedactError, redactThread } from "../../projections/redaction.ts";
import { threadList } from "../../projections/thread-list.ts";
import { verifyThread } from "../../projections/verify.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { appendDrafts } from "./append-drafts.ts";
import { readThread } from "./read-thread.ts";

const card = "4111111111111111";
const messages = [
  { id: "m1", type: "human", content: `My card is ${card}, thanks` },
  { id: "m2", type: "ai", content: "I should not know that" },
];

let plain: Store;
let encrypted: EncryptedStore;
beforeEach(async () => {
  plain = await openStore("memory:");
  encrypted = withEncryption(await openStore("memory:"), createMemoryKeyStore());
  for (const { log } of [plain, encrypted]) {
    await appendDrafts(log, "t", [
      TitleSet({ title: `Card ${card}`, origin: "user" }),
      MessagesAdded({ messages }),
    ]);
    await appendDrafts(log, "t", [TitleSet({ title: "Harmless", origin: "user" })]);
  }
  return async () => {
    await plain.close();
    await encrypted.close();
  };
});

const textOf = async (store: Store) => JSON.stringify(await readThread(store.log, "t"));

describe("redacting by a pattern", () => {
  test.each(["plain", "encrypted"])("deletes stored outputs that it matches: %s", async (which) => {
    const store = which === "plain" ? plain : encrypted;
    const put = (threadId: string, text: string) => blobsOfThread(store, threadId).put(text, "text/plain");
    const long = "a line\n".repeat(3000);
    const outputs = {
      matching: await put("t", `${long}${card}\n${long}`),
      harmless: await put("t", long),
      shared: await put("t", `${card} in two threads`),
    };
    const moved = ({ sha256 }: { sha256: string }, callId: string) =>
      ToolOutputExternalized({ callId, path: `/mnt/${callId}.log`, size: 1, sha256 });
    await appendDrafts(
      store.log,
      "t",
      Object.values(outputs).map((one, n) => moved(one, `c${n}`)),
    );
    // As a log that was in plain text has it: the same text under the same digest.
    await appendDrafts(store.log, "other", [moved(outputs.shared, "c")]);
    const found = await redactThread(store, "t", { rule: "/\\d{16}/", dryRun: true });
    expect(found.blobs).toEqual([outputs.matching.sha256]);
    expect(await store.blobs.has(outputs.matching.sha256)).toBe(true);
    await redactThread(store, "t", { rule: "/\\d{16}/" });
    for (const [name, { sha256 }] of Object.entries(outputs)) {
      expect([name, await store.blobs.has(sha256)]).toEqual([name, name !== "matching"]);
    }
    expect((await verifyThread(store, "t")).problems).toEqual([]);
    // Nothing but a stored text holds it.
    const { sha256 } = await put("alone", `${long}${card}`);
    await appendDrafts(store.log, "alone", [moved({ sha256 }, "c")]);
    const alone = await redactThread(store, "alone", { rule: "/\\d{16}/" });
    expect(alone).toMatchObject({
      blobs: [sha256],
      matches: [{ type: "ToolOutputExternalized", paths: [] }],
    });
    expect(await store.blobs.has(sha256)).toBe(false);
  });

  test("hides what it matches in a plain thread, wherever the thread is read, and the chain is untouched", async () => {
    const result = await redactThread(plain, "t", { rule: "/\\d{16}/", reason: "card number", by: "client" });
    expect(result).toMatchObject({
      effect: "hidden",
      version: 4,
      matches: [
        { version: 1, type: "TitleSet", paths: ["title"] },
        { version: 2, type: "MessagesAdded", paths: ["messages.0.content"] },
      ],
    });
    const shown = withRedaction(plain);
    const events = await readThread(shown.log, "t");
    expect(JSON.stringify(events)).not.toContain(card);
    expect(createThreadReducer().fold(events).messages).toEqual([
      { ...messages[0], content: "My card is [redacted], thanks" },
      messages[1],
    ]);
    expect(events.at(-1)).toMatchObject({
      type: "ContentRedacted",
      data: { rule: "/\\d{16}/", versions: [1, 2], reason: "card number" },
      metadata: { by: "client" },
    });
    expect(findBrokenLink(await readThread(shown.log.stored ?? plain.log, "t"))).toBeUndefined();
  });

  test("destroys the pieces that hold it in an encrypted thread, and nothing else", async () => {
    const result = await redactThread(encrypted, "t", { rule: "/\\d{16}/" });
    expect(result.effect).toBe("destroyed");
    const [title, added, later] = await readThread(encrypted.log, "t");
    expect(title?.data).toEqual({ title: "", origin: "user", $erased: ["title"] });
    expect(added?.data).toEqual({
      messages: [{ id: "m1", type: "human", content: "" }, messages[1]],
      $erased: ["messages.0"],
    });
    expect(later?.data).toEqual({ title: "Harmless", origin: "user" });
    expect(findBrokenLink(await readThread(encrypted.stored.log, "t"))).toBeUndefined();
  });

  test("is seen by readers and subscribers that were there before", async () => {
    const shown = withRedaction(plain);
    expect(await textOf(shown)).toContain(card);
    await redactThread(plain, "t", { rule: "/\\d{16}/" });
    expect(await textOf(shown)).not.toContain(card);
    const seen: unknown[] = [];
    for await (const item of shown.log.subscribe()) {
      if (item.kind === "caught-up") break;
      seen.push(item.event);
    }
    for await (const page of shown.log.readAll()) seen.push(...page);
    expect(seen).toHaveLength(8);
    expect(JSON.stringify(seen)).not.toContain(card);
  });
});

describe("redacting by a path", () => {
  test("takes the value out of the versions that are named only", async () => {
    await redactThread(plain, "t", { rule: "title", versions: [1] });
    const titles = (await readThread(withRedaction(plain).log, "t")).filter(
      ({ type }) => type === "TitleSet",
    );
    expect(titles.map(({ data }) => (data as { title: string }).title)).toEqual(["", "Harmless"]);
  });

  test("reaches every entry of a list by *", async () => {
    const { matches } = await redactThread(plain, "t", { rule: "messages.*.content" });
    expect(matches).toEqual([
      { version: 2, type: "MessagesAdded", paths: ["messages.0.content", "messages.1.content"] },
    ]);
    expect(await textOf(withRedaction(plain))).not.toContain("should not know");
  });

  test("does not reach what holds the log together", async () => {
    await expect(redactThread(plain, "t", { rule: "origin" })).rejects.toThrow(NothingToRedactError);
  });
});

test("a dry run tells what would be redacted and records nothing", async () => {
  const result = await redactThread(plain, "t", { rule: "title", dryRun: true });
  expect(result).toMatchObject({
    version: undefined,
    effect: "hidden",
    matches: [{ version: 1 }, { version: 3 }],
  });
  expect(await readThread(plain.log, "t")).toHaveLength(3);
});

test("a rule that fits nothing, or is no rule, is refused", async () => {
  await expect(redactThread(plain, "t", { rule: "/no such text/" })).rejects.toThrow(NothingToRedactError);
  for (const rule of ["", "a..b", "/(/"]) expect(() => parseRedactionRule(rule)).toThrow(RedactionRuleError);
});

test("snapshots and rows of projections forget it, too", async () => {
  const rows = await openProjectionStore(plain);
  const projections = await openProjections(plain, { projections: [threadList], rows, pollMs: 5 });
  const [event] = await appendDrafts(plain.log, "t", [TitleSet({ title: `Again ${card}`, origin: "user" })]);
  await projections.whenCaughtUp(event?.position ?? "");
  await plain.side.put("snapshot", "thread-t|x|1", { title: card });
  expect(JSON.stringify(await rows.list("thread-list"))).toContain(card);
  await redactThread(plain, "t", {
    rule: "/\\d{16}/",
    projections: { store: rows, projections: [threadList] },
  });
  expect(JSON.stringify(await rows.list("thread-list"))).not.toContain(card);
  expect(await plain.side.list("snapshot")).toEqual([]);
  await projections.close();
});
