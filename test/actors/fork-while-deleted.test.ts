import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAgent } from "../../actors/create-agent.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { archiveThread } from "../../projections/archive.ts";
import { deleteThread, ThreadHasChildrenError } from "../../projections/erase-thread.ts";
import { UnknownThreadError } from "../../projections/lineage.ts";
import { ScriptedModel } from "./scripted-model.ts";

let folder: string;
let stores: readonly [Store, Store];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "threadfold-delete-"));
  const url = `sqlite:${join(folder, "threads.db")}`;
  stores = [await openStore(url), await openStore(url)];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  await rm(folder, { recursive: true });
});

test.each(["delete", "archive"])(
  "of a fork and a process that takes its parent away (%s) one is refused",
  async (how) => {
    const [here, there] = stores;
    const agent = createAgent({ model: new ScriptedModel({ answers: Array(20).fill("ok") }), store: here });
    const outcomes = new Set<string>();
    for (let round = 0; round < 12; round++) {
      const id = `p${round}`;
      await agent.thread(id).run("go").result;
      const take = async () => {
        if (how === "delete") return deleteThread(there, id);
        return archiveThread(there, id, { file: join(folder, `${id}.gz`), remove: true });
      };
      // So that either may be first.
      const [taken, forked] = await Promise.allSettled([
        pause(round % 3).then(take),
        pause((round + 1) % 4).then(() => agent.thread(id).fork({ threadId: `${id}-fork` })),
      ]);
      outcomes.add(`${taken.status} ${forked.status}`);
      if (taken.status === "rejected") expect(taken.reason).toBeInstanceOf(ThreadHasChildrenError);
      if (forked.status === "rejected") expect(forked.reason).toBeInstanceOf(UnknownThreadError);
      else expect((await agent.thread(`${id}-fork`).state()).messages).toHaveLength(2);
    }
    expect(outcomes).not.toContain("fulfilled fulfilled");
    expect(outcomes).not.toContain("rejected rejected");
    await agent.close();
  },
);

test("the lock of a process that died is taken over when its time is up", async () => {
  const [here, there] = stores;
  const agent = createAgent({ model: new ScriptedModel({ answers: ["ok"] }), store: here });
  await agent.thread("p").run("go").result;
  await there.side.put("history-lock", "thread-p", { until: Date.now() + 300 });
  const start = performance.now();
  await agent.thread("p").fork({ threadId: "f" });
  expect(performance.now() - start).toBeGreaterThan(200);
  expect(await there.side.get("history-lock", "thread-p")).toBeUndefined();
  await agent.close();
});
