import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { redactThread } from "../../projections/redaction.ts";
import { framesIn, readFrames } from "./read-frames.ts";
import { afterTest, serveAgent } from "./served-agents.ts";

const human = (content: string) => ({ messages: [{ type: "human", content }] });

async function serveFile() {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-rebuild-"));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  const served = await serveAgent({ store: `sqlite:${join(folder, "t.db")}`, answers: () => "Fine." });
  const { thread_id: id } = await served.client.threads.create();
  await served.client.runs.wait(id, "agent", { input: human("Card 4111111111111111") });
  const rebuild = (name: string) => served.request(`/log/v1/projections/${name}/rebuild`, { method: "POST" });
  return { ...served, id, rebuild };
}

test("rows are built anew with progress, while the old ones serve, and the new ones go on with the log", async () => {
  const { client, rebuild, id } = await serveFile();
  const answer = await rebuild("thread-list");
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const frames: { event: string | undefined; data: unknown }[] = [];
  for await (const frame of framesIn(answer)) {
    frames.push(frame);
    expect(await client.threads.search()).toHaveLength(1);
  }
  const progress = frames.filter(({ event }) => event === "progress");
  expect(progress.length).toBeGreaterThan(0);
  expect(progress.at(-1)?.data).toMatchObject({ total: expect.any(Number), rate: expect.any(Number) });
  expect(frames.at(-1)).toMatchObject({ event: "done", data: { rows: 1, skipped: [], resumedAt: 0 } });
  await client.threads.updateState(id, { values: { title: "After" } });
  const [row] = await client.threads.search<{ title: string }>();
  expect(row?.values.title).toBe("After");
  await client.threads.create();
  expect(await client.threads.search()).toHaveLength(2);
});

test("a rebuild brings nothing back that was redacted", async () => {
  const { request, rebuild, store, id } = await serveFile();
  await redactThread(store, id, { rule: "/\\d{16}/" });
  expect((await readFrames(await rebuild("thread-list"))).at(-1)?.event).toBe("done");
  const list = await (await request("/log/v1/threads")).text();
  expect(list).not.toContain("4111111111111111");
  expect(list).toContain(id);
});

test("a projection that is not there is 404, one in memory 409", async () => {
  const { rebuild } = await serveFile();
  expect((await rebuild("nothing")).status).toBe(404);
  const { request } = await serveAgent();
  const { projections } = (await (await request("/log/v1/projections")).json()) as {
    projections: { name: string }[];
  };
  const statuses = new Set<number>();
  for (const { name } of projections) {
    const answer = await request(`/log/v1/projections/${name}/rebuild`, { method: "POST" });
    statuses.add(answer.status);
    await answer.text();
  }
  expect([...statuses].toSorted()).toEqual(expect.arrayContaining([200]));
});
