import { expect, test } from "vitest";
import { forkThread } from "../../actors/fork-thread.ts";
import { threadStream } from "../../events/envelope.ts";
import { createEventRegistry } from "../../events/event-registry.ts";
import { MessagesAdded } from "../../events/messages.ts";
import { openStore } from "../../events/open-store.ts";
import { TitleSet } from "../../events/title.ts";
import { createStateReader } from "../../projections/state-at.ts";
import { createThreadReducer } from "../../reducers/built-in.ts";
import { appendDrafts } from "./append-drafts.ts";

const events = 10_000;
const perBatch = 500;

test("a fork of a fork of a thread of 10,000 events copies nothing: its bytes are its own events", async () => {
  const store = await openStore("memory:");
  const { log } = store;
  for (let from = 0; from < events; from += perBatch) {
    const drafts = Array.from({ length: perBatch }, (_, index) =>
      MessagesAdded({
        messages: [{ id: `m${from + index}`, type: "human", content: `said ${from + index}` }],
      }),
    );
    await appendDrafts(log, "root", drafts);
  }
  await forkThread(store, { parentId: "root", childId: "child", at: undefined, metadata: undefined });
  await appendDrafts(log, "child", [TitleSet({ title: "Child", origin: "user" })]);
  await forkThread(store, { parentId: "child", childId: "grandchild", at: undefined, metadata: undefined });
  await appendDrafts(log, "grandchild", [TitleSet({ title: "Grandchild", origin: "user" })]);

  const own: string[] = [];
  for await (const page of log.read(threadStream("grandchild")))
    own.push(...page.map((one) => JSON.stringify(one)));
  expect(own).toHaveLength(2);
  expect(own.join("").length).toBeLessThan(2_000);

  const reader = createStateReader({
    log,
    side: store.side,
    reducer: createThreadReducer({ openFields: true }),
    registry: createEventRegistry(),
  });
  const state = await reader.stateAt("grandchild");
  expect(state.title).toBe("Grandchild");
  expect(state.messages).toHaveLength(events);
  expect((await reader.stateAt("child")).title).toBe("Child");
  await store.close();
}, 60_000);
