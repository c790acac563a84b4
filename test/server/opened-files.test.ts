import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { hashToken } from "../../apps/server/index.ts";
import { counterexampleLines } from "../../testing/counterexample.ts";
import { type ServedAgents, serveAgent } from "./served-agents.ts";

interface Opened {
  readonly id: string;
  readonly path: string;
  readonly threads: readonly string[];
}

const ndjson = { "content-type": "application/x-ndjson" };
const give = (served: ServedAgents, body: string, headers: Record<string, string> = {}) =>
  served.request("/log/v1/opened", { method: "POST", body, headers: { ...ndjson, ...headers } });

async function history(name: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`../histories/0.1.0/${name}.ndjson`, import.meta.url)), "utf8");
}

test("an export is looked at beside the store: the whole API below its path, read only, and nothing is kept", async () => {
  const served = await serveAgent();
  const answer = await give(served, await history("rewind"));
  expect(answer.status).toBe(201);
  const { id, path, threads } = (await answer.json()) as Opened;
  const get = async (of: string) => (await served.request(`${path}${of}`)).json();
  const list = (await get("log/v1/threads")) as { threads: { threadId: string }[] };
  expect(list.threads.map(({ threadId }) => threadId)).toEqual(threads);
  const verified = await served.request(`${path}log/v1/threads/${threads[0]}/verify`, { json: {} });
  expect(((await verified.json()) as { problems: unknown[] }).problems).toEqual([]);
  expect(await get("log/v1/access")).toMatchObject({ readOnly: true });
  const refused = await served.request(`${path}log/v1/threads/${threads[0]}/rewind`, { json: { to: 1 } });
  expect(refused.status).toBe(403);
  expect((await served.request(`${path}log/v1/opened`, { json: {} })).status).toBe(404);
  const document = (await (await served.request("/openapi.json")).json()) as { paths: object };
  expect(document.paths).toHaveProperty(["/log/v1/opened", "post"]);
  const own = (await (await served.request("/log/v1/threads")).json()) as { threads: unknown[] };
  expect(own.threads).toEqual([]);
  expect((await served.request(`/log/v1/opened/${id}`, { method: "DELETE" })).status).toBe(204);
  expect((await served.request(`${path}log/v1/threads`)).status).toBe(404);
});

test("a counterexample of a fuzz run is a thread like any other", async () => {
  const served = await serveAgent();
  const events = [{ type: "TodosWritten", data: { todos: [{ content: "a", status: "pending" }] } }];
  const answer = await give(served, counterexampleLines({ events } as never).join("\n"));
  const { path, threads } = (await answer.json()) as Opened;
  expect(threads[0]).toMatch(/^fuzz-/);
  const read = await served.request(`${path}log/v1/threads/${threads[0]}/events`);
  expect(await read.json()).toMatchObject({ head: 1, events: [{ type: "TodosWritten" }] });
});

test("a damaged file, one that is no export, and another content type are refused in words", async () => {
  const served = await serveAgent();
  const text = await history("rewind");
  const damaged = await give(served, text.replace(/"recordedAt":"2/, '"recordedAt":"1'));
  expect(damaged.status).toBe(422);
  expect(((await damaged.json()) as { detail: string }).detail).toMatch(/hash/);
  expect((await give(served, "hello")).status).toBe(422);
  expect((await give(served, text, { "content-type": "text/plain" })).status).toBe(415);
});

test("a read-only server shows files, tokens below admin open none, and the oldest makes room", async () => {
  const text = await history("rewind");
  const readOnly = await serveAgent({ server: { readOnly: true } });
  const paths: string[] = [];
  for (let count = 0; count < 5; count++) {
    paths.push(((await (await give(readOnly, text)).json()) as Opened).path);
  }
  const statuses = await Promise.all(
    paths.map(async (path) => (await readOnly.request(`${path}log/v1/threads`)).status),
  );
  expect(statuses).toEqual([404, 200, 200, 200, 200]);

  const tokens = (["run", "admin"] as const).map((scope) => ({
    name: scope,
    sha256: hashToken(scope),
    scope,
  }));
  const guarded = await serveAgent({ server: { tokens } });
  expect((await give(guarded, text, { authorization: "Bearer run" })).status).toBe(403);
  const opened = await give(guarded, text, { authorization: "Bearer admin" });
  const { path } = (await opened.json()) as Opened;
  expect((await guarded.request(`${path}log/v1/threads`)).status).toBe(401);
  const headers = { authorization: "Bearer run" };
  expect((await guarded.request(`${path}log/v1/threads`, { headers })).status).toBe(200);
});
