import { describe, expect, test } from "vitest";
import { createRunItems } from "../../actors/run-items.ts";
import { createThreadAppender, type PlannedEvent } from "../../actors/thread-append.ts";
import { createViewFold } from "../../actors/thread-view.ts";
import { createEventRegistry, InvalidEventError } from "../../events/event-registry.ts";
import { AppendOutcomeUnknownError, type EventLog, EventTooLargeError } from "../../events/log/event-log.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { openStore } from "../../events/open-store.ts";
import { SandboxBound } from "../../events/sandbox.ts";
import { ThreadCreated } from "../../events/thread.ts";
import { TitleSet } from "../../events/title.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { FoldError } from "../../reducers/thread-state.ts";
import { recordingStore } from "./recording-store.ts";

async function appenderOn(log?: (inner: EventLog) => EventLog) {
  const store = await recordingStore(await openStore("memory:"));
  const registry = createEventRegistry();
  const fold = createViewFold(createThreadReducer(), registry);
  const recorded: [type: string, own: boolean][] = [];
  const appender = createThreadAppender({
    log: log ? log(store.log) : store.log,
    blobs: store.blobs,
    registry,
    stream: "thread-t",
    fold,
    start: fold.empty,
    reload: async () => fold.empty,
    onRecorded: (events, own) => recorded.push(...events.map(({ type }) => [type, own] as [string, boolean])),
  });
  return { appender, store, recorded };
}

const title = (text: string): PlannedEvent => ({
  draft: TitleSet({ title: text, origin: "user" }),
  by: "user",
});

describe("append", () => {
  test("moves the view when the log has acknowledged, and not before", async () => {
    const { appender, store, recorded } = await appenderOn();
    store.beforeAppend = () => expect(appender.view.version).toBe(0);
    await appender.append([title("one")]);
    expect(appender.view).toMatchObject({ version: 1, state: { title: "one" } });
    expect(recorded).toEqual([["TitleSet", true]]);
  });

  test("refuses what does not fit its schema or does not fold, and writes nothing", async () => {
    const { appender, store } = await appenderOn();
    await expect(
      appender.append([title("one"), { draft: { type: "TitleSet", data: { title: 7 } }, by: "user" }]),
    ).rejects.toThrow(InvalidEventError);
    await appender.append([{ draft: SandboxBound({ sandbox_id: "a" }), by: "runtime" }]);
    await expect(
      appender.append([title("two"), { draft: SandboxBound({ sandbox_id: "b" }), by: "runtime" }]),
    ).rejects.toThrow(FoldError);
    expect(store.batches).toEqual([["SandboxBound"]]);
    expect(appender.view.state.title).toBeUndefined();
  });

  test("an outcome that the store did not tell is asked for again with the same events", async () => {
    let lost = 2;
    const { appender } = await appenderOn((inner) => ({
      ...inner,
      async append(...args) {
        const result = await inner.append(...args);
        if (lost > 0) {
          lost -= 1;
          throw new AppendOutcomeUnknownError("no answer");
        }
        return result;
      },
    }));
    await appender.append([title("one")]);
    expect(lost).toBe(0);
    expect(appender.view.version).toBe(1);
  });

  test("what was handed in cannot change the state later", async () => {
    const { appender } = await appenderOn();
    const message = { id: "m", type: "human", content: "before", extra: { deep: [1] } };
    await appender.append([{ draft: MessagesAdded({ messages: [message] }), by: "user" }]);
    message.content = "after";
    message.extra.deep.push(2);
    expect(appender.view.state.messages).toEqual([
      { id: "m", type: "human", content: "before", extra: { deep: [1] } },
    ]);
    expect(Object.isFrozen((appender.view.state.messages as object[])[0])).toBe(true);
    expect(Object.isFrozen(message)).toBe(false);
  });

  test("on a conflict the news are folded, and the batch is asked for again", async () => {
    const { appender, store, recorded } = await appenderOn();
    const other = (await appenderOn(() => store.log)).appender;
    await other.append([title("theirs")]);
    await expect(appender.append([title("mine")])).rejects.toMatchObject({ name: "VersionConflict" });
    const seen: unknown[] = [];
    await appender.append([title("mine")], {
      rebase: (view) => {
        seen.push(view.state.title);
        return [title("mine on top")];
      },
    });
    expect(seen).toEqual(["theirs"]);
    expect(appender.view).toMatchObject({ version: 2, state: { title: "mine on top" } });
    expect(recorded).toEqual([
      ["TitleSet", false],
      ["TitleSet", true],
    ]);
  });

  test("a function is called when its turn has come", async () => {
    const { appender } = await appenderOn();
    const appends = ["a", "b", "c"].map((text) =>
      appender.append((view) => [title(`${view.state.title ?? ""}${text}`)]),
    );
    await Promise.all(appends);
    expect(appender.view.state.title).toBe("abc");
    expect(await appender.append(() => [])).toEqual([]);
  });

  test("one event that is too large is refused whole", async () => {
    const { appender, store } = await appenderOn();
    await expect(
      appender.append([{ draft: ThreadCreated({ metadata: { big: "x".repeat(600_000) } }), by: "user" }]),
    ).rejects.toThrow(EventTooLargeError);
    expect(store.batches).toEqual([]);
  });

  test("a long list of messages becomes several events of one batch", async () => {
    const { appender, store } = await appenderOn();
    const messages = Array.from({ length: 40 }, (_, index) => ({
      id: `m${index}`,
      type: "human",
      content: "word ".repeat(4_000),
    }));
    await appender.append([{ draft: MessagesAdded({ messages }), by: "user" }]);
    expect(store.batches.length).toBeGreaterThanOrEqual(1);
    expect(store.batches.flat().length).toBeGreaterThan(1);
    expect(appender.view.state.messages).toEqual(messages);
  });
});

describe("live items", () => {
  test("every reader sees all of them, whenever it begins", async () => {
    const items = createRunItems<number>();
    const read = async () => {
      const seen: number[] = [];
      for await (const item of items) seen.push(item);
      return seen;
    };
    const early = read();
    items.push(1);
    items.push(2);
    const middle = read();
    items.push(3);
    items.end();
    items.push(4);
    expect(await Promise.all([early, middle, read()])).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  test("an error comes after the items", async () => {
    const items = createRunItems<number>();
    items.push(1);
    items.end(new Error("stopped"));
    const seen: number[] = [];
    const read = async () => {
      for await (const item of items) seen.push(item);
    };
    await expect(read()).rejects.toThrow("stopped");
    expect(seen).toEqual([1]);
  });
});
