import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFrames } from "./read-frames.ts";
import { afterTest, collect, serveAgent } from "./served-agents.ts";
import { startServedProcess } from "./start-served-process.ts";

const human = (content: string) => ({ messages: [{ type: "human", content }] });

async function newFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-servers-"));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "t.db");
}

interface Values {
  readonly messages: readonly { readonly type: string; readonly content: string }[];
}
const slow = (file: string) => startServedProcess(file, { latencyMs: 300 });
const asked = ({ messages }: Values) =>
  messages.filter(({ type }) => type === "human").map(({ content }) => content);

test("runs that stand in line are run after the server was killed, in their order, each once", async () => {
  const file = await newFile();
  const first = await slow(file);
  const { thread_id: id } = await first.client.threads.create();
  const run = (input: string) => first.client.runs.create(id, "agent", { input: human(input) });
  const open = await run("count");
  const second = await run("second");
  const dropped = await run("dropped");
  const third = await run("third");
  expect([second.status, third.status]).toEqual(["pending", "pending"]);
  await first.client.runs.cancel(id, dropped.run_id);
  await first.kill();

  const { client } = await startServedProcess(file);
  const listed = await client.runs.list(id);
  expect(listed.map(({ run_id }) => run_id)).toEqual([third.run_id, second.run_id, open.run_id]);
  const values = (await client.runs.join(id, third.run_id)) as unknown as Values;
  expect(asked(values)).toEqual(["count", "second", "third"]);
  expect(values.messages.at(-1)?.content).toBe("All counted.");
  expect((await client.runs.list(id)).map(({ status }) => status)).toEqual(["success", "success", "success"]);
}, 60_000);

test("a server that is stopped keeps the runs in its line for the next one", async () => {
  const store = `sqlite:${await newFile()}`;
  let asks = 0;
  const first = await serveAgent({
    store,
    answers: () => {
      asks += 1;
      return new Promise<string>(() => undefined);
    },
  });
  const { thread_id: id } = await first.client.threads.create();
  const open = await first.client.runs.create(id, "agent", { input: human("one") });
  await expect.poll(() => asks).toBe(1);
  const second = await first.client.runs.create(id, "agent", { input: human("two") });
  const waiting = await first.request(`/threads/${id}/runs/${second.run_id}/stream`);
  await first.server.stop();
  expect(await readFrames(waiting)).toMatchObject([{ event: "error", data: { error: "RunPostponedError" } }]);

  const { client } = await serveAgent({ store, answers: ["answer"] });
  const values = (await client.runs.join(id, second.run_id)) as unknown as Values;
  expect(asked(values)).toEqual(["one", "two"]);
  expect(await client.runs.get(id, open.run_id)).toMatchObject({ status: "interrupted" });
});

test("a run in line that cannot be started keeps the reason, and the ones behind it go on", async () => {
  let release: (text: string) => void = () => undefined;
  const answer = new Promise<string>((resolve) => {
    release = resolve;
  });
  const { client, store } = await serveAgent({ answers: () => answer });
  const { thread_id: id } = await client.threads.create();
  await client.runs.create(id, "agent", { input: human("one") });
  const wrong = await client.runs.create(id, "agent", { input: { nonsense: 1 } });
  const right = await client.runs.create(id, "agent", { input: human("two") });
  release("answer");
  expect(asked((await client.runs.join(id, right.run_id)) as unknown as Values)).toEqual(["one", "two"]);
  expect(await client.runs.get(id, wrong.run_id)).toMatchObject({
    status: "error",
    error: expect.stringContaining("nonsense"),
  });
  await client.runs.delete(id, wrong.run_id);
  expect(await client.runs.list(id)).toHaveLength(2);
  expect(await store.queue.list(10)).toEqual([]);
});

test("two servers on one store: reads, live streams, conflicts and lines are one", async () => {
  const file = await newFile();
  const [a, b] = await Promise.all([slow(file), slow(file)]);
  const { thread_id: id } = await a.client.threads.create();
  const run = await a.client.runs.create(id, "agent", { input: human("count") });
  expect((await b.client.threads.search()).map(({ thread_id }) => thread_id)).toEqual([id]);
  await expect(
    b.client.runs.create(id, "agent", { input: human("no"), multitaskStrategy: "reject" }),
  ).rejects.toThrow("422");
  await expect(b.client.threads.updateState(id, { values: {} })).rejects.toThrow("409");
  const queued = await b.client.runs.create(id, "agent", { input: human("then") });
  expect(await a.client.runs.get(id, queued.run_id)).toMatchObject({ status: "pending" });
  const frames = await collect(
    b.client.runs.joinStream(id, run.run_id, { streamMode: ["values", "updates"] }),
  );
  const same = await collect(
    a.client.runs.joinStream(id, run.run_id, { streamMode: ["values", "updates"], lastEventId: "-1" }),
  );
  expect(frames).toEqual(same);
  expect(frames.filter(({ event }) => event === "updates").length).toBeGreaterThan(10);
  const values = (await a.client.runs.join(id, queued.run_id)) as unknown as Values;
  expect(asked(values)).toEqual(["count", "then"]);

  const { head } = (await (await fetch(`${a.url}/log/v1/threads/${id}/events?limit=1`)).json()) as {
    head: number;
  };
  const rename = (url: string, to: number) =>
    fetch(`${url}/log/v1/threads/${id}/rewind`, {
      method: "POST",
      headers: { "content-type": "application/json", "if-match": `"${head}"` },
      body: JSON.stringify({ to }),
    });
  const statuses = (await Promise.all([rename(a.url, 1), rename(b.url, 2)])).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 412]);
}, 60_000);

test("a server takes over the open run of another one that was killed, without being asked for it", async () => {
  const file = await newFile();
  const [a, b] = await Promise.all([slow(file), slow(file)]);
  const { thread_id: id } = await a.client.threads.create();
  // The thread is in the other server's memory by now.
  await b.client.threads.getState(id);
  const run = await a.client.runs.create(id, "agent", { input: human("count") });
  const following = collect(b.client.runs.joinStream(id, run.run_id, { streamMode: "values" }));
  await a.kill();
  const frames = await following;
  const last = frames.findLast(({ event }) => event === "values")?.data as unknown as Values;
  expect(last.messages.at(-1)?.content).toBe("All counted.");
  expect(last.messages.filter(({ type }) => type === "tool")).toHaveLength(5);
  const events = (await (await fetch(`${b.url}/log/v1/threads/${id}/events?type=RunTakenOver`)).json()) as {
    events: unknown[];
  };
  expect(events.events).toHaveLength(1);
}, 60_000);
