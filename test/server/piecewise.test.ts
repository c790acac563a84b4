import { expect, test } from "vitest";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { todosMiddleware } from "../../actors/middleware/todos.ts";
import type { LastChange } from "../../projections/last-changes.ts";
import type { TimelineIndex } from "../../projections/timeline-index.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { framesIn } from "./read-frames.ts";
import { afterTest, serveAgent } from "./served-agents.ts";

async function served() {
  const all = await serveAgent({
    answers: [callsTools(["add", { a: 1, b: 2 }]), "It is 3."],
    agent: { tools: [add], middleware: [titleMiddleware({ enabled: false }), todosMiddleware()] },
  });
  const { thread_id: id } = await all.client.threads.create();
  await all.client.runs.wait(id, "agent", { input: { messages: [{ type: "human", content: "1 + 2?" }] } });
  const get = async <Body>(path: string) =>
    (await (await all.request(`/log/v1/threads/${id}${path}`)).json()) as Body;
  return { ...all, id, get };
}

test("the timeline names type, emitter, run, step and time of every event, and pages backwards", async () => {
  const { get, store, id } = await served();
  const recorded = [];
  for await (const page of store.log.read(`thread-${id}`)) recorded.push(...page);
  const index = await get<TimelineIndex>("/timeline");
  expect(index.head).toBe(recorded.length);
  let at = index.start;
  for (const [row, event] of recorded.entries()) {
    at += index.after[row] ?? 0;
    expect({
      version: index.version[row],
      type: index.types[index.type[row] ?? -1],
      by: index.emitters[index.by[row] ?? -1],
      run: index.runs[index.run[row] ?? -1],
      step: index.step[row] === -1 ? undefined : index.step[row],
      at,
    }).toEqual({
      version: event.version,
      type: event.type,
      by: event.metadata.by,
      run: event.metadata.runId,
      step: event.metadata.step,
      at: Date.parse(event.recordedAt),
    });
  }
  const newest = await get<TimelineIndex>("/timeline?limit=3");
  expect(newest.version).toEqual([index.head - 2, index.head - 1, index.head]);
  const older = await get<TimelineIndex>(`/timeline?limit=3&to=${newest.from - 1}`);
  expect(older.version).toEqual([index.head - 5, index.head - 4, index.head - 3]);
});

test("the timeline marks rewinds, forks and names, and says what the head builds on", async () => {
  const { get, request, id } = await served();
  await request(`/log/v1/threads/${id}/rewind`, { json: { to: 2 } });
  const index = await get<TimelineIndex>("/timeline");
  expect(index.marks).toContainEqual({ kind: "rewound", version: index.head, to: 2 });
  expect(index.current).toEqual([
    [1, 2],
    [index.head, index.head],
  ]);
  const fork = (await (await request(`/log/v1/threads/${id}/fork`, { json: { at: 2 } })).json()) as {
    threadId: string;
  };
  const ofFork = (await (await request(`/log/v1/threads/${fork.threadId}/timeline`)).json()) as TimelineIndex;
  expect(ofFork.marks).toContainEqual({ kind: "forked", version: 1, parentThreadId: id, parentVersion: 2 });
});

test("grep finds versions by what their events hold, in any case, newest first", async () => {
  const { get, store, id } = await served();
  const { versions } = await get<{ versions: number[] }>("/grep?text=IT%20IS%203");
  const found = [];
  for await (const page of store.log.read(`thread-${id}`)) {
    for (const event of page)
      if (JSON.stringify(event.data).includes("It is 3")) found.unshift(event.version);
  }
  expect(versions).toEqual(found);
  expect(versions.length).toBeGreaterThan(0);
  expect(await get("/grep?text=nowhere-at-all")).toEqual({ versions: [], next: null });
});

test("an outline gives short values whole, long texts cut, and large lists by pages", async () => {
  const { get, request, id } = await served();
  const long = "长".repeat(5_000);
  const notes = Array.from({ length: 120 }, (_, index) => ({
    id: `n${index}`,
    text: `note ${index} ${"x".repeat(40)}`,
  }));
  const patched = await request(`/log/v1/threads/${id}/state`, {
    method: "PATCH",
    json: { values: { title: long, todos: notes.map(({ text }) => ({ content: text, status: "pending" })) } },
  });
  expect(patched.status).toBe(200);
  const root = await get<{ outline: { children: { key: string }[] } }>("/state/outline?at=head&limit=1000");
  const title = root.outline.children.find(({ key }) => key === "title");
  expect(title).toMatchObject({ kind: "string", size: 5_000, text: expect.stringMatching(/^长+$/) });
  expect(title).not.toHaveProperty("value");
  const list = await get<{ outline: { size: number; next?: number; children: { value: unknown }[] } }>(
    "/state/outline?at=head&pointer=/todos&limit=50",
  );
  expect(list.outline).toMatchObject({ size: 120, next: 50 });
  expect(list.outline.children[0]?.value).toMatchObject({ status: "pending" });
  const rest = await get<{ outline: { next?: number; text: string } }>(
    "/state/outline?at=head&pointer=/title&offset=4990&limit=1",
  );
  expect(rest.outline).toEqual({ kind: "string", size: 5_000, text: "长".repeat(10) });
  expect((await request(`/log/v1/threads/${id}/state/outline?pointer=/nothing`)).status).toBe(404);
  expect((await request(`/log/v1/threads/${id}/state/outline?pointer=title`)).status).toBe(400);
  const event = await get<{ outline: { children: { key: string }[] } }>("/events/1/outline");
  expect(event.outline).toMatchObject({ kind: "object" });
});

test("each field names the event that it has its value from, also over a rewind and in a fork", async () => {
  const { get, request, id, agent } = await served();
  await agent.thread(id).update({ title: "First" });
  const first = (await get<{ version: number }>("")).version;
  await agent.thread(id).update({ title: "Second" });
  const second = (await get<{ version: number }>("")).version;
  const titleAt = async (path: string) =>
    (await get<{ changes: LastChange[] }>(path)).changes.find(({ field }) => field === "title");
  expect(await titleAt(`/state/fields?at=${first}`)).toMatchObject({ version: first, threadId: id });
  expect(await titleAt("/state/fields")).toMatchObject({ version: second });
  // The same value again changes nothing.
  await agent
    .thread(id)
    .update({ title: "Second" })
    .catch(() => undefined);
  expect(await titleAt("/state/fields")).toMatchObject({ version: second });
  await request(`/log/v1/threads/${id}/rewind`, { json: { to: first } });
  expect(await titleAt("/state/fields")).toMatchObject({ version: first });
  const fork = await agent.thread(id).fork({ at: second });
  const { changes } = (await (await request(`/log/v1/threads/${fork.id}/state/fields`)).json()) as {
    changes: LastChange[];
  };
  expect(changes.find(({ field }) => field === "title")).toMatchObject({ threadId: id, version: second });
});

test("about an event: everything but its data, and the fields that fold it", async () => {
  const { get, store, id } = await served();
  for await (const page of store.log.read(`thread-${id}`, { types: ["ModelResponded"] })) {
    for (const { data: _data, ...rest } of page) {
      expect(await get(`/events/${rest.version}/about`)).toEqual({
        event: rest,
        fields: expect.arrayContaining(["messages", "compaction"]),
      });
    }
  }
});

test("live events come without their data when it is not wanted, brief ones are cut", async () => {
  const { request, agent, id, get } = await served();
  const stop = new AbortController();
  afterTest(async () => stop.abort());
  const answer = await request("/log/v1/events/live?data=none", { signal: stop.signal });
  const heard = (async () => {
    for await (const { event, data } of framesIn(answer)) if (event !== "caught-up") return data;
    return undefined;
  })();
  await agent.thread(id).update({ title: "a".repeat(1_000) });
  expect(await heard).toMatchObject({ stream: `thread-${id}`, metadata: { by: expect.any(String) } });
  expect(await heard).not.toHaveProperty("data");
  const { events } = await get<{ events: { data: unknown }[] }>("/events?dir=desc&limit=1&data=brief");
  expect(JSON.stringify(events[0]?.data).length).toBeLessThan(400);
});
