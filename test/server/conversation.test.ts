import { expect, test } from "vitest";
import { add, callsTools } from "../actors/simple-tools.ts";
import { type ServedAgents, serveAgent } from "./served-agents.ts";

interface Conversation {
  readonly version: number;
  readonly head: number;
  readonly messages: readonly {
    readonly index: number;
    readonly type: string;
    readonly parts: readonly { readonly text?: string; readonly size: number }[];
    readonly edit?: string;
    readonly again?: string;
    readonly alternatives: readonly { readonly version: number; readonly current: boolean }[];
  }[];
  readonly total: number;
  readonly more: boolean;
  readonly status: string;
  readonly error: string | null;
}

function chat(served: ServedAgents, id: string) {
  const read = async (query = ""): Promise<Conversation> =>
    (await (await served.request(`/log/v1/threads/${id}/conversation${query}`)).json()) as Conversation;
  const run = (body: object) => served.client.runs.wait(id, "agent", body);
  return {
    read,
    texts: async (query = "") =>
      (await read(query)).messages.map(({ parts }) => parts.map(({ text }) => text).join("")),
    send: (content: string) => run({ input: { messages: [{ type: "human", content }] } }),
    edit: (checkpoint: string | undefined, content: string) =>
      run({ input: { messages: [{ type: "human", content }] }, checkpoint: { checkpoint_id: checkpoint } }),
    again: (checkpoint: string | undefined) =>
      run({ input: null, checkpoint: { checkpoint_id: checkpoint } }),
  };
}

function answersByNumber() {
  let count = 0;
  return () => {
    count += 1;
    return `answer ${count}`;
  };
}

async function openChat(options: Parameters<typeof serveAgent>[0] = {}) {
  const served = await serveAgent({ answers: answersByNumber(), title: false, ...options });
  const { thread_id: id } = await served.client.threads.create();
  return chat(served, id);
}

test("an edited message and one that is answered again have two ways on, each to be seen at its version", async () => {
  const page = await openChat();
  await page.send("one");
  await page.send("two");
  const before = await page.read();
  expect(before.messages.map(({ alternatives }) => alternatives)).toEqual([[], [], [], []]);

  await page.again(before.messages[3]?.again);
  expect(await page.texts()).toEqual(["one", "answer 1", "two", "answer 3"]);
  const again = (await page.read()).messages[3]?.alternatives ?? [];
  expect(again).toMatchObject([{ version: before.head, current: false }, { current: true }]);
  expect(await page.texts(`?at=${again[0]?.version}`)).toEqual(["one", "answer 1", "two", "answer 2"]);
  const old = await page.read(`?at=${again[0]?.version}`);
  expect(old.messages[3]?.alternatives.map(({ current }) => current)).toEqual([true, false]);

  await page.edit((await page.read()).messages[0]?.edit, "one, edited");
  expect(await page.texts()).toEqual(["one, edited", "answer 4"]);
  await page.edit((await page.read()).messages[0]?.edit, "one, edited twice");
  const { messages, head } = await page.read();
  const ways = messages[0]?.alternatives ?? [];
  expect(ways.map(({ current }) => current)).toEqual([false, false, true]);
  expect(ways[2]?.version).toBe(head);
  // The first way leads to where the thread had come on it.
  expect(await page.texts(`?at=${ways[0]?.version}`)).toEqual(["one", "answer 1", "two", "answer 3"]);
  expect(await page.texts(`?at=${ways[1]?.version}`)).toEqual(["one, edited", "answer 4"]);
});

test("the newest page comes first; long texts are cut and hidden messages left out", async () => {
  const page = await openChat({ answers: ["x".repeat(50_000)] });
  for (const text of ["one", "two", "three"]) await page.send(text);
  const { messages, more, total } = await page.read("?limit=3");
  expect(messages.map(({ index }) => index)).toEqual([3, 4, 5]);
  expect({ more, total }).toEqual({ more: true, total: 6 });
  const last = messages[2]?.parts[0];
  expect([last?.text?.length, last?.size]).toEqual([20_000, 50_000]);
  const older = await page.read("?limit=10&before=3");
  expect(older.messages.map(({ index }) => index)).toEqual([0, 1, 2]);
  expect(older.more).toBe(false);
});

test("a failed run tells its error, and a call of a tool its arguments", async () => {
  const page = await openChat({
    answers: [callsTools(["add", { a: 1, b: 2 }]), new Error("no luck")],
    agent: { tools: [add], middleware: [] },
  });
  await page.send("1 + 2?").catch(() => undefined);
  const { messages, status, error } = await page.read();
  expect(messages.map(({ type }) => type)).toEqual(["human", "ai", "tool"]);
  expect(messages[1]).toMatchObject({ calls: [{ name: "add", args: { a: 1, b: 2 } }] });
  expect(status).toBe("failed");
  expect(error).toContain("no luck");
});

test("of long arguments the beginning of each is told under its own name", async () => {
  const page = await openChat({
    answers: [callsTools(["add", { a: 1, b: 2, note: "x".repeat(20_000) }]), "done"],
    agent: { tools: [add], middleware: [] },
  });
  await page.send("1 + 2?");
  const { messages } = await page.read();
  expect(messages[1]).toMatchObject({
    calls: [{ name: "add", args: { a: 1, b: 2, note: `${"x".repeat(400)}…` } }],
  });
});
