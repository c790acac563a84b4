import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ClaimedRun, QueuedRun, RunQueue } from "../../../events/queue/run-queue.ts";
import { eventually } from "../../eventually.ts";

export interface QueueUnderTest {
  readonly queue: RunQueue;
  /** The same queue as another process sees it. */
  readonly other: RunQueue;
  dispose(): Promise<void>;
}

let runs = 0;
function queued(threadId: string, more: Partial<QueuedRun> = {}): QueuedRun {
  runs += 1;
  return {
    runId: `run-${String(runs).padStart(4, "0")}`,
    threadId,
    agent: "agent",
    request: { input: `hello ${threadId}` },
    afterVersion: 0,
    queuedAt: "2026-11-30T12:00:00.000Z",
    ...more,
  };
}

const idsOf = (claimed: readonly ClaimedRun[]) => claimed.map(({ runId }) => runId);

/** What every queue of runs must do. */
export function describeRunQueue(name: string, open: () => Promise<QueueUnderTest>): void {
  describe(`queue of runs: ${name}`, () => {
    let one: RunQueue;
    let two: RunQueue;
    let opened: QueueUnderTest;
    const claimBy = (queue: RunQueue, owner: string, limit = 10, leaseMs = 60_000) =>
      queue.claim({ owner, agent: "agent", limit, leaseMs });

    beforeEach(async () => {
      opened = await open();
      one = opened.queue;
      two = opened.other;
    });
    afterEach(() => opened.dispose());

    test("an empty queue gives nothing, and knows no run", async () => {
      expect(await claimBy(one, "a")).toEqual([]);
      expect(await one.list(10)).toEqual([]);
      expect(await one.renew("a", ["no"], 1000)).toEqual([]);
      expect(await one.withdraw("no")).toBe(false);
      expect(await one.retry("no")).toBe(false);
      await one.finish("a", "no");
    });

    test("a run comes out as it went in, in another process, too", async () => {
      const request = { input: { text: "你好 \u0000 \u{1F600}", deep: [null, { n: 1e21 }] } };
      const run = queued("t", { request, afterVersion: 7 });
      await one.add(run);
      expect(await claimBy(two, "b")).toMatchObject([{ ...run, attempt: 1 }]);
    });

    test("the same run id is queued once", async () => {
      const run = queued("t");
      await one.add(run);
      await two.add({ ...run, request: "other" });
      expect(await one.list(10)).toMatchObject([
        { runId: run.runId, request: run.request, state: "waiting" },
      ]);
    });

    test("runs are given in the order they were queued, of one thread one at a time", async () => {
      const [a1, b1, a2] = [queued("a"), queued("b"), queued("a")];
      for (const run of [a1, b1, a2]) await one.add(run);
      expect(idsOf(await claimBy(one, "w"))).toEqual([a1.runId, b1.runId]);
      expect(await claimBy(two, "v")).toEqual([]);
      await one.finish("w", a1.runId);
      expect(idsOf(await claimBy(two, "v"))).toEqual([a2.runId]);
    });

    test("at most as many as asked for, and only of the agent asked for", async () => {
      const mine = [queued("a"), queued("b"), queued("c")];
      const others = queued("d", { agent: "other" });
      for (const run of [others, ...mine]) await one.add(run);
      expect(idsOf(await claimBy(one, "w", 2))).toEqual(mine.slice(0, 2).map(({ runId }) => runId));
      expect(await claimBy(one, "w", 0)).toEqual([]);
      expect(idsOf(await one.claim({ owner: "o", agent: "other", limit: 5, leaseMs: 1000 }))).toEqual([
        others.runId,
      ]);
    });

    test("what two processes claim at the same time goes to one of them", async () => {
      const all = Array.from({ length: 30 }, (_, index) => queued(`t-${index}`));
      for (const run of all) await one.add(run);
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, worker) => claimBy(worker % 2 ? one : two, `w-${worker}`, 10)),
      );
      const given = claims.flatMap(idsOf);
      expect(new Set(given).size).toBe(given.length);
      for (let rest = await claimBy(one, "w", 50); rest.length > 0; rest = await claimBy(one, "w", 50)) {
        given.push(...idsOf(rest));
      }
      expect(given.sort()).toEqual(all.map(({ runId }) => runId).sort());
    });

    test("a claim that is not renewed is given to another worker; the first one cannot finish it any more", async () => {
      const run = queued("t");
      await one.add(run);
      await claimBy(one, "dead", 1, 1);
      let again: readonly ClaimedRun[] = [];
      while (again.length === 0) again = await claimBy(two, "alive", 1);
      expect(again).toMatchObject([{ runId: run.runId, attempt: 2 }]);
      expect(await one.renew("dead", [run.runId], 60_000)).toEqual([]);
      await one.finish("dead", run.runId);
      await one.release("dead", run.runId);
      expect(await one.list(10)).toMatchObject([{ state: "claimed", owner: "alive", attempts: 2 }]);
      expect(await two.renew("alive", [run.runId], 60_000)).toEqual([run.runId]);
      await two.finish("alive", run.runId);
      expect(await one.list(10)).toEqual([]);
    });

    test("a claim that ran out and that nobody took can still be renewed", async () => {
      const run = queued("t");
      await one.add(run);
      await claimBy(one, "slow", 1, 1);
      await eventually(async () => (await one.list(1))[0]?.state).toBe("waiting");
      expect(await one.renew("slow", [run.runId], 60_000)).toEqual([run.runId]);
      expect(await claimBy(two, "other")).toEqual([]);
    });

    test("a run that is given back can be had at once, and the attempt does not count", async () => {
      const run = queued("t");
      await one.add(run);
      await claimBy(one, "w");
      await one.release("w", run.runId);
      expect(await claimBy(two, "v")).toMatchObject([{ runId: run.runId, attempt: 1 }]);
    });

    test("a parked run lets the next one of its thread go on, and comes back by hand", async () => {
      const [first, second] = [queued("t"), queued("t")];
      for (const run of [first, second]) await one.add(run);
      await claimBy(one, "w");
      await one.park("w", first.runId, "the input is wrong");
      expect((await two.list(10))[0]).toMatchObject({ state: "parked", reason: "the input is wrong" });
      expect(await one.renew("w", [first.runId], 1000)).toEqual([]);
      expect(idsOf(await claimBy(two, "v"))).toEqual([second.runId]);
      await two.finish("v", second.runId);
      expect(await two.retry(first.runId)).toBe(true);
      expect(await claimBy(one, "w")).toMatchObject([{ runId: first.runId, attempt: 1 }]);
      expect(await one.retry(first.runId)).toBe(false);
    });

    test("a run is withdrawn as long as no worker has it", async () => {
      const [first, second] = [queued("t"), queued("t")];
      for (const run of [first, second]) await one.add(run);
      await claimBy(one, "w");
      expect(await two.withdraw(first.runId)).toBe(false);
      expect(await two.withdraw(second.runId)).toBe(true);
      expect((await one.list(10)).map(({ runId }) => runId)).toEqual([first.runId]);
    });

    test("a name that not every store can keep is refused", async () => {
      await expect(one.add(queued("a\u0000b"))).rejects.toThrow(/NUL character/);
    });
  });
}
