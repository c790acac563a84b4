import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { deferred } from "../../actors/deferred.ts";
import { hashToken } from "../../apps/server/index.ts";
import { openStore } from "../../events/open-store.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { readFrames } from "./read-frames.ts";
import { afterTest, serveAgent } from "./served-agents.ts";

const human = (content: string) => ({ messages: [{ type: "human", content }] });

/** A server whose model's answer to "slow" waits to be given. */
async function serveWaiting() {
  const answer = deferred<string>();
  const asked = deferred<void>();
  const served = await serveAgent({
    answers: (messages) => {
      if (messages.at(-1)?.text !== "slow") return "Done.";
      asked.resolve();
      return answer.promise;
    },
  });
  const { client } = served;
  const { thread_id: id } = await client.threads.create();
  const open = await client.runs.create(id, "agent", { input: human("slow") });
  await asked.promise;
  const inLine = await client.runs.create(id, "agent", { input: human("second") });
  const statuses = async () => (await client.runs.list(id)).map(({ status }) => status);
  return { ...served, id, answer, open, inLine, statuses };
}

test("a run in line can be deleted: it is not listed any more and never begins", async () => {
  const { client, id, answer, open, inLine } = await serveWaiting();
  await client.runs.delete(id, inLine.run_id);
  await expect.poll(async () => (await client.runs.list(id)).map((run) => run.run_id)).toEqual([open.run_id]);
  answer.resolve("Done.");
  await client.runs.wait(id, "agent", { input: human("third") });
  const { values } = await client.threads.getState<{ messages: { content: string }[] }>(id);
  expect(values.messages.map(({ content }) => content)).toEqual(["slow", "Done.", "third", "Done."]);
});

test("cancelMany takes the runs of one status only", async () => {
  const { client, id, answer, open, statuses } = await serveWaiting();
  await client.runs.cancelMany({ threadId: id, status: "pending" });
  await expect.poll(statuses).toEqual(["running"]);
  answer.resolve("Done.");
  await client.runs.join(id, open.run_id);
  expect(await statuses()).toEqual(["success"]);
});

test("cancelMany without a thread takes the runs of all threads", async () => {
  const { client, id, statuses } = await serveWaiting();
  await client.runs.cancelMany({ status: "running" });
  await client.runs.wait(id, "agent", { input: human("third") });
  expect(await statuses()).toEqual(["success", "success", "interrupted"]);
});

test("cancelMany that names nothing, or an action that is not known, cancels nothing", async () => {
  const { request, answer, statuses } = await serveWaiting();
  expect((await request("/runs/cancel", { json: {} })).status).toBe(422);
  expect((await request("/runs/cancel?action=explode", { json: { status: "all" } })).status).toBe(422);
  expect(await statuses()).toEqual(["pending", "running"]);
  answer.resolve("Done.");
});

test("cancelMany of one owner leaves the runs of others alone", async () => {
  const answer = deferred<string>();
  const asked = deferred<void>();
  const tokens = ["ada", "bob"].map((name) => ({
    name,
    sha256: hashToken(name),
    scope: "run" as const,
    owner: name,
  }));
  const { request } = await serveAgent({
    answers: () => {
      asked.resolve();
      return answer.promise;
    },
    server: { tokens },
  });
  const as = async (name: string, path: string, json?: unknown) => {
    const headers = { authorization: `Bearer ${name}` };
    const response = await request(path, { headers, ...(json !== undefined && { json }) });
    return response.status === 204 ? undefined : response.json();
  };
  const id = crypto.randomUUID();
  const body = { assistant_id: "agent", input: human("hello"), if_not_exists: "create" };
  const { run_id } = await as("ada", `/threads/${id}/runs`, body);
  await asked.promise;
  await as("bob", "/runs/cancel", { status: "all" });
  expect(await as("ada", `/threads/${id}/runs/${run_id}`)).toMatchObject({ status: "running" });
  answer.resolve("Done.");
  expect(await as("ada", `/threads/${id}/runs/${run_id}/join`)).not.toHaveProperty("__error__");
});

test("join with cancel_on_disconnect cancels the run when the client goes", async () => {
  const { server, client, id, open } = await serveWaiting();
  const leaving = new AbortController();
  const path = `${server.url}/threads/${id}/runs/${open.run_id}/join?cancel_on_disconnect=1`;
  await fetch(path, { signal: leaving.signal });
  leaving.abort();
  await expect.poll(async () => (await client.runs.get(id, open.run_id)).status).toBe("interrupted");
});

test("runs are listed by a status that there is", async () => {
  const { request, client } = await serveAgent();
  const { thread_id: id } = await client.threads.create();
  expect((await request(`/threads/${id}/runs?status=done`)).status).toBe(400);
});

test("a history that names a checkpoint gives that checkpoint alone", async () => {
  const { client } = await serveAgent();
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "agent", { input: human("one") });
  await client.runs.wait(id, "agent", { input: human("two") });
  const rows = await client.threads.getHistory(id);
  const wanted = rows[2]?.checkpoint;
  expect(await client.threads.getHistory(id, { checkpoint: wanted ?? {} })).toEqual([rows[2]]);
});

test.each([
  ["POST", "/threads", { ttl: { ttl: 1 } }, "ttl"],
  ["POST", "/threads", { supersteps: [{ updates: [{ values: {}, command: { update: {} } }] }] }, "command"],
  ["POST", "/threads/search", { extract: { title: "values.title" } }, "extract"],
  [
    "POST",
    "/runs/wait",
    { assistant_id: "agent", input: human("x"), feedback_keys: ["good"] },
    "feedback_keys",
  ],
])("%s %s: what is not offered is refused by name (%#)", async (method, path, json, key) => {
  const { request, client } = await serveAgent();
  const answer = await request(path, { method, json });
  expect(answer.status).toBe(422);
  expect(await answer.text()).toMatch(new RegExp(`^${key} is not offered: `));
  expect(await client.threads.count()).toBe(0);
});

test("PATCH of a thread with a ttl is refused", async () => {
  const { request, client } = await serveAgent();
  const { thread_id: id } = await client.threads.create();
  expect((await request(`/threads/${id}`, { method: "PATCH", json: { ttl: 5 } })).status).toBe(422);
});

test.each(["a".repeat(151), "a%2Fb", "a%20b"])("a run makes no thread with the id %s", async (id) => {
  const { request, client } = await serveAgent();
  const json = { assistant_id: "agent", input: human("x"), if_not_exists: "create" };
  expect((await request(`/threads/${id}/runs/wait`, { json })).status).toBe(400);
  expect(await client.threads.count()).toBe(0);
});

test("of two owners that make one thread at once, one gets it and the other's run never begins", async () => {
  const tokens = ["ada", "bob"].map((name) => ({
    name,
    sha256: hashToken(name),
    scope: "run" as const,
    owner: name,
  }));
  const { request, store } = await serveAgent({ server: { tokens } });
  const id = crypto.randomUUID();
  const json = { assistant_id: "agent", input: human("x"), if_not_exists: "create" };
  const answers = await Promise.all(
    ["ada", "bob"].map((name) =>
      request(`/threads/${id}/runs/wait`, { json, headers: { authorization: `Bearer ${name}` } }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
  await Promise.all(answers.map((answer) => answer.text()));
  const types: string[] = [];
  for await (const page of store.log.read(`thread-${id}`)) types.push(...page.map(({ type }) => type));
  expect(types.filter((type) => ["ThreadCreated", "RunStarted"].includes(type))).toEqual([
    "ThreadCreated",
    "RunStarted",
  ]);
});

test("a stateless run that is kept is followed by its id in the modes of its Location, also after a restart", async () => {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-stateless-"));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  const store = await openStore(`sqlite:${join(folder, "log.db")}`);
  afterTest(() => store.close());
  const agent = { tools: [add] };
  const answers = [callsTools(["add", { a: 1, b: 2 }]), "Three."];
  const first = await serveAgent({ store, agent, answers });
  const json = {
    assistant_id: "agent",
    input: human("1 + 2?"),
    stream_mode: ["updates"],
    on_completion: "keep",
  };
  const answer = await first.request("/runs/stream", { json });
  const frames = await readFrames(answer);
  await first.server.stop();
  const second = await serveAgent({ store, agent, answers });
  const location = answer.headers.get("location") ?? "";
  const again = await second.request(location, { headers: { "last-event-id": "-1" } });
  expect(await readFrames(again)).toEqual(frames);
  const [, ...rest] = frames;
  const resumed = await second.request(location, { headers: { "last-event-id": frames[0]?.id ?? "" } });
  expect(await readFrames(resumed)).toEqual(rest);
});

test.each(["title", "summary_text"])("%s takes a text or null, by whatever route it comes", async (field) => {
  const { request, client, store } = await serveAgent();
  const { thread_id: id } = await client.threads.create();
  for (const value of [7, ["x"], { a: 1 }]) {
    const values = { [field]: value };
    const refused = [
      await request(`/threads/${id}/state`, { json: { values } }),
      await request(`/log/v1/threads/${id}/state`, { method: "PATCH", json: { values } }),
      await request("/threads", { json: { supersteps: [{ updates: [{ values }] }] } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([422, 422, 422]);
  }
  expect((await store.log.head(`thread-${id}`)).version).toBe(1);
  await client.threads.updateState(id, { values: { [field]: "a text" } });
  await client.threads.updateState(id, { values: { [field]: null } });
  expect((await client.threads.getState<Record<string, unknown>>(id)).values[field]).toBeNull();
});

test("a path below /log that is not there is answered with a problem", async () => {
  const { request } = await serveAgent();
  const answer = await request("/log/v1/nothing");
  expect(answer.status).toBe(404);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
});

test("a server of a new store has a list of threads from its first moment, and complains of nothing", async () => {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-new-"));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  const lines: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line) => lines.push(line) });
  const { client } = await serveAgent({ store: `sqlite:${join(folder, "log.db")}`, server: { logger } });
  expect(await client.threads.search()).toEqual([]);
  expect(lines).toEqual([]);
});

test("a fork that an admin makes belongs to the owner of the thread", async () => {
  const tokens = [
    { name: "ada", sha256: hashToken("ada"), scope: "run" as const, owner: "ada" },
    { name: "root", sha256: hashToken("root"), scope: "admin" as const },
  ];
  const { request } = await serveAgent({ server: { tokens } });
  const as = (name: string) => ({ headers: { authorization: `Bearer ${name}` } });
  const { thread_id: id } = await (await request("/threads", { json: {}, ...as("ada") })).json();
  const fork = await (await request(`/log/v1/threads/${id}/fork`, { json: {}, ...as("root") })).json();
  expect((await request(`/threads/${fork.threadId}`, as("ada"))).status).toBe(200);
});
