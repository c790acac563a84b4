import { request as rawRequest } from "node:http";
import { expect, test } from "vitest";
import { hashToken, ServerConfigError, startServer } from "../../apps/server/index.ts";
import { openStore } from "../../events/open-store.ts";
import { afterTest, serveAgent } from "./served-agents.ts";

const human = { messages: [{ type: "human", content: "hi" }] };
const tokens = [
  { name: "ada", sha256: hashToken("token-of-ada"), scope: "run" as const, owner: "ada" },
  { name: "bob", sha256: hashToken("token-of-bob"), scope: "run" as const, owner: "bob" },
  { name: "reader", sha256: hashToken("token-of-reader"), scope: "read" as const },
  { name: "root", sha256: hashToken("token-of-root"), scope: "admin" as const },
];

async function serveOwners() {
  const served = await serveAgent({ server: { tokens } });
  const as = (name: string, path: string, json?: unknown, method?: string) =>
    served.request(path, {
      ...(json !== undefined && { json }),
      ...(method !== undefined && { method }),
      headers: { authorization: `Bearer token-of-${name}` },
    });
  const made = (await (await as("ada", "/threads", {})).json()) as { thread_id: string };
  return { ...served, as, id: made.thread_id };
}

test("other addresses than loopback need tokens, and settings name what is wrong with them", async () => {
  const store = await openStore("memory:");
  afterTest(() => store.close());
  const { agent } = await serveAgent();
  const start = (more: object) => startServer({ agents: { agent }, store, port: 0, ...more });
  await expect(start({ host: "0.0.0.0" })).rejects.toThrow(ServerConfigError);
  await expect(start({ host: "0.0.0.0" })).rejects.toThrow('"host"');
  await expect(start({ tokens: [{ name: "a", sha256: "abc" }] })).rejects.toThrow('"tokens.0.sha256"');
  await expect(start({ unknown: 1 })).rejects.toThrow("unknown");
});

test("without a token nothing is shown but that the server is there", async () => {
  const { request, as } = await serveOwners();
  for (const path of ["/info", "/threads/search", "/log/v1/events", "/metrics", "/openapi.json"]) {
    const answer = await request(path, path === "/threads/search" ? { json: {} } : {});
    expect([path, answer.status]).toEqual([path, 401]);
  }
  expect((await request("/ok")).status).toBe(200);
  expect((await as("nobody", "/info")).status).toBe(401);
  expect((await request("/info", { headers: { "x-api-key": "token-of-ada" } })).status).toBe(200);
});

test("a reader reads, a runner runs, only an admin sees metrics and exports", async () => {
  const { as, id } = await serveOwners();
  expect((await as("reader", `/threads/${id}/state`)).status).toBe(200);
  expect((await as("reader", "/threads/search", {})).status).toBe(200);
  expect((await as("reader", "/threads", {})).status).toBe(403);
  expect((await as("reader", `/threads/${id}/runs`, { assistant_id: "agent", input: human })).status).toBe(
    403,
  );
  expect((await as("reader", `/threads/${id}`, undefined, "DELETE")).status).toBe(403);
  expect((await as("ada", "/metrics")).status).toBe(403);
  expect((await as("ada", `/log/v1/threads/${id}/export`)).status).toBe(403);
  expect((await as("root", `/log/v1/threads/${id}/export`)).status).toBe(200);
  expect((await as("root", "/metrics")).status).toBe(200);
  expect((await as("ada", `/threads/${id}`, undefined, "DELETE")).status).toBe(204);
});

test("threads of one owner are not there for another, whatever route is tried", async () => {
  const { as, id, agent } = await serveOwners();
  const ran = (await (
    await as("ada", `/threads/${id}/runs/wait`, { assistant_id: "agent", input: human })
  ).json()) as object;
  expect(ran).toHaveProperty("messages");
  const [run] = (await (await as("ada", `/threads/${id}/runs`)).json()) as { run_id: string }[];
  const { version } = await agent.thread(id).info();
  const body = { assistant_id: "agent", input: human, if_not_exists: "create" };
  const tries: [string, unknown?, string?][] = [
    [`/threads/${id}`],
    [`/threads/${id}`, { metadata: { owner: "bob" } }, "PATCH"],
    [`/threads/${id}`, undefined, "DELETE"],
    [`/threads/${id}/state`],
    [`/threads/${id}/state`, { values: { title: "bob's" } }],
    [`/threads/${id}/history`, {}],
    [`/threads/${id}/copy`, {}],
    [`/threads/${id}/runs`],
    [`/threads/${id}/runs`, body],
    [`/threads/${id}/runs/stream`, body],
    [`/threads/${id}/runs/wait`, body],
    [`/threads/${id}/runs/${run?.run_id}`],
    [`/threads/${id}/runs/${run?.run_id}/stream`],
    [`/threads/${id}/runs/${run?.run_id}/join`],
    [`/threads/${id}/runs/${run?.run_id}/cancel`, {}],
    ["/runs/cancel", { thread_id: id }],
    [`/log/v1/threads/${id}`],
    [`/log/v1/threads/${id}/events`],
    [`/log/v1/threads/${id}/events/live`],
    [`/log/v1/threads/${id}/state`],
    [`/log/v1/threads/${id}/fork`, {}],
    [`/log/v1/threads/${id}/blobs/${"a".repeat(64)}`],
    [`/log/v1/threads/${id}/verify`, {}],
  ];
  for (const [path, json, method] of tries) {
    const answer = await as("bob", path, json, method);
    expect([path, answer.status]).toEqual([path, 404]);
    expect(await answer.text()).not.toContain("ada");
  }
  expect(await (await as("bob", "/threads/search", {})).json()).toEqual([]);
  expect(await (await as("bob", "/threads/count", {})).json()).toBe(0);
  expect(await (await as("bob", "/log/v1/events")).json()).toEqual({ events: [], next: null });
  expect(await (await as("bob", "/log/v1/threads")).json()).toMatchObject({ threads: [] });
  expect((await as("bob", "/threads", { thread_id: id, if_exists: "do_nothing" })).status).toBe(409);
  expect((await agent.thread(id).info()).version).toBe(version);
  // The owner cannot give it away either.
  await as("ada", `/threads/${id}`, { metadata: { owner: "bob" } }, "PATCH");
  expect((await as("bob", `/threads/${id}`)).status).toBe(404);
});

const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

test("hostile requests get a 4xx with a reason, nothing is written, nothing of the machine is told", async () => {
  const { request, store, client } = await serveAgent({ server: { maxBodyBytes: 100_000 } });
  const { thread_id: id } = await client.threads.create();
  const before = (await store.log.head(`thread-${id}`)).version;
  const run = `/threads/${id}/runs`;
  const send = (path: string, body: string, more: RequestInit = {}) =>
    request(path, { method: "POST", body, ...more });
  const tries: [string, () => Promise<Response>][] = [
    ["no JSON", () => send(run, "{")],
    ["empty", () => send(run, "")],
    ["another type", () => send(run, "{}", { headers: { "content-type": "text/plain" } })],
    ["huge", () => send(run, JSON.stringify({ assistant_id: "agent", input: "x".repeat(200_000) }))],
    ["deep", () => send(run, `{"assistant_id":"agent","input":${deep(5_000)}}`)],
    ["deep beyond the stack", () => send(run, deep(40_000))],
    ["wrong types", () => send(run, JSON.stringify({ assistant_id: 7, input: human }))],
    ["no assistant", () => send(run, JSON.stringify({ input: human }))],
    ["unknown assistant", () => send(run, JSON.stringify({ assistant_id: "../../etc", input: human }))],
    ["a number as input", () => send(run, JSON.stringify({ assistant_id: "agent", input: 7 }))],
    [
      "a message of no kind",
      () =>
        send(
          run,
          JSON.stringify({ assistant_id: "agent", input: { messages: [{ type: "alien", content: "x" }] } }),
        ),
    ],
    [
      "messages of no kind",
      () => send(run, JSON.stringify({ assistant_id: "agent", input: { messages: 7 } })),
    ],
    ["an unknown field", () => send(run, JSON.stringify({ assistant_id: "agent", input: { nonsense: 1 } }))],
    ["a prototype", () => send(run, '{"assistant_id":"agent","input":{"__proto__":{"x":1},"messages":7}}')],
    ["nothing to go on from", () => send(run, JSON.stringify({ assistant_id: "agent" }))],
    [
      "a checkpoint that is none",
      () => send(run, JSON.stringify({ assistant_id: "agent", input: human, checkpoint_id: "x" })),
    ],
    [
      "a breakpoint",
      () => send(run, JSON.stringify({ assistant_id: "agent", input: human, interrupt_before: "*" })),
    ],
    [
      "a webhook",
      () =>
        send(run, JSON.stringify({ assistant_id: "agent", input: human, webhook: "http://127.0.0.1:1/" })),
    ],
    ["a thread of dots", () => request("/threads/..%2f..%2fetc%2fpasswd")],
    ["a thread with a zero", () => request("/threads/a%00b/state")],
    ["a long thread id", () => request(`/threads/${"a".repeat(5_000)}/state`)],
    ["a broken escape", () => request("/threads/%E0%A4%A/state")],
    ["a new thread with a path as its id", () => send("/threads", JSON.stringify({ thread_id: "../x" }))],
    ["too many rows", () => send(`/threads/${id}/history`, JSON.stringify({ limit: 1e9 }))],
    ["a negative offset", () => send("/threads/search", JSON.stringify({ offset: -1 }))],
    ["a limit that is no number", () => request(`${run}?limit=many`)],
    ["a path that is none", () => request(`/log/v1/threads/${id}/state?path=%24%5B%3F(`)],
    ["a version that is none", () => request(`/log/v1/threads/${id}/state?at=99999`)],
    ["a position that is none", () => request(`/log/v1/threads/${id}/state?at=%27%3B--`)],
    ["a digest that is none", () => request(`/log/v1/threads/${id}/blobs/..%2f..%2fx`)],
    [
      "another page's request",
      () =>
        send(run, JSON.stringify({ assistant_id: "agent", input: human }), {
          headers: { origin: "https://evil.example" },
        }),
    ],
  ];
  for (const [what, ask] of tries) {
    const answer = await ask();
    const text = await answer.text();
    expect({ what, status: answer.status, text }).toMatchObject({
      what,
      status: expect.toSatisfy((status: number) => status >= 400 && status < 500),
    });
    expect(text.length).toBeGreaterThan(3);
    expect(text.length).toBeLessThan(3_000);
    for (const secret of ["/work/", "node_modules", "\n    at ", process.cwd()])
      expect(text).not.toContain(secret);
  }
  expect((await store.log.head(`thread-${id}`)).version).toBe(before);
  expect((await request("/ok")).status).toBe(200);
});

test("a name that somebody let point to this machine is not answered", async () => {
  const { server } = await serveAgent();
  const status = await new Promise((resolve, reject) => {
    const sent = rawRequest(`${server.url}/threads/search`, {
      method: "POST",
      headers: { host: "evil.example" },
    });
    sent.on("response", (answer) => resolve(answer.resume().statusCode));
    sent.on("error", reject);
    sent.end();
  });
  expect(status).toBe(403);
});

test("headers beyond all measure are refused before anything reads them", async () => {
  const { request } = await serveAgent();
  const answer = await request("/info", { headers: { "x-long": "a".repeat(20_000) } });
  expect(answer.status).toBe(431);
});

test("who asks too often waits", async () => {
  const { request } = await serveAgent({ server: { requestsPerMinute: 5 } });
  const statuses: number[] = [];
  for (let count = 0; count < 7; count++) statuses.push((await request("/info")).status);
  expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
  expect(statuses.slice(5)).toContain(429);
});

test("pages of no other origin are allowed unless they are named", async () => {
  const { request } = await serveAgent();
  const answer = await request("/threads/search", {
    method: "OPTIONS",
    headers: { origin: "http://localhost:3000", "access-control-request-method": "POST" },
  });
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
});

test("a body whose length is not announced is counted as it comes", async () => {
  const { request } = await serveAgent({ server: { maxBodyBytes: 10_000 } });
  const send = (bytes: number) => {
    const text = JSON.stringify({ metadata: { text: "x".repeat(bytes) } });
    const body = new Blob([text]).stream();
    return request("/threads", { method: "POST", body, duplex: "half" } as RequestInit);
  };
  expect((await send(5_000)).status).toBe(200);
  const large = await send(500_000);
  expect(large.status).toBe(413);
  expect(await large.text()).toContain("10000 bytes");
});
