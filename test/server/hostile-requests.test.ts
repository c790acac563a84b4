import { request as rawRequest } from "node:http";
import { connect } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { threadDataMiddleware } from "../../actors/middleware/thread-data.ts";
import { hashToken } from "../../apps/server/index.ts";
import { type ServedAgents, serveAgent } from "./served-agents.ts";

const human = { messages: [{ type: "human", content: "hi" }] };
/** What no answer may tell. */
const secrets = [process.cwd(), "node_modules", "\n    at ", "/tmp/", "sqlite", "SQLITE"];

/** Every route of the server, as its documents and its code name them, with a body that would do. */
async function routesOf({ request }: ServedAgents): Promise<readonly (readonly [string, string])[]> {
  const { paths } = (await (await request("/openapi.json")).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const native = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
  );
  const compatible: readonly (readonly [string, string])[] = [
    ["POST", "/threads"],
    ["POST", "/threads/search"],
    ["POST", "/threads/count"],
    ["POST", "/threads/prune"],
    ["GET", "/threads/{threadId}"],
    ["PATCH", "/threads/{threadId}"],
    ["POST", "/threads/{threadId}/copy"],
    ["GET", "/threads/{threadId}/stream"],
    ["GET", "/threads/{threadId}/state"],
    ["POST", "/threads/{threadId}/state"],
    ["PATCH", "/threads/{threadId}/state"],
    ["GET", "/threads/{threadId}/state/{checkpoint}"],
    ["POST", "/threads/{threadId}/state/checkpoint"],
    ["GET", "/threads/{threadId}/history"],
    ["POST", "/threads/{threadId}/history"],
    ["GET", "/threads/{threadId}/runs"],
    ["POST", "/threads/{threadId}/runs"],
    ["POST", "/threads/{threadId}/runs/stream"],
    ["POST", "/threads/{threadId}/runs/wait"],
    ["GET", "/threads/{threadId}/runs/{runId}"],
    ["DELETE", "/threads/{threadId}/runs/{runId}"],
    ["GET", "/threads/{threadId}/runs/{runId}/join"],
    ["GET", "/threads/{threadId}/runs/{runId}/stream"],
    ["POST", "/threads/{threadId}/runs/{runId}/cancel"],
    ["POST", "/runs"],
    ["POST", "/runs/stream"],
    ["POST", "/runs/wait"],
    ["POST", "/runs/batch"],
    ["POST", "/runs/cancel"],
    ["GET", "/runs/{runId}/stream"],
    ["POST", "/assistants"],
    ["POST", "/assistants/search"],
    ["POST", "/assistants/count"],
    ["GET", "/assistants/{runId}"],
    ["PATCH", "/assistants/{runId}"],
    ["POST", "/assistants/{runId}/latest"],
    ["POST", "/assistants/{runId}/versions"],
    ["GET", "/assistants/{runId}/graph"],
    ["GET", "/assistants/{runId}/schemas"],
  ];
  return [...native, ...compatible];
}

const filled = (path: string, id: string, rest: string) =>
  path.replace("{threadId}", id).replaceAll(/\{\w+\}/g, () => encodeURIComponent(rest));

/** Values of wrong types in places where the server looks. */
const wrongBodies: readonly unknown[] = [
  7,
  "text",
  null,
  true,
  [],
  [[[]]],
  { limit: -1, offset: "x", thread_id: 7, assistant_id: [], graph_id: {}, values: 3, metadata: [], to: {} },
  { limit: 1e300, offset: -0.5, thread_id: "../x", assistant_id: "", if_exists: "perhaps", version: "1" },
  { assistant_id: "agent", input: { messages: [{ type: "ai" }, 7, null] } },
  { assistant_id: "agent", input: human, stream_mode: ["values", 7] },
  { assistant_id: "agent", input: human, command: 7 },
  { assistant_id: "agent", input: human, config: { recursion_limit: -3 } },
  { assistant_id: "agent", input: human, multitask_strategy: "fight" },
  { assistant_id: "agent", input: { thread_data: { workspace_path: "/etc" } } },
  { assistant_id: "agent", input: { $facts: {} } },
  { values: { messages: 7 }, checkpoint: "x", metadata: 7, at: {}, to: [], checks: 7, select: "x" },
  { constructor: { prototype: { polluted: true } }, to: 1e9, at: "nowhere" },
];

async function heads({ store }: ServedAgents): Promise<Record<string, number>> {
  const streams = await store.log.streams();
  return Object.fromEntries(streams.map(({ stream, version }) => [stream, version]));
}

function check(what: unknown, status: number, text: string, allowed: (status: number) => boolean) {
  expect({ what, status, text: text.slice(0, 300), ok: allowed(status) }).toMatchObject({ ok: true });
  for (const secret of secrets)
    expect({ what, leak: text.includes(secret) ? secret : "" }).toEqual({ what, leak: "" });
}
const refused = (status: number) => status >= 400 && status < 500;
const answered = (status: number) => status < 500 || status === 501;

const isHidden = (status: number) => status === 404 || status === 400 || status === 415;

/** The answer, or its beginning when it does not end. */
async function textOf(answer: Response): Promise<string> {
  if (!answer.headers.get("content-type")?.includes("event-stream")) return answer.text();
  const reader = answer.body?.getReader();
  const first = await Promise.race([
    reader?.read(),
    new Promise<undefined>((resolve) => setTimeout(resolve, 50)),
  ]);
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}

test("every route with wrong types, broken, deep and huge JSON: refused with a reason, nothing written, nothing told", async () => {
  const served = await serveAgent({ server: { maxBodyBytes: 50_000, requestsPerMinute: 1_000_000 } });
  const { client, request } = served;
  const { thread_id: id } = await client.threads.create();
  let before = await heads(served);
  const bodies = (await routesOf(served)).filter(([method]) => method === "POST" || method === "PATCH");
  const takesBody = bodies.filter(
    ([, path]) => !/\/(?:verify|rebuild|uploads|copy|cancel)$/.test(path) || path === "/runs/cancel",
  );
  expect(takesBody.length).toBeGreaterThan(20);
  for (const [method, path] of takesBody) {
    const url = filled(path, id, "nobody");
    for (const [what, body] of [
      ["no JSON", "{"],
      ["deep", `{"a":${"[".repeat(3_000)}${"]".repeat(3_000)}}`],
      ["huge", JSON.stringify({ metadata: { text: "x".repeat(60_000) } })],
    ]) {
      const answer = await request(url, { method, body: body ?? "" });
      check([what, method, path], answer.status, await answer.text(), refused);
    }
    const typed = await request(url, { method, body: "{}", headers: { "content-type": "text/html" } });
    check(["another type", method, path], typed.status, await typed.text(), refused);
    for (const body of wrongBodies) {
      const answer = await request(url, { method, body: JSON.stringify(body) });
      const text = await textOf(answer);
      check([method, path, body], answer.status, text, answered);
      // Keys that mean nothing are no reason to refuse; what is refused leaves nothing behind.
      const now = await heads(served);
      if (refused(answer.status)) expect([method, path, body, now]).toEqual([method, path, body, before]);
      else before = now;
    }
  }
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect((await request("/ok")).status).toBe(200);
}, 120_000);

test("any method, id, query and header on any route: an answer without a stack, and the server goes on", async () => {
  const served = await serveAgent({ server: { requestsPerMinute: 1_000_000 } });
  const { client, request } = served;
  const { thread_id: id } = await client.threads.create();
  const before = await heads(served);
  const routes = await routesOf(served);
  const odd = fc.oneof(
    fc.constantFrom(
      "..",
      "../../etc/passwd",
      "\u0000",
      "%",
      "a".repeat(3_000),
      "🙂",
      "-1",
      "1e9",
      "NaN",
      "null",
    ),
    fc.string({ unit: "binary", maxLength: 40 }),
  );
  const header = fc.constantFrom(
    "last-event-id",
    "if-match",
    "if-none-match",
    "accept",
    "traceparent",
    "range",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...routes),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant(id) },
        { weight: 1, arbitrary: odd.map(encodeURIComponent) },
      ),
      odd,
      fc.dictionary(
        fc.constantFrom(
          "limit",
          "offset",
          "at",
          "a",
          "b",
          "path",
          "type",
          "from",
          "to",
          "run",
          "after",
          "pointer",
          "stream_mode",
          "dir",
          "select",
          "before",
          "format",
        ),
        odd,
        { maxKeys: 3 },
      ),
      fc.dictionary(header, odd, { maxKeys: 2 }),
      async ([method, path], thread, rest, query, headers) => {
        if (method !== "GET") return;
        const url = `${filled(path, thread, rest)}?${new URLSearchParams(query)}`;
        const sent = Object.entries(headers).map(([name, value]) => [name, encodeURIComponent(value)]);
        const answer = await request(url, { headers: Object.fromEntries(sent) });
        check([method, url], answer.status, await textOf(answer), answered);
      },
    ),
    { numRuns: 400, seed: 20_261_130, endOnFailure: true },
  );
  expect(await heads(served)).toEqual(before);
  expect((await request("/ok")).status).toBe(200);
}, 120_000);

test("no route shows or changes a thread of another owner", async () => {
  const tokens = ["ada", "bob"].map((name) => ({
    name,
    sha256: hashToken(name),
    scope: "admin" as const,
    owner: name,
  }));
  const served = await serveAgent({ server: { tokens, requestsPerMinute: 1_000_000 } });
  const { store } = served;
  const as =
    (name: string): ServedAgents["request"] =>
    (path, init) =>
      served.request(path, { ...init, headers: { ...init?.headers, authorization: `Bearer ${name}` } });
  const made = await as("ada")("/threads", { json: { metadata: { note: "adas-secret" } } });
  const { thread_id: id } = (await made.json()) as { thread_id: string };
  const ran = await as("ada")(`/threads/${id}/runs/wait`, { json: { assistant_id: "agent", input: human } });
  expect(ran.status).toBe(200);
  const [run] = (await (await as("ada")(`/threads/${id}/runs`)).json()) as { run_id: string }[];
  const before = (await store.log.head(`thread-${id}`)).version;
  const routes = await routesOf({ ...served, request: as("ada") });
  const bodies = [
    {},
    { assistant_id: "agent", input: human, if_not_exists: "create" },
    { to: 1 },
    { thread_id: id },
  ];
  let tried = 0;
  for (const [method, path] of [...routes, ["DELETE", "/threads/{threadId}"] as const]) {
    if (!path.includes("{threadId}")) continue;
    for (const json of method === "GET" || method === "DELETE" ? [undefined] : bodies) {
      const url = filled(path, id, run?.run_id ?? "");
      const body = json === undefined ? {} : { body: JSON.stringify(json) };
      const answer = await as("bob")(url, { method, ...body });
      const text = await textOf(answer);
      // A body may be refused before anybody looks for the thread.
      expect([method, path, answer.status]).toEqual([method, path, expect.toSatisfy(isHidden)]);
      expect(text).not.toContain("secret");
      tried += 1;
    }
  }
  expect(tried).toBeGreaterThan(40);
  for (const path of ["/log/v1/events", "/log/v1/threads", "/log/v1/events/live?after=0"]) {
    expect(await textOf(await as("bob")(path))).not.toContain("adas-secret");
  }
  expect((await store.log.head(`thread-${id}`)).version).toBe(before);
}, 60_000);

test("requests that are no HTTP, too slow to matter or cut off leave the server as it was", async () => {
  const served = await serveAgent();
  const { port } = served.server;
  const talk = (text: string) =>
    new Promise<string>((resolve) => {
      let answer = "";
      const socket = connect(port, "127.0.0.1", () => socket.end(text));
      socket.setEncoding("latin1").on("data", (part) => {
        answer += part;
      });
      socket.on("close", () => resolve(answer)).on("error", () => resolve(answer));
    });
  const line = "POST /threads HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";
  expect(await talk("nonsense\r\n\r\n")).toContain("400");
  expect(await talk("GET / HTTP/9.9\r\n\r\n")).toMatch(/^$|400|505/);
  expect(await talk(`${line}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}`)).toContain("400");
  expect(await talk(`${line}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)).toContain(
    "400",
  );
  expect(await talk(`${line}Content-Length: 1000\r\n\r\n{`)).not.toContain("200 OK");
  expect(await talk(`${line}X-Split: a\r\n\tb\r\nContent-Length: 1\r\n\r\n{`)).toContain("400");
  const hosts = await new Promise<number | undefined>((resolve) => {
    const sent = rawRequest({ port, path: "/info", headers: { host: "127.0.0.1:1@evil.example" } });
    sent.on("response", (answer) => resolve(answer.resume().statusCode)).end();
  });
  expect(refused(hosts ?? 0)).toBe(true);
  expect(await heads(served)).toEqual({});
  expect((await served.request("/ok")).status).toBe(200);
});

test("what a client may not write is refused with everything that it sent along", async () => {
  const served = await serveAgent({ agent: { middleware: [threadDataMiddleware()] } });
  const { client, request } = served;
  const { thread_id: id } = await client.threads.create();
  const before = await heads(served);
  const paths = { thread_data: { workspace_path: "/etc", uploads_path: "/etc", outputs_path: "/etc" } };
  const tries: [string, unknown, string?][] = [
    [`/threads/${id}/state`, { values: { ...paths, title: "t" } }],
    [`/threads/${id}/state`, { values: { jump_to: "end" } }],
    [`/threads/${id}/state`, { values: { $facts: {} } }],
    [`/threads/${id}/runs`, { assistant_id: "agent", input: { ...human, ...paths } }],
    ["/runs/wait", { assistant_id: "agent", input: { ...human, ...paths } }],
    [`/threads/${id}/runs`, { assistant_id: "agent", command: { update: paths } }],
    [`/log/v1/threads/${id}/state`, { values: paths }, "PATCH"],
    ["/threads", { supersteps: [{ updates: [{ values: paths }] }] }],
    ["/threads", { supersteps: [{ updates: [{ values: { nonsense: 1 } }] }] }],
  ];
  for (const [path, json, method = "POST"] of tries) {
    const answer = await request(path, { json, method });
    check([path, json], answer.status, await textOf(answer), refused);
    expect([path, json, await heads(served)]).toEqual([path, json, before]);
  }
});
