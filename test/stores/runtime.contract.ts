import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Agent } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { interrupt } from "../../actors/interrupt.ts";
import { queueRun } from "../../actors/queued-request.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { createWorker } from "../../actors/worker.ts";
import { threadStream } from "../../events/envelope.ts";
import { openStore } from "../../events/open-store.ts";
import type { Store } from "../../events/store.ts";
import { TitleSet } from "../../events/title.ts";
import { builtInProjections } from "../../projections/built-in.ts";
import { deleteThread, eraseThread } from "../../projections/erase-thread.ts";
import { createMemoryProjectionStore } from "../../projections/memory-projection-store.ts";
import { openProjectionStore, openProjections } from "../../projections/open-projections.ts";
import { rebuildProjection } from "../../projections/rebuild.ts";
import { listThreads, threadList } from "../../projections/thread-list.ts";
import { verifyThread } from "../../projections/verify.ts";
import { eventsOf, transcript, typesOf } from "../actors/recorded-events.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { eventually } from "../eventually.ts";

/** Long enough to be moved to the blob store. */
const longInput = "and so on ".repeat(8000);

/** Calls `add` for each message of the user, then says the sum. */
function agentOn(store: Store, options: { leaseMs?: number; systemPrompt?: string } = {}): Agent {
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

    test("a thread names blobs that are there, also when the only other thread that named them was erased elsewhere", async () => {
      const [running, elsewhere] = [await open(), await open()];
      const agent = agentOn(running, { systemPrompt: "Answer in one word." });
      await agent.thread("first").run("one").result;
      await deleteThread(elsewhere, "first");
      const blobsOf = async (id: string) => {
        await agent.thread(id).run("two").result;
        const { problems, blobs } = await verifyThread(elsewhere, id);
        expect(problems).toEqual([]);
        return blobs;
      };
      expect(await blobsOf("second")).toBeGreaterThan(1);
      // The blobs of a thread that goes on are its own, and stay.
      await agent.thread("third").run("one").result;
      await deleteThread(elsewhere, "third");
      expect(await blobsOf("second")).toBeGreaterThan(1);
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

    test("what one process queues, the workers of two others run, each run once", async () => {
      const threads = Array.from({ length: 12 }, (_, index) => `t-${index}`);
      const asking = await open();
      for (const input of ["one", "two"]) {
        for (const threadId of threads) await queueRun(asking, { threadId, input });
      }
      const worked: string[] = [];
      const workers = [await open(), await open()].map((store) =>
        createWorker({
          agent: agentOn(store),
          pollMs: 50,
          concurrency: 6,
          onRun: ({ runId, outcome }) => worked.push(`${runId} ${outcome}`),
        }),
      );
      await eventually(() => worked.length).toBe(24);
      await Promise.all(workers.map((worker) => worker.stop()));
      expect(new Set(worked).size).toBe(24);
      expect(await asking.queue.list(1)).toEqual([]);
      const agent = agentOn(asking);
      for (const threadId of threads) {
        const { messages } = await agent.thread(threadId).state();
        const inputs = transcript(messages).filter((line) => line.startsWith("human"));
        expect(inputs).toEqual(["human: one", "human: two"]);
        expect((await verifyThread(asking, threadId)).problems).toEqual([]);
      }
    }, 90_000);

    test("a question that one process asks is answered in another, once", async () => {
      const [one, two] = [await open(), await open()];
      const ask = defineTool({
        name: "ask",
        description: "asks",
        schema: z.object({}),
        run: () => interrupt("question", "how many?"),
        onAnswer: (answer) => `${answer} it is`,
      });
      const model = new ScriptedModel({
        answers: (messages) => (messages.at(-1)?.getType() === "human" ? callsTools(["ask", {}]) : "done"),
      });
      const asked = await createAgent({ model, tools: [ask], store: one })
        .thread("t")
        .run("go").result;
      expect(asked.status).toBe("interrupted");
      const answering = createAgent({ model, tools: [ask], store: two }).thread("t");
      const answered = await answering.resume({ all: 3 }).result;
      expect(transcript(answered.state.messages).slice(-2)).toEqual(["tool: 3 it is", "ai: done"]);
      const again = answering.resume({ [asked.interrupts[0]?.id ?? ""]: 4 }).result;
      await expect(again).rejects.toMatchObject({ name: "InterruptAnsweredError" });
    });

    test("read models lie with the store: others read what one process feeds, and one of them takes over", async () => {
      const [one, two] = [await open(), await open()];
      const first = await openProjections(one, { projections: [threadList], pollMs: 20 });
      await eventually(async () => (await first.status())[0]?.state).toBe("live");
      const second = await openProjections(two, { projections: [threadList], pollMs: 20 });
      const idsSeen = async () => (await listThreads(second.view(threadList), {})).map(({ key }) => key);
      const end = async (store: Store) => {
        let position = "";
        for await (const page of store.log.readAll()) position = page.at(-1)?.position ?? position;
        return position;
      };
      await agentOn(two).thread("a").run("one").result;
      await second.whenCaughtUp(await end(two));
      expect(await idsSeen()).toEqual(["a"]);
      expect((await second.status())[0]?.state).toBe("waiting");
      await first.close();
      await eventually(async () => (await second.status())[0]?.state).toBe("live");
      await agentOn(one).thread("b").run("two").result;
      await second.whenCaughtUp(await end(two));
      expect(await idsSeen()).toEqual(["b", "a"]);
      await second.close();
    });

    test("an erased thread keeps its chain and loses its content; a deleted one is gone", async () => {
      const store = await open(true);
      const agent = agentOn(store);
      for (const id of ["t", "u"]) await agent.thread(id).run(`${longInput} ${id}`).result;
      await agent.thread("t").record([TitleSet({ title: "TopSecret", origin: "user" })]);
      await agent.close();
      const rows = await openProjectionStore(store);
      const following = await openProjections(store, { rows });
      for (const run of following.runs) await eventually(async () => (await run.lag()).events).toBe(0);
      await following.close();
      const holdsTitle = async () => JSON.stringify(await rows.list("thread-list")).includes("TopSecret");
      expect(await holdsTitle()).toBe(true);
      const projections = { store: rows, projections: builtInProjections };
      const { blobs } = await eraseThread(store, "t", { reason: "asked by the user", projections });
      expect(blobs).toBeGreaterThan(0);
      expect(await holdsTitle()).toBe(false);
      await rows.close();
      expect(await verifyThread(store, "t", { checks: ["chain"] })).toMatchObject({ problems: [] });
      let text = "";
      for await (const page of store.log.read(threadStream("t"))) text += JSON.stringify(page);
      expect(text).not.toContain("and so on");
      await deleteThread(store, "u");
      expect(await store.log.head(threadStream("u"))).toMatchObject({ deleted: true });
    });
  });
}
