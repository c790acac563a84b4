import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { artifactsMiddleware } from "../../actors/middleware/artifacts.ts";
import { humanApprovalMiddleware } from "../../actors/middleware/human-approval.ts";
import { threadDataMiddleware } from "../../actors/middleware/thread-data.ts";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { threadFolders } from "../../actors/sandboxes/thread-folders.ts";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import { openStore } from "../../events/open-store.ts";
import { importThreads } from "../../projections/thread-import.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { framesIn, type ReadFrame } from "./read-frames.ts";
import { type ServedAgents, serveAgent } from "./served-agents.ts";

const human = (content: string) => ({ messages: [{ type: "human", content }] });

async function served(options: Parameters<typeof serveAgent>[0] = {}) {
  const all = await serveAgent({
    answers: [callsTools(["add", { a: 1, b: 2 }]), "It is 3."],
    agent: {
      tools: [add],
      middleware: [threadDataMiddleware(), artifactsMiddleware(), titleMiddleware({ enabled: false })],
    },
    ...options,
  });
  const { thread_id: id } = await all.client.threads.create();
  await all.client.runs.wait(id, "agent", { input: human("1 + 2?") });
  const get = async (path: string, init?: RequestInit) => {
    const answer = await all.request(`/log/v1/threads/${id}${path}`, init);
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as never };
  };
  return { ...all, id, get };
}

interface Events {
  readonly events: readonly { readonly type: string; readonly version: number; readonly data: unknown }[];
  readonly head: number;
  readonly next: number | null;
}

test("EVT-02: events by version, by type, by run, newest first, page by page", async () => {
  const { get } = await served();
  const { body: all }: { body: Events } = await get("/events");
  expect(all.events.map(({ version }) => version)).toEqual(all.events.map((_, index) => index + 1));
  expect(all.head).toBe(all.events.length);
  const { body: last }: { body: Events } = await get("/events?dir=desc&limit=3");
  expect(last.events.map(({ version }) => version)).toEqual([all.head, all.head - 1, all.head - 2]);
  expect(last.next).toBe(all.head - 3);
  const { body: typed }: { body: Events } = await get("/events?type=ModelResponded,ToolCallCompleted");
  expect(typed.events.map(({ type }) => type)).toEqual([
    "ModelResponded",
    "ToolCallCompleted",
    "ModelResponded",
  ]);
  const { body: ofRun }: { body: Events } = await get("/events?run=nobody");
  expect(ofRun.events).toEqual([]);
  const { body: one }: { body: { type: string } } = await get("/events/1");
  expect(one.type).toBe("ThreadCreated");
  expect((await get("/events/999")).status).toBe(404);
});

test("the state at any position, with a tag that never goes stale", async () => {
  const { get } = await served();
  const { body, headers }: { body: { version: number; state: { messages: unknown[] } }; headers: Headers } =
    await get("/state");
  expect(body.state.messages).toHaveLength(4);
  expect(headers.get("cache-control")).toContain("no-cache");
  const fixed = await get(`/state?at=${body.version}`);
  expect(fixed.headers.get("cache-control")).toContain("immutable");
  const early: { body: { state: { messages: unknown[] } } } = await get("/state?at=1");
  expect(early.body.state.messages ?? []).toHaveLength(0);
  const path: { body: { values: unknown[] } } = await get("/state?path=messages[0].content");
  expect(path.body.values).toEqual(["1 + 2?"]);
  expect(fixed.headers.get("etag")).toContain(`@${body.version}`);
});

test("If-None-Match gives 304", async () => {
  const { request, id } = await served();
  const first = await request(`/log/v1/threads/${id}/state?at=2`);
  const again = await request(`/log/v1/threads/${id}/state?at=2`, {
    headers: { "if-none-match": first.headers.get("etag") ?? "" },
  });
  expect(again.status).toBe(304);
});

test("diff, blame, causation, machine and branches", async () => {
  const { get, client, id } = await served();
  await client.threads.updateState(id, { values: { title: "Sums" } });
  const { body: diff }: { body: { diff: { path: string; value: unknown }[] } } = await get(
    "/diff?a=-1&b=head&format=patch",
  );
  expect(diff.diff).toEqual([{ op: "add", path: "/title", value: "Sums" }]);
  const { body: blame }: { body: { changes: { by: string; after: unknown[] }[] } } =
    await get("/blame?path=title");
  expect(blame.changes.at(-1)).toMatchObject({ by: "client", after: ["Sums"] });
  const { body: trace }: { body: { nodes: { kind: string; children: { kind: string }[] }[] } } =
    await get("/causation");
  const run = trace.nodes.find(({ kind }) => kind === "run");
  expect(run?.children.filter(({ kind }) => kind === "model")).toHaveLength(2);
  const { body: machine }: { body: { current: string; machine: { states: string[] } } } =
    await get("/machine");
  expect(machine.current).toBe("idle");
  expect(machine.machine.states).toContain("beforeModel");
  const { body: then }: { body: { current: string } } = await get("/machine?at=4");
  expect(then.current).not.toBe("idle");
  const { body: tree }: { body: { branches: unknown[] } } = await get("/branches");
  expect(tree.branches).toHaveLength(1);
});

test("an interrupted thread's machine stands at interrupted", async () => {
  const { get } = await served({
    agent: { tools: [add], middleware: [humanApprovalMiddleware({ interruptOn: { add: true } })] },
  });
  expect((await get("/machine")).body).toMatchObject({ current: "interrupted" });
});

test("fork, rewind and change at the version that If-Match names, else 412 and nothing is written", async () => {
  const { request, id, agent } = await served();
  const { version: head } = await agent.thread(id).info();
  const post = (path: string, json: unknown, match: string, method = "POST") =>
    request(`/log/v1/threads/${id}${path}`, { json, method, headers: { "if-match": match } });
  for (const [path, body, method] of [
    ["/fork", {}, "POST"],
    ["/rewind", { to: 1 }, "POST"],
    ["/state", { values: { title: "x" } }, "PATCH"],
  ] as const) {
    const refused = await post(path, body, '"1"', method);
    expect(refused.status).toBe(412);
    expect(refused.headers.get("content-type")).toContain("application/problem+json");
    expect(await refused.json()).toMatchObject({ status: 412, title: "PreconditionFailedError" });
  }
  expect((await agent.thread(id).info()).version).toBe(head);
  const fork = (await (await post("/fork", { at: 1 }, `"${head}"`)).json()) as { threadId: string };
  expect((await agent.thread(fork.threadId).state()).messages ?? []).toEqual([]);
  const changed = await post("/state", { values: { title: "x" } }, `"${head}"`, "PATCH");
  expect(await changed.json()).toEqual({ version: head + 1 });
  const rewound = await post("/rewind", { to: 1 }, `"${head + 1}"`);
  expect(await rewound.json()).toEqual({ version: head + 2 });
});

test("verify says that everything holds, the export can be imported", async () => {
  const { request, id } = await served();
  const verified = await request(`/log/v1/threads/${id}/verify`, { json: {} });
  expect(await verified.json()).toMatchObject({ threadId: id, problems: [] });
  const text = await (await request(`/log/v1/threads/${id}/export?blobs=true`)).text();
  const target = await openStore("memory:");
  const result = await importThreads(target, text.split("\n").filter(Boolean));
  expect(result).toBeDefined();
  expect((await target.log.head(`thread-${id}`)).version).toBeGreaterThan(5);
  await target.close();
});

test("host paths stay on this machine", async () => {
  const { request, client, id, store } = await served();
  const texts = [
    await (await request(`/log/v1/threads/${id}/events`)).text(),
    await (await request(`/log/v1/threads/${id}/state`)).text(),
    await (await request(`/log/v1/threads/${id}/diff?a=1&b=head`)).text(),
    await (await request(`/log/v1/threads/${id}/blame?path=thread_data`)).text(),
    JSON.stringify(await client.threads.getState(id)),
    JSON.stringify(await client.threads.getHistory(id)),
    JSON.stringify(await client.threads.search()),
  ];
  expect(texts[0]).toContain("ThreadDataBound");
  for (const text of texts) expect(text).not.toContain(store.folder);
});

/** Reads frames of a live stream until one fits. */
async function framesUntil(answer: Response, fits: (frame: ReadFrame) => boolean): Promise<ReadFrame[]> {
  const got: ReadFrame[] = [];
  for await (const frame of framesIn(answer)) {
    got.push(frame);
    if (fits(frame)) break;
  }
  return got;
}

const caughtUp = ({ event }: ReadFrame) => event === "caught-up";

test("live events of one thread and of all: each once, resumed by position, a gap for a place that never was", async () => {
  const { request, client, id, agent } = await served();
  const first = await framesUntil(await request(`/log/v1/threads/${id}/events/live?after=0`), caughtUp);
  const { version } = await agent.thread(id).info();
  expect(first.filter((frame) => !caughtUp(frame))).toHaveLength(version);
  const all = await request("/log/v1/events/live?type=TitleSet,StateUpdated");
  const resumed = await request(`/log/v1/threads/${id}/events/live`, {
    headers: { "last-event-id": first.at(-3)?.id ?? "" },
  });
  await client.threads.updateState(id, { values: { title: "Live" } });
  const seen = await framesUntil(all, (frame) => !caughtUp(frame));
  expect(JSON.stringify(seen.at(-1)?.data)).toContain("Live");
  const rest = (await framesUntil(resumed, ({ data }) => JSON.stringify(data).includes("Live"))).filter(
    (frame) => !caughtUp(frame),
  );
  expect(rest.map(({ data }) => (data as { version: number }).version)).toEqual([version, version + 1]);
  const gap = await framesUntil(
    await request("/log/v1/events/live", { headers: { "last-event-id": "never-was" } }),
    () => true,
  );
  expect(gap[0]).toMatchObject({ event: "gap", data: { requested: "never-was" } });
});

test("threads and projections with their lag", async () => {
  const { request, id } = await served();
  const list = (await (await request("/log/v1/threads?limit=1")).json()) as {
    threads: unknown[];
    next: string;
  };
  expect(list.threads).toMatchObject([{ threadId: id, status: "idle" }]);
  const next = await request(`/log/v1/threads?limit=1&after=${list.next}`);
  expect(await next.json()).toEqual({ threads: [], next: null });
  const { projections } = (await (await request("/log/v1/projections")).json()) as {
    projections: { name: string; lag: unknown }[];
  };
  expect(projections.find(({ name }) => name === "thread-list")?.lag).toEqual({
    events: 0,
    more: false,
    seconds: 0,
  });
  const same = await request("/log/v1/projections/thread-list/verify", { json: {} });
  expect(same.status).toBe(200);
});

test("presented files cannot run anything, files that were not presented are not there", async () => {
  const { request, store, agent, id } = await served();
  const { outputs_path: outputs } = threadFolders({ folder: store.folder, threadId: id });
  await mkdir(outputs, { recursive: true });
  await writeFile(join(outputs, "page.html"), "<script>alert(1)</script>");
  await writeFile(join(outputs, "secret.txt"), "secret");
  await agent.thread(id).record([ArtifactsPresented({ paths: ["/mnt/user-data/outputs/page.html"] })]);
  const file = (path: string) => request(`/log/v1/threads/${id}/artifacts?path=${encodeURIComponent(path)}`);
  const page = await file("/mnt/user-data/outputs/page.html");
  expect(await page.text()).toContain("script");
  expect(page.headers.get("content-type")).toBe("application/octet-stream");
  expect(page.headers.get("content-disposition")).toContain("attachment");
  expect(page.headers.get("content-security-policy")).toContain("sandbox");
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  for (const path of [
    "/mnt/user-data/outputs/secret.txt",
    "/mnt/user-data/outputs/../../../etc/passwd",
    "/etc/passwd",
  ]) {
    expect((await file(path)).status).toBe(404);
  }
});

test("blobs are given for the thread that names them only", async () => {
  const { request, client, id }: ServedAgents & { id: string } = await served();
  const data = Buffer.alloc(20_000, 3).toString("base64");
  const { thread_id: other } = await client.threads.create();
  const image = { type: "image", mimeType: "image/png", data };
  await client.threads.updateState(other, { values: { messages: [{ type: "human", content: [image] }] } });
  const [listed] = await client.threads.search<{
    messages: { content: { url: string; sha256: string }[] }[];
  }>({ ids: [other] });
  const block = listed?.values.messages[0]?.content[0];
  const given = await request(block?.url ?? "");
  expect(given.headers.get("content-type")).toBe("image/png");
  expect(Buffer.from(await given.arrayBuffer()).toString("base64")).toBe(data);
  expect((await request(`/log/v1/threads/${id}/blobs/${block?.sha256}`)).status).toBe(404);
});

test("the OpenAPI document names every native route", async () => {
  const { request } = await serveAgent();
  const document = (await (await request("/openapi.json")).json()) as {
    openapi: string;
    paths: Record<string, object>;
  };
  expect(document.openapi).toBe("3.1.0");
  for (const path of [
    "events",
    "state",
    "diff",
    "blame",
    "causation",
    "machine",
    "fork",
    "verify",
    "export",
    "events/live",
  ]) {
    expect(document.paths).toHaveProperty([`/log/v1/threads/{threadId}/${path}`]);
  }
  const { paths } = document;
  expect(JSON.stringify(paths["/log/v1/threads/{threadId}/diff"])).toContain('"format"');
});
