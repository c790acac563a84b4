import { afterEach, describe, expect, test } from "vitest";
import { createEventRegistry } from "../../events/event-registry.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import { RunCompleted, RunStarted } from "../../events/run.ts";
import { TitleSet } from "../../events/title.ts";
import { defineProjection, type Projection } from "../../projections/define-projection.ts";
import { createMemoryProjectionStore } from "../../projections/memory-projection-store.ts";
import {
  ProjectionHaltedError,
  type ProjectionRun,
  type RunProjectionOptions,
  runProjection,
} from "../../projections/runner.ts";
import { appendDrafts } from "./append-drafts.ts";

const registry = createEventRegistry();

type Count = { readonly runs: number };

function counting(version = 1, step = 1): Projection<Count> {
  return defineProjection<Count>({
    name: "runs",
    version,
    handlers: {
      RunStarted(rows, event) {
        rows.put(event.stream, { runs: (rows.get(event.stream)?.runs ?? 0) + step });
      },
    },
  });
}

const startRun = (log: EventLog, thread: string, runId: string) =>
  appendDrafts(log, thread, [RunStarted({ runId, owner: "me" })]);
const lastPosition = (events: readonly { position: string }[]) => events.at(-1)?.position ?? "";

const runs: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(runs.splice(0).map((run) => run.stop()));
});

function setUp(more: Partial<RunProjectionOptions<Count>> = {}) {
  const log = createMemoryLog();
  const store = createMemoryProjectionStore();
  const side = createMemorySide();
  const start = (own: Partial<RunProjectionOptions<Count>> = {}): ProjectionRun<Count> => {
    const run = runProjection<Count>({
      projection: counting(),
      log,
      store,
      side,
      registry,
      pollMs: 5,
      ...more,
      ...own,
    });
    runs.push(run);
    return run;
  };
  return { log, store, side, start };
}

describe("a running projection", () => {
  test("catches up, follows the log, and gives the writer its own write back", async () => {
    const { log, start } = setUp();
    await startRun(log, "a", "r1");
    const run = start();
    for (const runId of ["r2", "r3"]) {
      const position = lastPosition(await startRun(log, "a", runId));
      await run.whenCaughtUp(position);
    }
    expect(await run.view.get("thread-a")).toEqual({ runs: 3 });
    expect(await run.status()).toMatchObject({ name: "runs", version: 1, state: "live", events: 3 });
  });

  test("is caught up with an event that it does not handle", async () => {
    const { log, start } = setUp();
    const run = start();
    const position = lastPosition(await appendDrafts(log, "a", [TitleSet({ title: "t", origin: "user" })]));
    await run.whenCaughtUp(position);
    expect(await run.status()).toMatchObject({ events: 0 });
  });

  test("goes on from its checkpoint after a restart and counts nothing twice", async () => {
    const { log, start } = setUp();
    const first = start();
    await first.whenCaughtUp(lastPosition(await startRun(log, "a", "r1")));
    await first.stop();
    const position = lastPosition(await startRun(log, "a", "r2"));
    const second = start();
    await second.whenCaughtUp(position);
    expect(await second.view.get("thread-a")).toEqual({ runs: 2 });
  });

  test("tells how far it is behind", async () => {
    const { log, start } = setUp();
    const run = start();
    await run.whenCaughtUp(lastPosition(await startRun(log, "a", "r1")));
    expect(await run.lag()).toEqual({ events: 0, more: false, seconds: 0 });
    await run.stop();
    const recordedAt = new Date(Date.now() - 60_000).toISOString();
    await appendDrafts(log, "a", [RunStarted({ runId: "r2", owner: "me" })], { recordedAt });
    const lag = await run.lag();
    expect(lag).toMatchObject({ events: 1, more: false });
    expect(lag.seconds).toBeGreaterThanOrEqual(60);
  });

  test("commits at most batchEvents events at once", async () => {
    const { log, store, start } = setUp();
    await store.open({ name: "runs", version: 1, rows: [] });
    const run = start({ batchEvents: 2 });
    await run.whenCaughtUp(lastPosition(await startRun(log, "a", "r0")));
    const before = (await store.live("runs"))?.revision ?? 0;
    const drafts = ["r1", "r2", "r3", "r4", "r5"].map((runId) => RunStarted({ runId, owner: "me" }));
    await run.whenCaughtUp(lastPosition(await appendDrafts(log, "a", drafts)));
    expect((await store.live("runs"))?.revision).toBe(before + 3);
  });

  test("kept in memory it leaves nothing in the store and is built again at every start", async () => {
    const { log, store, start } = setUp();
    const projection = { ...counting(), keep: "memory" as const };
    const position = lastPosition(await startRun(log, "a", "r1"));
    for (let round = 0; round < 2; round++) {
      const run = start({ projection });
      await run.whenCaughtUp(position);
      expect(await run.view.get("thread-a")).toEqual({ runs: 1 });
      await run.stop();
    }
    expect(await store.tables()).toEqual([]);
  });
});

describe("one owner feeds a projection", () => {
  test("the others wait, see its rows, and take over when it stops", async () => {
    const { log, start } = setUp();
    const first = start({ owner: "one" });
    await first.whenCaughtUp(lastPosition(await startRun(log, "a", "r1")));
    const second = start({ owner: "two" });
    await second.whenCaughtUp(lastPosition(await startRun(log, "a", "r2")));
    expect((await second.status()).state).toBe("waiting");
    await first.stop();
    await second.whenCaughtUp(lastPosition(await startRun(log, "a", "r3")));
    expect((await second.status()).state).not.toBe("waiting");
    expect(await second.view.get("thread-a")).toEqual({ runs: 3 });
  });

  test("an owner that died is followed when its lease has lapsed", async () => {
    const { log, side, start } = setUp();
    await side.put("projection-owner", "runs", { owner: "dead", expiresAt: Date.now() + 30 });
    const run = start();
    await run.whenCaughtUp(lastPosition(await startRun(log, "a", "r1")));
    expect(await run.view.get("thread-a")).toEqual({ runs: 1 });
  });

  test("the lease lasts for leaseMs", async () => {
    const { log, side, start } = setUp();
    const run = start({ leaseMs: 50_000 });
    await run.whenCaughtUp(lastPosition(await startRun(log, "a", "r1")));
    const lease = (await side.get("projection-owner", "runs"))?.value as { expiresAt: number };
    expect(lease.expiresAt - Date.now()).toBeGreaterThan(40_000);
  });

  test("two owners at once count every event once", async () => {
    const { log, start, side } = setUp();
    const blind = { ...side, get: async () => undefined, put: async () => 1 };
    const both = [start({ side: blind }), start({ side: blind })];
    let position = "";
    for (let index = 0; index < 40; index++) position = lastPosition(await startRun(log, "a", `r${index}`));
    await Promise.all(both.map((run) => run.whenCaughtUp(position)));
    expect(await both[0]?.view.get("thread-a")).toEqual({ runs: 40 });
  });
});

describe("an event that a handler cannot take", () => {
  const picky = defineProjection<Count>({
    name: "runs",
    version: 1,
    handlers: {
      RunStarted(rows, event) {
        rows.put(event.stream, { runs: (rows.get(event.stream)?.runs ?? 0) + 1 });
        if (event.data.runId === "poison") throw new Error("bitter");
      },
    },
  });

  test("stops the projection before it by default, with position and cause", async () => {
    const { log, start } = setUp({ projection: picky });
    await startRun(log, "a", "r1");
    const [poison] = await startRun(log, "a", "poison");
    const run = start();
    await expect(run.whenCaughtUp(poison?.position ?? "")).rejects.toThrow(ProjectionHaltedError);
    expect(await run.status()).toMatchObject({
      state: "failed",
      events: 1,
      error: { event: { position: poison?.position, eventId: poison?.id, error: "Error: bitter" } },
    });
    expect(await run.view.get("thread-a")).toEqual({ runs: 1 });
  });

  test("is passed over and kept on record with skip, and its half-done changes are gone", async () => {
    const { log, start } = setUp({ projection: picky, onError: "skip" });
    const [, poison] = await appendDrafts(
      log,
      "a",
      ["r1", "poison", "r2"].map((runId) => RunStarted({ runId, owner: "me" })),
    );
    const run = start();
    await run.whenCaughtUp(lastPosition(await startRun(log, "a", "r3")));
    expect(await run.view.get("thread-a")).toEqual({ runs: 3 });
    const [skipped] = (await run.status()).skipped;
    expect(skipped).toMatchObject({ position: poison?.position, type: "RunStarted", version: 2 });
  });

  test("is tried again as often as told before it is passed over", async () => {
    let calls = 0;
    const projection = defineProjection<Count>({
      name: "runs",
      version: 1,
      handlers: {
        RunStarted(rows, event) {
          calls += 1;
          if (calls < 3) throw new Error("not yet");
          rows.put(event.stream, { runs: 1 });
        },
      },
    });
    const { log, start } = setUp({ projection, onError: { attempts: 3, delayMs: 1, otherwise: "stop" } });
    const run = start();
    await run.whenCaughtUp(lastPosition(await startRun(log, "a", "r1")));
    expect(calls).toBe(3);
    expect(await run.view.get("thread-a")).toEqual({ runs: 1 });
  });
});

describe("a newer version of a projection", () => {
  test("is built beside the old rows and takes their place", async () => {
    const { log, start } = setUp();
    const old = start();
    await old.whenCaughtUp(lastPosition(await startRun(log, "a", "r1")));
    await old.stop();
    const run = start({ projection: counting(2, 10) });
    await run.whenCaughtUp(lastPosition(await startRun(log, "a", "r2")));
    expect(await run.view.get("thread-a")).toEqual({ runs: 20 });
    expect(await run.status()).toMatchObject({ version: 2 });
  });

  test("makes a process with the old code step back", async () => {
    const { log, start } = setUp();
    const newer = start({ projection: counting(2, 10) });
    await newer.whenCaughtUp(lastPosition(await startRun(log, "a", "r1")));
    await newer.stop();
    const old = start();
    await expect(
      old.whenCaughtUp(lastPosition(await appendDrafts(log, "a", [RunCompleted({ runId: "r1" })]))),
    ).resolves.toBeUndefined();
    const position = lastPosition(await startRun(log, "a", "r2"));
    await expect(old.whenCaughtUp(position)).rejects.toMatchObject({ state: "superseded" });
    expect(await old.view.get("thread-a")).toEqual({ runs: 10 });
  });
});
