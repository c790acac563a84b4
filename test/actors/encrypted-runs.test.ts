import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAgent } from "../../actors/create-agent.ts";
import { whatIf } from "../../actors/what-if.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { ContentErasedError } from "../../projections/content-erased.ts";
import { eraseThread } from "../../projections/erase-thread.ts";
import { redactThread } from "../../projections/redaction.ts";
import { verifyThread } from "../../projections/verify.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { add, callsTools } from "./simple-tools.ts";

const secret = "Vermilion Chinchilla";
let folder: string;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-encrypted-"));
  store = await openStore(join(folder, "threads.db"), { encrypt: true });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

async function filesWith(text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    if ((await readFile(path)).includes(text)) found.push(path);
  }
  return found;
}

const agentOn = (opened: Store) =>
  createAgent({
    model: new ScriptedModel({ answers: [callsTools(["add", { a: 1, b: 2 }]), `${secret}: 3`] }),
    tools: [add],
    store: opened,
    systemPrompt: "Answer shortly.",
  });

/** Long enough to be moved to the blob store. */
const longInput = `${secret} ${"and so on ".repeat(4000)}`;

test("a run on an encrypted store leaves no plain content, verifies, and goes on after the store was opened again", async () => {
  const image = `data:image/png;base64,${Buffer.from(secret).toString("base64")}`;
  const content = [
    { type: "text", text: longInput },
    { type: "image_url", image_url: { url: image } },
  ];
  const agent = agentOn(store);
  const first = await agent.thread("t").run({ messages: [new HumanMessage({ content })] }).result;
  expect(first.status).toBe("completed");
  await agent.close();
  expect(await filesWith(secret)).toEqual([]);

  await store.close();
  store = await openStore(join(folder, "threads.db"));
  const again = agentOn(store);
  const second = await again.thread("t").run("once more").result;
  expect(second.status).toBe("completed");
  expect(JSON.stringify(second.state.messages)).toContain(`${secret}: 3`);
  const verified = await verifyThread({ ...store, reducer: again.reducer, registry: again.registry }, "t");
  expect(verified.problems).toEqual([]);
  expect(verified.blobs).toBeGreaterThan(1);
  await again.close();
  expect(await filesWith(secret)).toEqual([]);
});

test("after the thread is erased it still verifies, and its state has no content", async () => {
  const agent = agentOn(store);
  await agent.thread("t").run(longInput).result;
  await agent.thread("t").passivate();
  expect(JSON.stringify(await agent.thread("t").state())).toContain(secret);
  await agent.thread("t").passivate();

  await eraseThread(store, "t");
  const state = await agent.thread("t").state();
  expect(JSON.stringify(state)).not.toContain(secret);
  expect((state.messages as { type: string }[]).map(({ type }) => type)).toEqual([
    "human",
    "ai",
    "tool",
    "ai",
  ]);
  const verified = await verifyThread({ ...store, reducer: agent.reducer, registry: agent.registry }, "t");
  expect(verified).toMatchObject({ problems: [], erasedStates: 1 });
  const { version } = await store.log.head("thread-t");
  await expect(agent.thread("t").rewind({ to: 1 })).rejects.toThrow(ContentErasedError);
  await expect(redactThread(store, "t", { rule: "title" })).rejects.toThrow(ContentErasedError);
  await expect(whatIf(agent, "t", { at: 0 })).rejects.toThrow(ContentErasedError);
  // What is refused records nothing.
  expect((await store.log.head("thread-t")).version).toBe(version);
  await expect(agent.thread("t").run("more").result).rejects.toThrow(/was destroyed when it was erased/);
  await agent.close();
});
