import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { EventDraft } from "../../events/define-event.ts";
import type { FoldEvent } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import type { Json } from "../../events/json.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import type { SideStore } from "../../events/log/side-store.ts";
import { ThreadRewound } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { snapshotKind } from "../../projections/snapshots.ts";
import { createStateReader } from "../../projections/state-at.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import type { State } from "../../reducers/thread-state.ts";
import { accepted, anyDraft, reducer } from "../reducers/arbitrary-log.ts";
import { recordLog } from "./record-log.ts";

const registry = createEventRegistry();
const open = (log: EventLog, side: SideStore, by = reducer) =>
  createStateReader({ log, side, reducer: by, registry, cachedStates: 0 });

/** A long thread of random events, with the state after each. */
async function longThread(log: EventLog, count: number) {
  const drafts = fc.sample(anyDraft, { numRuns: count, seed: 20 });
  const events = accepted(drafts.map((draft) => padded(draft)));
  const states: State[] = [reducer.initial];
  for (const event of events) states.push(reducer.apply(states.at(-1) ?? reducer.initial, event));
  await recordLog(log, "a", events);
  return { events, states };
}

/** Events of a usual size. */
function padded({ type, data }: EventDraft): EventDraft {
  return { type, data: { ...(data as object), padding: "x".repeat(100) } };
}

async function bytesOf(side: SideStore): Promise<number> {
  const records = await side.list(snapshotKind);
  return records.reduce((sum, { key, value }) => sum + key.length + JSON.stringify(value).length, 0);
}
const logBytes = (events: readonly unknown[]) =>
  events.reduce<number>((sum, event) => sum + JSON.stringify(event).length, 0);

describe("snapshots of a long thread", () => {
  const log = createMemoryLog();
  let events: FoldEvent[] = [];
  let states: State[] = [];
  beforeAll(async () => {
    ({ events, states } = await longThread(log, 3000));
  });
  const versions = () =>
    Array.from({ length: 40 }, (_, n) => Math.floor((((n * 7919) % 997) / 997) * events.length) + 1);

  const filled = async () => {
    const side = createMemorySide();
    const reader = open(log, side);
    await reader.fieldsAt("a");
    await reader.settled();
    return side;
  };
  const expectTruth = async (side: SideStore) => {
    const reader = open(log, side);
    for (const version of versions()) expect(await reader.stateAt("a", version)).toEqual(states[version]);
    await reader.settled();
  };

  test("are left behind by reading, and give the same states", async () => {
    const side = await filled();
    expect((await side.list(snapshotKind)).length).toBeGreaterThan(5);
    await expectTruth(side);
  });

  test("spare reading: the fields at a version need a few events near it", async () => {
    const side = await filled();
    let read = 0;
    const counting: EventLog = {
      ...log,
      async *read(...given) {
        for await (const page of log.read(...given)) {
          read += page.length;
          yield page;
        }
      },
    };
    const reader = open(counting, side);
    for (const version of versions()) await reader.fieldsAt("a", version);
    expect(read / versions().length).toBeLessThan(events.length / 15);
  });

  const damages: [string, (value: { [key: string]: Json }) => Json][] = [
    ["have other fields than they were stored with", (value) => ({ ...value, fields: '{"title":"forged"}' })],
    ["have no checksum", ({ checksum: _, ...value }) => value],
    ["are no records at all", () => "nonsense"],
    ["belong to another stream", (value) => ({ ...value, stream: "thread-z" })],
    ["come from another log of the same name", (value) => ({ ...value, hash: "0".repeat(64) })],
  ];
  test.each(damages)("that %s are left unused", async (_, damage) => {
    const side = await filled();
    for (const { key, value } of await side.list(snapshotKind)) {
      await side.put(snapshotKind, key, damage(value as { [key: string]: Json }));
    }
    await expectTruth(side);
  });

  test("that cannot be read or written cost time only", async () => {
    const broken: SideStore = {
      get: () => Promise.reject(new Error("broken")),
      put: () => Promise.reject(new Error("broken")),
      delete: () => Promise.reject(new Error("broken")),
      list: () => Promise.reject(new Error("broken")),
    };
    await expectTruth(broken);
  });

  test("of a rewound branch are not taken for the thread's", async () => {
    const side = await filled();
    const toVersion = Math.floor(events.length / 2);
    const rewound = createMemoryLog();
    await recordLog(rewound, "a", events);
    const first = open(rewound, side);
    await first.stateAt("a");
    await first.settled();
    await recordLog(rewound, "a", [ThreadRewound({ toVersion })]);
    expect(await open(rewound, side).stateAt("a")).toEqual(states[toVersion]);
  });
});

describe("the bytes of snapshots", () => {
  const fieldsOf = (size: number) => ({ field: "notes", value: "n".repeat(size) });
  const turn = (n: number): EventDraft[] => [
    { type: "MessagesAdded", data: { messages: [{ id: `h${n}`, type: "human", content: "q".repeat(200) }] } },
    {
      type: "ModelResponded",
      data: { callId: `c${n}`, latencyMs: 1, message: { id: `a${n}`, type: "ai", content: "a".repeat(400) } },
    },
    { type: "ArtifactsPresented", data: { paths: [`/mnt/user-data/outputs/${n % 5}.md`] } },
  ];

  test.each([
    ["small fields", 10],
    ["large fields", 30_000],
  ])(
    "stay under a fifth of the log's with %s, whoever leaves them behind",
    async (_, size) => {
      const log = createMemoryLog();
      const side = createMemorySide();
      const live = open(log, side);
      let state = reducer.initial;
      const all: unknown[] = [];
      const drafts = [{ type: "StateUpdated", data: fieldsOf(size) }];
      for (let n = 0; n < 3500; n++) drafts.push(...(turn(n) as typeof drafts));
      for (let from = 0; from < drafts.length; from += 7) {
        const recorded = await recordLog(log, "a", drafts.slice(from, from + 7));
        state = reducer.fold(recorded, state);
        live.appended("a", recorded, state);
        all.push(...recorded);
      }
      await live.settled();
      const afterAppends = (await side.list(snapshotKind)).length;
      expect(afterAppends).toBeGreaterThan(1);
      // Readers of another reducer leave a second set, and one that asks everywhere fills every gap.
      for (const by of [reducer, createThreadReducer()]) {
        const reader = open(log, side, by);
        for (let version = 1; version < all.length; version += 501) await reader.fieldsAt("a", version);
        await reader.settled();
      }
      expect(all.length).toBeGreaterThan(10_000);
      expect(await bytesOf(side)).toBeLessThan(logBytes(all) * 0.2);
    },
    120_000,
  );

  test("spare looking through a log that changes no fields, and are not left by every reader of it", async () => {
    const log = createMemoryLog();
    const side = createMemorySide();
    const drafts = Array.from({ length: 3000 }, (_, n) => turn(n).slice(0, 1)).flat();
    const recorded = await recordLog(log, "a", [TitleSet({ title: "A", origin: "user" }), ...drafts]);
    for (let version = 2990; version <= 3000; version++) {
      const reader = open(log, side);
      expect(await reader.fieldsAt("a", version)).toMatchObject({ title: "A" });
      await reader.settled();
    }
    const [only, ...others] = await side.list(snapshotKind);
    expect(others).toEqual([]);
    const { version: at } = { version: 0, ...(only?.value as object) };
    expect(at).toBeGreaterThan(2800);
    const froms: number[] = [];
    const watched: EventLog = {
      ...log,
      read: (stream, options) => {
        if (options?.types?.includes("TitleSet")) froms.push(options.from ?? 1);
        return log.read(stream, options);
      },
    };
    expect(await open(watched, side).fieldsAt("a", 3001)).toMatchObject({ title: "A" });
    expect(froms).toEqual([at + 1]);

    for (let version = 1; version < recorded.length; version += 13) {
      const reader = open(log, side);
      await reader.fieldsAt("a", version);
      await reader.settled();
    }
    expect(await bytesOf(side)).toBeLessThan(logBytes(recorded) * 0.2);
  });

  test("do not pile up with every new version of the reducers", async () => {
    const log = createMemoryLog();
    const side = createMemorySide();
    await recordLog(log, "a", Array.from({ length: 300 }, (_, n) => turn(n)).flat());
    for (let release = 0; release < 5; release++) {
      const reader = open(log, side, { ...reducer, description: `release ${release}` });
      await reader.fieldsAt("a");
      await reader.settled();
    }
    const sets = new Set((await side.list(snapshotKind)).map(({ key }) => key.split("|")[1]));
    expect(sets.size).toBe(2);
  });

  test("hold no message", async () => {
    const log = createMemoryLog();
    const side = createMemorySide();
    await recordLog(log, "a", Array.from({ length: 300 }, (_, n) => turn(n)).flat());
    const reader = open(log, side);
    await reader.stateAt("a");
    await reader.settled();
    const text = JSON.stringify(await side.list(snapshotKind));
    expect(text).toContain("outputs/1.md");
    expect(text).not.toMatch(/q{9}|a{9}/);
  });
});
