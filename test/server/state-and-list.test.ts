import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { artifactsMiddleware } from "../../actors/middleware/artifacts.ts";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { todosMiddleware } from "../../actors/middleware/todos.ts";
import { serverCases } from "../cases/server.ts";
import { afterTest, collect, serveAgent } from "./served-agents.ts";

const human = (content: string) => ({ messages: [{ role: "user", content }] });
const agent = { middleware: [titleMiddleware(), artifactsMiddleware(), todosMiddleware()] };

test("API-01: a write from outside replaces what a field holds and leaves the others", async () => {
  const { given, body, expected } = serverCases["API-01"];
  const { client } = await serveAgent({ agent });
  const { thread_id: id } = await client.threads.create();
  await client.threads.updateState(id, { values: given });
  await client.threads.updateState(id, { values: body.values });
  expect((await client.threads.getState(id)).values).toMatchObject(expected);
});

test("API-02: a field that nobody declares is refused by name", async () => {
  const { client, request } = await serveAgent({ agent });
  const { thread_id: id } = await client.threads.create();
  const answer = await request(`/threads/${id}/state`, { json: serverCases["API-02"].body });
  expect(answer.status).toBe(422);
  expect(await answer.text()).toContain("nonsense");
});

test("API-04: a checkpoint that is not there is 404 and nothing is written", async () => {
  const { client, request, store } = await serveAgent({ agent });
  const { thread_id: id } = await client.threads.create();
  const before = (await store.log.head(`thread-${id}`)).version;
  const answer = await request(`/threads/${id}/state`, { json: serverCases["API-04"].body });
  expect(answer.status).toBe(404);
  expect((await store.log.head(`thread-${id}`)).version).toBe(before);
});

test("API-05: a thread that never existed has no state", async () => {
  const { request } = await serveAgent();
  for (const path of ["/threads/never/state", "/threads/never/history", "/threads/never"]) {
    expect((await request(path)).status).toBe(404);
  }
});

test("API-07: pinned threads come first", async () => {
  const { client } = await serveAgent();
  const old = await client.threads.create({ metadata: { pinned: true } });
  const fresh = await client.threads.create();
  const listed = await client.threads.search();
  expect(listed.map(({ thread_id }) => thread_id)).toEqual([old.thread_id, fresh.thread_id]);
});

test("API-08: pinning does not touch the time of the last update", async () => {
  const { client } = await serveAgent();
  const { thread_id: id, updated_at: before } = await client.threads.create();
  await client.threads.update(id, { metadata: { deerflow_pinned: true } });
  expect((await client.threads.get(id)).updated_at).toBe(before);
  expect(
    (await client.threads.search({ metadata: { deerflow_pinned: true } })).map(({ thread_id }) => thread_id),
  ).toEqual([id]);
});

test("a title from outside is in the list at once, and the list pages, sorts and filters", async () => {
  const { client, request } = await serveAgent();
  const ids: string[] = [];
  for (const title of ["b", "a", "c"]) {
    const { thread_id: id } = await client.threads.create({ metadata: { kind: "x" } });
    await client.threads.updateState(id, { values: { title } });
    const [listed] = await client.threads.search<{ title: string }>({ ids: [id] });
    expect(listed?.values.title).toBe(title);
    ids.push(id);
  }
  const oldestFirst = await client.threads.search({ sortBy: "created_at", sortOrder: "asc" });
  expect(oldestFirst.map(({ thread_id }) => thread_id)).toEqual(ids);
  const page = await request("/threads/search", { json: { metadata: { kind: "x" }, limit: 2 } });
  expect(page.headers.get("x-pagination-total")).toBe("3");
  expect(page.headers.get("x-pagination-next")).toBe("2");
  expect(await client.threads.search({ values: { title: "a" } })).toHaveLength(1);
  expect(await client.threads.search({ status: "busy" })).toEqual([]);
  expect(await client.threads.count({ status: "idle" })).toBe(3);
});

test("IMG-18: bytes of hidden messages do not travel, those of others do", async () => {
  const { messages, counts } = serverCases["IMG-18"];
  const { client } = await serveAgent();
  const { thread_id: id } = await client.threads.create();
  await client.threads.updateState(id, { values: { messages } });
  const { values } = await client.threads.getState<{ messages: { content: unknown[] }[] }>(id);
  expect(values.messages.map(({ content }) => content.length)).toEqual(counts);
});

test("BRN-04: a branch shows the turns that it inherited and its own", async () => {
  const { client } = await serveAgent({ answers: ["a1", "a2", "a3"] });
  const { thread_id: id } = await client.threads.create();
  for (const text of ["q1", "q2"]) await client.runs.wait(id, "agent", { input: human(text) });
  const branch = await client.threads.copy(id);
  await client.runs.wait(branch.thread_id, "agent", { input: human("q3") });
  const { values } = await client.threads.getState<{ messages: { type: string }[] }>(branch.thread_id);
  expect(values.messages.filter(({ type }) => type === "human")).toHaveLength(3);
  const history = await client.threads.getHistory(branch.thread_id, { limit: 20 });
  expect(history.filter(({ parent_checkpoint }) => parent_checkpoint === null)).toHaveLength(1);
  const known = new Set(history.map(({ checkpoint }) => checkpoint.checkpoint_id));
  for (const { parent_checkpoint: parent } of history)
    if (parent) expect(known).toContain(parent.checkpoint_id);
});

test("BRN-05: the last inherited answer is made anew in the branch, the first inherited turn stays", async () => {
  const { client } = await serveAgent({ answers: ["a1", "a2", "a2 anew"] });
  const { thread_id: id } = await client.threads.create();
  for (const text of ["q1", "q2"]) await client.runs.wait(id, "agent", { input: human(text) });
  const { thread_id: branch } = await client.threads.copy(id);
  const history = await client.threads.getHistory<{ messages: unknown[] }>(branch);
  const input = history.find(({ values }) => values.messages.length === 3);
  await collect(client.runs.stream(branch, "agent", { checkpoint: input?.checkpoint as never }));
  const { values } = await client.threads.getState<{ messages: { content: string }[] }>(branch);
  expect(values.messages.map(({ content }) => content)).toEqual(["q1", "a1", "q2", "a2 anew"]);
  const original = await client.threads.getState<{ messages: { content: string }[] }>(id);
  expect(original.values.messages.at(-1)?.content).toBe("a2");
});

test("the client examples of the title's guide run as they stand", async () => {
  const { client: served } = await serveAgent();
  const client = Object.assign(served, {
    threads: Object.assign(served.threads, { list: () => served.threads.search() }),
  });
  const { thread_id: threadId } = await client.threads.create();
  const assistantId = "agent";
  const seen: string[] = [];
  for await (const chunk of client.runs.stream(threadId, assistantId, {
    input: { messages: [{ role: "user", content: "Hello" }] },
  })) {
    if (chunk.event === "values" && (chunk.data as { title?: string }).title) {
      seen.push((chunk.data as { title: string }).title);
    }
  }
  expect(seen.at(-1)).toBe("Hello");
  const state = await client.threads.getState<{ title?: string }>(threadId);
  expect(state.values.title || "New Conversation").toBe("Hello");
  const allThreads = await client.threads.list();
  const threadsWithTitles = await Promise.all(
    allThreads.map(async (t) => {
      const one = await client.threads.getState<{ title?: string }>(t.thread_id);
      return { id: t.thread_id, title: one.values.title || "New Conversation", updatedAt: t.updated_at };
    }),
  );
  expect(threadsWithTitles).toEqual([{ id: threadId, title: "Hello", updatedAt: expect.any(String) }]);
});

test("a store of a file keeps titles and lists over a restart", async () => {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-server-"));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  const url = `sqlite:${join(folder, "t.db")}`;
  const first = await serveAgent({ store: url });
  const { thread_id: id } = await first.client.threads.create();
  await first.client.runs.wait(id, "agent", { input: human("Remember me") });
  await first.server.stop();
  const second = await serveAgent({ store: url });
  const [listed] = await second.client.threads.search<{ title: string }>({ metadata: { graph_id: "agent" } });
  expect(listed).toMatchObject({ thread_id: id, values: { title: "Remember me" } });
});
