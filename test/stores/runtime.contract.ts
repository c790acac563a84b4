import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Agent } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { threadStream } from "../../events/envelope.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { builtInProjections } from "../../projections/built-in.ts";
import { deleteThread, eraseThread } from "../../projections/erase-thread.ts";
import { createMemoryProjectionStore } from "../../projections/memory-projection-store.ts";
import { openProjections } from "../../projections/open-projections.ts";
import { rebuildProjection } from "../../projections/rebuild.ts";
import { listThreads, threadList } from "../../projections/thread-list.ts";
import { verifyThread } from "../../projections/verify.ts";
import { eventsOf, transcript, typesOf } from "../actors/recorded-events.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";
import { add, callsTools } from "../actors/simple-tools.ts";

/** Long enough to be moved to the blob store. */
const longInput = "and so on ".repeat(8000);

/** Calls `add` for each message of the user, then says the sum. */
function agentOn(store: Store, options: { leaseMs?: number } = {}): Agent {
  const model = new ScriptedModel({
    answers: (messages) =>
      messages.at(-1)?.getType() === "human"
        ? callsTools(["add", { a: 1, b: messages.length }])
        : `sum ${messages.at(-1)?.content}`,
  });
  return createAgent({ model, tools: [add], store, ...options });
}

/**
 * What the runtime does on a store of any kind: runs, time travel, forks, rewinds, read models, verification, erasure.
 *
 * @param newUrl URL of a store that is not there yet
 */
export function describeRuntime(name: string, newUrl: () => Promise<string>): void {
  describe(`runtime on ${name}`, () => {
    let url: string;
    const opened: Store[] = [];
    const open = async (encrypt?: boolean) => {
      const store = await openStore(url, encrypt === undefined ? {} : { encrypt });
      opened.push(store);
      return store;
    };
    beforeEach(async () => {
      url = await newUrl();
    });
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    test("a run with tools; the same state after the store was opened again, and a state for every version", async () => {
      const agent = agentOn(await open());
      const first = await agent.thread("t").run("one").result;
      const { state, version, status } = await agent.thread("t").run(longInput).result;
      expect(status).toBe("completed");
      expect(transcript(state.messages).at(-1)).toMatch(/^ai: sum \d+$/);
      await agent.close();

      const store = await open();
      const reopened = agentOn(store).thread("t");
      expect(await reopened.state()).toEqual(state);
      expect(await reopened.stateAt(first.version)).toEqual(first.state);
      expect((await eventsOf(reopened)).map((event) => event.version)).toEqual(
        Array.from({ length: version }, (_, index) => index + 1),
      );
      const verified = await verifyThread(store, "t");
      expect(verified).toMatchObject({ version, problems: [], stateHashes: 2 });
    });

    test("forks and rewinds", async () => {
      const store = await open();
      const agent = agentOn(store);
      const thread = agent.thread("t");
      const first = await thread.run("one").result;
      const second = await thread.run("two").result;
      const fork = await thread.fork({ at: first.version, threadId: "forked" });
      expect(await fork.state()).toEqual(first.state);
      await fork.run("three").result;
      expect(await thread.state()).toEqual(second.state);
      await thread.rewind({ to: first.version });
      expect(await thread.state()).toEqual(first.state);
      expect(await thread.stateAt(second.version)).toEqual(second.state);
      for (const id of ["t", "forked"]) expect((await verifyThread(store, id)).problems).toEqual([]);
    });

    test("of two owners of one thread exactly one runs; the other process sees its events live", async () => {
      const [one, two] = [await open(), await open()];
      const seen: string[] = [];
      const controller = new AbortController();
      const tail = (async () => {
        const items = two.log.subscribe({ stream: threadStream("t"), signal: controller.signal });
        for await (const item of items) {
          if (item.kind !== "event") continue;
          seen.push(item.event.type);
          if (item.event.type === "RunCompleted") return;
        }
      })();
      const runs = [one, two].map((store) => agentOn(store).thread("t").run("go").result);
      const settled = await Promise.allSettled(runs);
      const completed = settled.filter(
        (run) => run.status === "fulfilled" && run.value.status === "completed",
      );
      expect(completed.length).toBeGreaterThan(0);
      await tail;
      controller.abort();
      const types = await typesOf(agentOn(one).thread("t"));
      expect(types.slice(0, seen.length)).toEqual(seen);
      const starts = types.filter((type) => type === "RunStarted").length;
      expect(types.filter((type) => type === "RunCompleted")).toHaveLength(starts);
      expect((await verifyThread(one, "t")).problems).toEqual([]);
    });

    test("20 threads at the same time, and read models that follow and rebuild to the same rows", async () => {
      const store = await open();
      const agent = agentOn(store);
      const rows = createMemoryProjectionStore();
      const projections = await openProjections(store, { rows });
      const ids = Array.from({ length: 20 }, (_, index) => `t-${index}`);
      await Promise.all(ids.map((id) => agent.thread(id).run(`hello ${id}`).result));
      let position = "";
      for await (const page of store.log.readAll()) position = page.at(-1)?.position ?? position;
      await projections.whenCaughtUp(position);
      const followed = await listThreads(projections.view(threadList), { limit: 100 });
      expect(followed.map(({ key }) => key).sort()).toEqual([...ids].sort());
      await projections.close();

      const again = createMemoryProjectionStore();
      const { registry } = agent;
      await rebuildProjection({ projection: threadList, log: store.log, store: again, registry });
      const rebuilt = await again.list("thread-list");
      expect(rebuilt.map(({ value }) => value)).toEqual(followed.map(({ row }) => row));
    });

    test("an erased thread keeps its chain and loses its content; a deleted one is gone", async () => {
      const store = await open(true);
      const agent = agentOn(store);
      for (const id of ["t", "u"]) await agent.thread(id).run(`${longInput} ${id}`).result;
      await agent.close();
      const projections = { store: createMemoryProjectionStore(), projections: builtInProjections };
      const { blobs } = await eraseThread(store, "t", { reason: "asked by the user", projections });
      expect(blobs).toBeGreaterThan(0);
      expect(await verifyThread(store, "t", { checks: ["chain"] })).toMatchObject({ problems: [] });
      let text = "";
      for await (const page of store.log.read(threadStream("t"))) text += JSON.stringify(page);
      expect(text).not.toContain("and so on");
      await deleteThread(store, "u");
      expect(await store.log.head(threadStream("u"))).toMatchObject({ deleted: true });
    });
  });
}
