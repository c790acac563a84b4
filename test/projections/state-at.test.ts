import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EventDraft } from "../../events/define-event.ts";
import { defineEvent } from "../../events/define-event.ts";
import { createEventRegistry, NewerSchemaError } from "../../events/event-registry.ts";
import type { EventLog } from "../../events/log/event-log.ts";
import { createMemoryLog } from "../../events/log/memory.ts";
import { createMemorySide } from "../../events/log/memory-side.ts";
import type { SideStore } from "../../events/log/side-store.ts";
import { MessagesAdded, MessagesRemoved } from "../../events/messages.ts";
import { ThreadForked, ThreadRewound } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { resolveLineage, UnknownThreadError, VersionOutOfRangeError } from "../../projections/lineage.ts";
import { snapshotKind } from "../../projections/snapshots.ts";
import { createStateReader } from "../../projections/state-at.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { defineReducer } from "../../reducers/define-reducer.ts";
import { composeReducers, type State } from "../../reducers/thread-state.ts";
import { accepted, anyDraft, reducer } from "../reducers/arbitrary-log.ts";
import { recordLog } from "./record-log.ts";

const registry = createEventRegistry();

/** The state at a version, the long way: every event of the lineage, one by one. */
async function folded(log: EventLog, threadId: string, version: number): Promise<State> {
  let state = reducer.initial;
  for (const { stream, from, to } of await resolveLineage(log, `thread-${threadId}`, version)) {
    for await (const page of log.read(stream, { from, to })) state = page.reduce<State>(reducer.apply, state);
  }
  return state;
}

interface Cached {
  readonly cachedStates?: number;
  readonly cachedMessageBytes?: number;
}

const nothing: Cached = { cachedStates: 0, cachedMessageBytes: 0 };

function readerOf(log: EventLog, side: SideStore = createMemorySide(), cached: Cached = {}) {
  return createStateReader({ log, side, reducer, registry, ...cached });
}

function withoutMessages({ messages: _, ...fields }: State): State {
  return fields;
}

/** A thread with rewinds, a fork of it and a fork of that. Every event folds where it stands. */
async function growFamily(
  log: EventLog,
  parts: readonly (readonly EventDraft[])[],
  turns: readonly number[],
) {
  const heads: Record<string, number> = {};
  let events: EventDraft[] = [];
  for (const [index, part] of parts.entries()) {
    const thread = `t${index}`;
    const parent = `t${index - 1}`;
    const at = index === 0 ? 0 : (turns[index] ?? 0) % ((heads[parent] ?? 0) + 1);
    if (index > 0)
      await recordLog(log, thread, [ThreadForked({ parentThreadId: parent, parentVersion: at })]);
    const before = index === 0 ? reducer.initial : await folded(log, thread, 1);
    events = accepted([...part], before).map(({ type, data }) => ({ type, data }));
    await recordLog(log, thread, events);
    const { version } = await log.head(`thread-${thread}`);
    const toVersion = (turns[index] ?? 0) % (version + 1);
    await recordLog(log, thread, [ThreadRewound({ toVersion })]);
    const back = await folded(log, thread, toVersion);
    await recordLog(log, thread, accepted([...part].reverse(), back));
    heads[thread] = (await log.head(`thread-${thread}`)).version;
  }
  return heads;
}

describe("the state at a version", () => {
  test("is the same with snapshots, without, in any order of asking, in forks and after rewinds", async () => {
    const part = fc.array(anyDraft, { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(40), { minLength: 3, maxLength: 3 }),
        fc.array(fc.tuple(fc.nat(2), fc.nat(80)), { maxLength: 15 }),
        async (parts, turns, questions) => {
          const log = createMemoryLog();
          const heads = await growFamily(log, parts, turns);
          const side = createMemorySide();
          const warm = readerOf(log, side);
          const shared = readerOf(log, side, { cachedStates: 0 });
          for (const [index, at] of questions) {
            const thread = `t${index % parts.length}`;
            const version = at % ((heads[thread] ?? 0) + 1);
            const truth = await folded(log, thread, version);
            expect(await warm.stateAt(thread, version)).toEqual(truth);
            expect(await warm.fieldsAt(thread, version)).toEqual(withoutMessages(truth));
            await warm.settled();
            expect(await shared.stateAt(thread, version)).toEqual(truth);
            const cold = readerOf(log, side, nothing);
            expect(await cold.stateAt(thread, version)).toEqual(truth);
            expect(await cold.fieldsAt(thread, version)).toEqual(withoutMessages(truth));
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test("at 0 is the empty state, also in a fork, whose first version is the parent's state", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [TitleSet({ title: "A", origin: "user" })]);
    await recordLog(log, "b", [ThreadForked({ parentThreadId: "a", parentVersion: 1 })]);
    const reader = readerOf(log);
    expect(await reader.stateAt("b", 0)).toEqual(reducer.initial);
    expect(await reader.fieldsAt("b", 0)).toEqual(withoutMessages(reducer.initial));
    expect(await reader.stateAt("b", 1)).toEqual(await reader.stateAt("a"));
  });

  test("at the head comes with its version, and follows the thread", async () => {
    const log = createMemoryLog();
    const reader = readerOf(log);
    await recordLog(log, "a", [TitleSet({ title: "A", origin: "user" })]);
    expect(await reader.latest("a")).toMatchObject({ version: 1, state: { title: "A" } });
    await recordLog(log, "a", [TitleSet({ title: "B", origin: "user" })]);
    expect(await reader.latest("a")).toMatchObject({ version: 2, state: { title: "B" } });
  });

  test("of threads and versions that are not there is refused", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [TitleSet({ title: "A", origin: "user" })]);
    const reader = readerOf(log);
    await expect(reader.stateAt("nope")).rejects.toThrow(UnknownThreadError);
    await expect(reader.fieldsAt("a", 2)).rejects.toThrow(VersionOutOfRangeError);
    await log.erase("thread-a");
    await expect(reader.stateAt("a", 1)).rejects.toThrow(UnknownThreadError);
  });

  describe("reads less again", () => {
    const readsFor = async (cached: Cached, versions: readonly number[]) => {
      const log = createMemoryLog();
      const said = Array.from({ length: 600 }, (_, n) => {
        return MessagesAdded({ messages: [{ id: `m${n}`, type: "human", content: "x" }] });
      });
      await recordLog(log, "a", said);
      let events = 0;
      const counting: EventLog = {
        ...log,
        async *read(...given) {
          for await (const page of log.read(...given)) {
            events += page.length;
            yield page;
          }
        },
      };
      const reader = readerOf(counting, createMemorySide(), cached);
      const reads: number[] = [];
      for (const version of versions) {
        events = 0;
        expect((await reader.stateAt("a", version)).messages).toHaveLength(version);
        reads.push(events);
      }
      return reads;
    };

    test("near a state that `cachedStates` keeps", async () => {
      const [, next] = await readsFor({ cachedStates: 1, cachedMessageBytes: 0 }, [49, 50]);
      expect(next).toBe(1);
      expect((await readsFor(nothing, [49, 50]))[1]).toBeGreaterThanOrEqual(50);
    });

    test("at any version of a thread whose messages `cachedMessageBytes` keeps", async () => {
      const all = await readsFor({ cachedStates: 0 }, [590, 40, 300, 600]);
      // One more event is looked at for the hash of a snapshot that is left behind.
      const [, ...again] = all;
      for (const [index, most] of [1, 1, 11].entries()) expect(again[index]).toBeLessThanOrEqual(most);
      const [, whole] = await readsFor({ cachedStates: 0, cachedMessageBytes: 1000 }, [590, 590]);
      expect(whole).toBeGreaterThanOrEqual(590);
    });
  });

  test("reads messages from the last clear on only", async () => {
    const log = createMemoryLog();
    const added = Array.from({ length: 300 }, (_, n) => {
      return MessagesAdded({ messages: [{ id: `m${n}`, type: "human", content: "x".repeat(50) }] });
    });
    await recordLog(log, "a", [...added, MessagesRemoved({ all: true }), ...added.slice(0, 250)]);
    const side = createMemorySide();
    const first = readerOf(log, side);
    await first.stateAt("a");
    await first.settled();
    const froms: number[] = [];
    const watching: EventLog = {
      ...log,
      read: (stream, options) => {
        froms.push(options?.from ?? 1);
        return log.read(stream, options);
      },
    };
    expect(await readerOf(watching, side).stateAt("a")).toEqual(await folded(log, "a", 551));
    expect(Math.min(...froms.filter((from) => from > 1))).toBe(301);
  });

  test("brings events of older schemas up to date, and refuses those of newer ones", async () => {
    const log = createMemoryLog();
    await recordLog(log, "a", [{ type: "PlanWritten", data: { text: "old" } }]);
    const schema = createEventRegistry().get("TitleSet")?.schema;
    const PlanWritten = defineEvent({
      type: "PlanWritten",
      version: 2,
      schema: schema as never,
      upcasters: { 1: (data) => ({ plan: (data as { text: string }).text }) },
    });
    const plan = defineReducer<string>({
      field: "plan",
      initial: "",
      on: { PlanWritten: (_plan, data: { plan: string }) => data.plan },
    });
    const planReducer = composeReducers([{ source: "test", reducers: [plan] }]);
    const open = (events: readonly (typeof PlanWritten)[]) =>
      createStateReader({
        log,
        side: createMemorySide(),
        reducer: planReducer,
        registry: createEventRegistry([{ source: "test", events }]),
      });
    expect(await open([PlanWritten]).stateAt("a")).toEqual({ plan: "old" });

    const event = { id: "e", type: "TitleSet", data: {}, recordedAt: new Date(0).toISOString() };
    const metadata = { schema: 99, by: "runtime", causationId: "e", correlationId: "e" } as const;
    await log.append("thread-new", [{ ...event, metadata }], { expectedVersion: 0 });
    await expect(readerOf(log).stateAt("new")).rejects.toThrow(NewerSchemaError);
  });

  test("uses the store's fast way of reading when it has one, with the same result", async () => {
    const log = createMemoryLog();
    const drafts = [
      MessagesAdded({ messages: [{ id: "m", type: "human", content: "x" }] }),
      TitleSet({ title: "A", origin: "user" }),
    ];
    await recordLog(log, "a", drafts);
    let fast = 0;
    const fastLog: EventLog = {
      ...log,
      async *readForFold(stream, options) {
        fast += 1;
        for await (const page of log.read(stream, options)) {
          yield page.map(({ type, data, version, metadata }) => ({
            type,
            data,
            version,
            schema: metadata.schema,
          }));
        }
      },
    };
    expect(await readerOf(fastLog).stateAt("a")).toEqual(await folded(log, "a", 2));
    expect(fast).toBeGreaterThan(0);
  });
});

test("a forgotten thread leaves no snapshot and no state behind", async () => {
  const log = createMemoryLog();
  const side = createMemorySide();
  const reader = readerOf(log, side);
  const secret = Array.from({ length: 400 }, (_, n) => TitleSet({ title: `secret ${n}`, origin: "user" }));
  await recordLog(log, "a", secret);
  await recordLog(log, "b", secret);
  await reader.stateAt("a");
  await reader.stateAt("b");
  await reader.settled();
  expect((await side.list(snapshotKind, { prefix: "thread-a|" })).length).toBeGreaterThan(0);
  await reader.forget("a");
  expect(await side.list(snapshotKind, { prefix: "thread-a|" })).toEqual([]);
  expect((await side.list(snapshotKind, { prefix: "thread-b|" })).length).toBeGreaterThan(0);
});

test("reducers of different fields do not share snapshots", async () => {
  const log = createMemoryLog();
  const side = createMemorySide();
  await recordLog(
    log,
    "a",
    Array.from({ length: 300 }, () => ({ type: "StateUpdated", data: { field: "mood", value: "good" } })),
  );
  const open = readerOf(log, side);
  expect(await open.stateAt("a")).toMatchObject({ mood: "good" });
  await open.settled();
  const closed = createStateReader({ log, side, reducer: createThreadReducer(), registry });
  expect(await closed.stateAt("a")).not.toHaveProperty("mood");
});
