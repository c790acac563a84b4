import { AIMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { todosMiddleware } from "../../actors/middleware/todos.ts";
import { hashToken } from "../../apps/server/access.ts";
import type { ListedChange } from "../../projections/change-outline.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { serveAgent } from "./served-agents.ts";

interface Changes {
  readonly from: { readonly threadId: string; readonly version: number };
  readonly to: { readonly threadId: string; readonly version: number };
  readonly changes: readonly ListedChange[];
}

async function served(options: Parameters<typeof serveAgent>[0] = {}) {
  const all = await serveAgent({
    answers: [callsTools(["add", { a: 1, b: 2 }]), "It is 3."],
    agent: { tools: [add], middleware: [titleMiddleware({ enabled: false }), todosMiddleware()] },
    ...options,
  });
  const thread = all.agent.thread("t");
  const { version: head } = await thread.run("1 + 2?").result;
  const get = async <Body>(path: string, headers: Record<string, string> = {}) => {
    const answer = await all.request(`/log/v1/threads/${path}`, { headers });
    return { status: answer.status, body: (await answer.json()) as Body };
  };
  return { ...all, thread, head, get };
}

test("what a version changed, or what did since another version of this thread or of another", async () => {
  const { thread, head, get } = await served();
  await thread.update({ title: "Sums" });
  const last = (await get<Changes>("t/changes")).body;
  expect([last.from.version, last.to.version]).toEqual([head, head + 1]);
  expect(last.changes).toMatchObject([
    { kind: "added", key: "title", after: { outline: { value: "Sums" } } },
  ]);
  const fork = await thread.fork({ at: 3, threadId: "f" });
  await fork.update({ title: "Other" });
  const across = (await get<Changes>(`f/changes?with=${encodeURIComponent("t@head")}`)).body;
  expect(across.from).toEqual({ threadId: "t", version: head + 1 });
  const title = across.changes.find(({ key }) => key === "title");
  expect(title).toMatchObject({ kind: "replaced", text: { before: "Sums", after: "Other" } });
  const pinned = (await get<Changes>("t/changes?at=head&with=1")).body;
  expect(pinned.changes.find(({ key }) => key === "messages")?.changes ?? pinned.changes).not.toEqual([]);
});

test("the same as JSON Patch: long values are cut, unless the whole is asked for", async () => {
  const { thread, get } = await served();
  await thread.update({ title: "x".repeat(5_000) });
  interface Patch {
    readonly operations: readonly { op: string; path: string; value?: string; outline?: { size: number } }[];
  }
  const [cut] = (await get<Patch>("t/patch")).body.operations;
  expect(cut).toMatchObject({ op: "add", path: "/title", outline: { kind: "string", size: 5_000 } });
  expect(cut).not.toHaveProperty("value");
  const [whole] = (await get<Patch>("t/patch?whole=true")).body.operations;
  expect(whole?.value).toHaveLength(5_000);
});

test("two branches: their common ancestor, what each did since, and where that stands", async () => {
  const { thread, head, get } = await served();
  await thread.update({ title: "Left" });
  const fork = await thread.fork({ at: head, threadId: "f" });
  await fork.update({ title: "Right" });
  const { body } = await get(`t/compare?with=${encodeURIComponent("f@head")}`);
  expect(body).toMatchObject({
    ancestor: { threadId: "t", version: head },
    left: { events: 1, fields: ["title"], parts: [{ threadId: "t", from: head + 1, to: head + 1 }] },
    right: { events: 2, fields: ["title"], parts: [{ threadId: "f", from: 1, to: 2 }] },
    fields: ["title"],
  });
});

test("a thread of another owner cannot be compared with", async () => {
  const mine = "token-of-ada";
  const { agent, request } = await serveAgent({
    server: { tokens: [{ name: "ada", sha256: hashToken(mine), scope: "run", owner: "ada" }] },
  });
  await agent.thread("secret").run("hello", { metadata: {} } as never).result;
  const headers = { Authorization: `Bearer ${mine}` };
  const made = await request("/threads", { json: {}, headers });
  const { thread_id: own } = (await made.json()) as { thread_id: string };
  for (const path of ["changes", "patch", "compare"]) {
    const answer = await request(`/log/v1/threads/${own}/${path}?with=secret@head`, { headers });
    expect(answer.status).toBe(404);
    expect(JSON.stringify(await answer.json())).not.toContain("hello");
  }
  expect((await request(`/log/v1/threads/${own}/changes?with=0`, { headers })).status).toBe(200);
});

test("the request of the last model call at or before a version, with origins and its hash checked", async () => {
  const { get, store } = await served();
  const calls: number[] = [];
  for await (const page of store.log.read("thread-t", { types: ["ModelCallStarted"] }))
    calls.push(...page.map(({ version }) => version));
  interface Seen {
    readonly version: number;
    readonly hashMatches: boolean;
    readonly tools: readonly { name: string }[];
    readonly count: number;
    readonly first: number;
    readonly messages: readonly { by: string; type: string; origin?: { type: string }; index: number }[];
  }
  const [first = 0, second = 0] = calls;
  const early = (await get<Seen>(`t/seen?at=${second - 1}`)).body;
  expect(early).toMatchObject({ version: first, hashMatches: true, count: 1 });
  expect(early.tools.map(({ name }) => name)).toContain("add");
  const late = (await get<Seen>("t/seen")).body;
  expect(late.version).toBe(second);
  expect(late.messages.map(({ type, origin }) => [type, origin?.type])).toEqual([
    ["human", "MessagesAdded"],
    ["ai", "ModelResponded"],
    ["tool", "ToolCallCompleted"],
  ]);
  const page = (await get<Seen>("t/seen?limit=1")).body;
  expect(page).toMatchObject({ first: 2, count: 3 });
  expect(page.messages).toMatchObject([{ type: "tool", index: 2 }]);
  expect((await get(`t/seen/outline?at=${second}&pointer=/messages/0/content`)).body).toMatchObject({
    outline: { text: "1 + 2?" },
  });
  expect((await get("t/seen?at=1")).status).toBe(404);
});

test("with prices in the settings, causation says what a run cost; without, nothing", async () => {
  const usage_metadata = { input_tokens: 1_000_000, output_tokens: 500_000, total_tokens: 1_500_000 };
  const answers = [new AIMessage({ content: "Done.", usage_metadata })];
  interface Trace {
    readonly currency: string | null;
    readonly nodes: readonly { readonly kind: string; readonly cost?: number }[];
  }
  const costs = async (server: NonNullable<Parameters<typeof serveAgent>[0]>["server"]) => {
    const { get } = await served({ answers, ...(server && { server }) });
    const { currency, nodes } = (await get<Trace>("t/causation")).body;
    return [currency, nodes.find(({ kind }) => kind === "run")?.cost];
  };
  expect(
    await costs({
      prices: { currency: "EUR", models: { "*": { inputPerMillion: 2, outputPerMillion: 8 } } },
    }),
  ).toEqual(["EUR", 6]);
  expect(await costs(undefined)).toEqual([null, undefined]);
});
