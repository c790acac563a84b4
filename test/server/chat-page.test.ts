import { expect, test } from "vitest";
import { deferred } from "../../actors/deferred.ts";
import { humanApprovalMiddleware } from "../../actors/middleware/human-approval.ts";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { defaultAssistantId } from "../../apps/server/compat/assistant-records.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { type ReadFrame, readFrames } from "./read-frames.ts";
import { type ServedAgents, serveAgent } from "./served-agents.ts";

/** The stock chat page's requests, as they were recorded. */
const common = { stream_mode: ["values", "messages-tuple", "custom"], assistant_id: "agent" };
const sending = { stream_subgraphs: true, stream_resumable: true, on_disconnect: "continue" };
const answering = { stream_resumable: false, on_disconnect: "cancel" };

interface Row {
  readonly values: { readonly messages?: readonly { id: string; type: string; content: unknown }[] };
  readonly next: readonly string[];
  readonly tasks: readonly { readonly interrupts: readonly { id: string; value: Question }[] }[];
  readonly checkpoint: { readonly checkpoint_id: string };
  readonly parent_checkpoint: { readonly checkpoint_id: string } | null;
}
interface Question {
  readonly action_requests: readonly { name: string; args: unknown }[];
  readonly review_configs: readonly { action_name: string; allowed_decisions: string[] }[];
}

/** The page, as far as it talks to the server. */
function openPage(served: ServedAgents) {
  const { request } = served;
  const post = async (path: string, json: unknown): Promise<never> =>
    (await request(path, { json })).json() as never;
  const history = (id: string): Promise<Row[]> => post(`/threads/${id}/history`, { limit: 10 });
  const head = async (id: string) => {
    const [row] = await history(id);
    return row && { checkpoint_id: row.checkpoint.checkpoint_id, checkpoint_ns: "", checkpoint_map: null };
  };
  const stream = async (id: string, body: object): Promise<ReadFrame[]> => {
    const answer = await request(`/threads/${id}/runs/stream`, { json: { ...common, ...body } });
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    return readFrames(answer);
  };
  let sent = 0;
  return {
    history,
    head,
    stream,
    search: (metadata: object): Promise<{ thread_id: string; values: Row["values"] }[]> =>
      post("/threads/search", { metadata, limit: 100, offset: 0 }),
    async newThread() {
      const { thread_id: id }: { thread_id: string } = await post("/threads", { metadata: {} });
      return id;
    },
    async send(id: string, text: string, blocks: readonly object[] = []) {
      const checkpoint = await head(id);
      sent += 1;
      const content = [{ type: "text", text }, ...blocks];
      const input = { messages: [{ id: `m${sent}`, type: "human", content }] };
      return stream(id, { input, ...sending, ...(checkpoint && { checkpoint }) });
    },
    /** The parent of the first state that holds a message, as the page looks it up. */
    async parentOf(id: string, index: number) {
      const rows = await history(id);
      const message = rows[0]?.values.messages?.[index];
      const first = rows.findLast((row) => row.values.messages?.some((one) => one.id === message?.id));
      return { ...first?.parent_checkpoint, checkpoint_ns: "", checkpoint_map: null };
    },
  };
}

const texts = (row: Row | undefined) =>
  (row?.values.messages ?? []).map(({ content }) =>
    typeof content === "string" ? content : (content as { text?: string }[])[0]?.text,
  );

function answersByNumber() {
  let count = 0;
  return () => {
    count += 1;
    return `answer ${count}`;
  };
}

test("a page from another origin: info and preflight are answered, headers can be read", async () => {
  const origin = "http://localhost:3000";
  const { request } = await serveAgent({ server: { corsOrigins: [origin] } });
  expect((await request("/info", { headers: { origin } })).ok).toBe(true);
  const preflight = await request("/threads/search", {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,x-api-key,x-auth-scheme",
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
  const allowed = preflight.headers.get("access-control-allow-headers")?.toLowerCase();
  for (const name of ["content-type", "x-api-key", "x-auth-scheme"]) expect(allowed).toContain(name);
  const answer = await request("/threads/search", { json: {}, headers: { origin } });
  const exposed = answer.headers.get("access-control-expose-headers")?.toLowerCase();
  for (const name of ["content-location", "x-pagination-total"]) expect(exposed).toContain(name);
});

test("send: the frames that the page needs, the run's place, and the thread in the list by graph name and by id", async () => {
  const served = await serveAgent();
  const page = openPage(served);
  const id = await page.newThread();
  const answer = await served.request(`/threads/${id}/runs/stream`, {
    json: {
      ...common,
      ...sending,
      input: { messages: [{ id: "m", type: "human", content: [{ type: "text", text: "Hi" }] }] },
    },
  });
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  expect(answer.headers.get("content-location")).toMatch(new RegExp(`^/threads/${id}/runs/[0-9a-f-]{36}$`));
  expect(answer.headers.get("location")).toMatch(
    /\/stream\?stream_mode=values&stream_mode=messages-tuple&stream_mode=custom&stream_subgraphs=true$/,
  );
  const frames = await readFrames(answer);
  expect(frames[0]?.event).toBe("metadata");
  expect(new Set(frames.map(({ event }) => event))).toEqual(new Set(["metadata", "values", "messages"]));
  const byName = await page.search({ graph_id: "agent" });
  const byId = await page.search({ assistant_id: defaultAssistantId("agent") });
  expect(byName.map(({ thread_id }) => thread_id)).toEqual([id]);
  expect(byId.map(({ thread_id }) => thread_id)).toEqual([id]);
  expect(byName[0]?.values.messages?.[0]?.content).toEqual([{ type: "text", text: "Hi" }]);
});

test("trap 1: after three turns and a regenerate an edit of the first message replaces it within ten rows", async () => {
  const page = openPage(await serveAgent({ answers: answersByNumber() }));
  const id = await page.newThread();
  for (const text of ["one", "two", "three"]) await page.send(id, text);
  await page.stream(id, { ...sending, checkpoint: await page.parentOf(id, 5) });
  expect(texts((await page.history(id))[0])).toEqual([
    "one",
    "answer 1",
    "two",
    "answer 2",
    "three",
    "answer 4",
  ]);

  const edited = { messages: [{ type: "human", content: "one, edited" }] };
  await page.stream(id, { ...sending, input: edited, checkpoint: await page.parentOf(id, 0) });
  const rows = await page.history(id);
  expect(rows.length).toBeLessThanOrEqual(10);
  expect(texts(rows[0])).toEqual(["one, edited", "answer 5"]);
  expect(rows[0]?.values.messages?.[0]?.id).toMatch(/.+/);
  expect(rows.filter((row) => row.parent_checkpoint === null)).toHaveLength(1);
  const siblings = rows.filter(
    (row) => row.parent_checkpoint?.checkpoint_id === rows.at(-1)?.checkpoint.checkpoint_id,
  );
  expect(siblings.map((row) => texts(row)[0]).toSorted()).toEqual(["one", "one, edited"]);
});

test("RPL-01: a regenerated answer takes the old one's place and the model does not see the old one", async () => {
  const seen: string[][] = [];
  let count = 0;
  const answers = (messages: readonly { readonly text: string }[]) => {
    seen.push(messages.map(({ text }) => text));
    count += 1;
    return `a${count}`;
  };
  const page = openPage(await serveAgent({ answers }));
  const id = await page.newThread();
  await page.send(id, "q1");
  await page.send(id, "q2");
  await page.stream(id, { ...sending, checkpoint: await page.parentOf(id, 3) });
  expect(seen.at(-1)).toEqual(["q1", "a1", "q2"]);
  const rows = await page.history(id);
  expect(texts(rows[0])).toEqual(["q1", "a1", "q2", "a3"]);
  const parent = rows[0]?.parent_checkpoint?.checkpoint_id;
  const branches = rows.filter((row) => row.parent_checkpoint?.checkpoint_id === parent);
  expect(branches.map((row) => texts(row).at(-1))).toEqual(["a3", "a2"]);
});

test("RPL-02: a title that was given by hand stays when the answer is made anew", async () => {
  const served = await serveAgent({ answers: answersByNumber() });
  const page = openPage(served);
  const id = await page.newThread();
  await page.send(id, "question");
  await served.client.threads.updateState(id, { values: { title: "Mine" } });
  await page.stream(id, { ...sending, checkpoint: await page.parentOf(id, 1) });
  const { values } = await served.client.threads.getState<{ title: string; messages: { content: string }[] }>(
    id,
  );
  expect(values.title).toBe("Mine");
  expect(values.messages.at(-1)?.content).toBe("answer 2");
});

test("RPL-06: an edited only question is all that the model and the page see", async () => {
  const seen: string[][] = [];
  const answers = (messages: readonly { readonly text: string }[]) => {
    seen.push(messages.map(({ text }) => text));
    return "answer";
  };
  const page = openPage(await serveAgent({ answers }));
  const id = await page.newThread();
  await page.send(id, "old question");
  const edited = { messages: [{ type: "human", content: "new question" }] };
  await page.stream(id, { ...sending, input: edited, checkpoint: await page.parentOf(id, 0) });
  expect(seen.at(-1)).toEqual(["new question"]);
  expect(texts((await page.history(id))[0])).toEqual(["new question", "answer"]);
});

test("RPL-07: when a rerun fails the thread shows the turn as it was before the edit", async () => {
  const page = openPage(await serveAgent({ answers: ["first answer", new Error("no luck")] }));
  const id = await page.newThread();
  await page.send(id, "question");
  const edited = { messages: [{ type: "human", content: "edited" }] };
  const frames = await page.stream(id, { ...sending, input: edited, checkpoint: await page.parentOf(id, 0) });
  expect(frames.at(-1)).toMatchObject({
    event: "error",
    data: { message: expect.stringContaining("no luck") },
  });
  expect(texts((await page.history(id))[0])).toEqual(["question", "first answer"]);
});

test("trap 2: while a run is open its thread does not look paused", async () => {
  const asked = deferred<void>();
  const go = deferred<string>();
  const answers = () => {
    asked.resolve();
    return go.promise;
  };
  const served = await serveAgent({ answers });
  const page = openPage(served);
  const id = await page.newThread();
  const sent = page.send(id, "long work");
  await asked.promise;
  const rows = await page.history(id);
  expect(rows[0]?.next).toEqual([]);
  expect(texts(rows[0])).toEqual(["long work"]);
  expect(await served.client.threads.get(id)).toMatchObject({ status: "busy" });
  go.resolve("done");
  await sent;
  expect(texts((await page.history(id))[0])).toEqual(["long work", "done"]);
});

test("trap 3: after a cancel that only closes the socket the next message is answered, in line", async () => {
  const go = deferred<string>();
  let count = 0;
  const answers = () => {
    count += 1;
    return count === 1 ? go.promise : "second answer";
  };
  const served = await serveAgent({ answers });
  const page = openPage(served);
  const id = await page.newThread();
  const cut = new AbortController();
  const body = { ...common, ...sending, input: { messages: [{ type: "human", content: "first" }] } };
  await served.request(`/threads/${id}/runs/stream`, { json: body, signal: cut.signal });
  const known = await page.head(id);
  cut.abort();
  const second = served.request(`/threads/${id}/runs/stream`, {
    json: {
      ...common,
      ...sending,
      checkpoint: known,
      input: { messages: [{ type: "human", content: "second" }] },
    },
  });
  const answer = await second;
  expect(answer.status).toBe(200);
  go.resolve("first answer");
  await readFrames(answer);
  expect(texts((await page.history(id))[0])).toEqual(["first", "first answer", "second", "second answer"]);
});

const approvals = {
  middleware: [titleMiddleware(), humanApprovalMiddleware({ interruptOn: { add: true } })],
  tools: [add],
};

test.each([
  ["approve", { type: "approve" }, "3"],
  ["edit", { type: "edit", edited_action: { name: "add", args: { a: "40", b: "2" } } }, "42"],
  ["reject", { type: "reject", message: "not today" }, "not today"],
])(
  "trap 5: the approval panel gets what it reads, and %s ends the question",
  async (_name, decision, result) => {
    const served = await serveAgent({
      answers: [callsTools(["add", { a: 1, b: 2 }]), "all done"],
      agent: approvals,
    });
    const page = openPage(served);
    const id = await page.newThread();
    const frames = await page.send(id, "add them");
    expect(frames.at(-1)).toMatchObject({
      event: "values",
      data: { __interrupt__: [{ id: expect.any(String) }] },
    });
    const [row] = await page.history(id);
    expect(row?.next).toEqual(["tools"]);
    const value = row?.tasks[0]?.interrupts[0]?.value;
    expect(value?.action_requests[0]).toMatchObject({ name: "add", args: { a: 1, b: 2 } });
    expect(value?.review_configs[0]).toMatchObject({
      action_name: "add",
      allowed_decisions: ["approve", "edit", "reject"],
    });
    const { interrupts, status } = await served.client.threads.get(id);
    expect(status).toBe("interrupted");
    expect(Object.values(interrupts)[0]).toHaveLength(1);

    const command = { resume: { decisions: [decision] } };
    await page.stream(id, { ...answering, input: {}, command, checkpoint: await page.head(id) });
    const [after] = await page.history(id);
    expect(after?.tasks).toEqual([]);
    expect(after?.values.messages?.find(({ type }) => type === "tool")?.content).toContain(result);
    expect(texts(after).at(-1)).toBe("all done");
  },
);

test("trap 5: resolve ends the question without another call of the model", async () => {
  const served = await serveAgent({
    answers: [callsTools(["add", { a: 1, b: 2 }]), "not wanted"],
    agent: approvals,
  });
  const page = openPage(served);
  const id = await page.newThread();
  await page.send(id, "add them");
  await page.stream(id, {
    ...answering,
    input: {},
    command: { goto: "__end__" },
    checkpoint: await page.head(id),
  });
  const [row] = await page.history(id);
  expect(row?.next).toEqual([]);
  expect(row?.values.messages?.map(({ type }) => type)).toEqual(["human", "ai", "tool"]);
  expect(await served.client.threads.get(id)).toMatchObject({ status: "idle", interrupts: {} });
});

test("a tool message that the page made up is recorded as the client's", async () => {
  const served = await serveAgent({
    answers: [callsTools(["add", { a: 1, b: 2 }]), "fine"],
    agent: approvals,
  });
  const page = openPage(served);
  const id = await page.newThread();
  await page.send(id, "add them");
  const made = {
    type: "tool",
    tool_call_id: "call-add-0",
    id: "do-not-render-1",
    name: "add",
    content: "Successfully handled tool call.",
  };
  const messages = [made, { id: "m-next", type: "human", content: [{ type: "text", text: "go on" }] }];
  await page.stream(id, { ...sending, input: { messages }, checkpoint: await page.head(id) });
  expect(texts((await page.history(id))[0]).at(-1)).toBe("fine");
  for await (const event of served.agent.thread(id).events({ types: ["MessagesAdded"] })) {
    const ids = (event.data as unknown as { messages: { id: string }[] }).messages.map((one) => one.id);
    expect(event.metadata.by).toBe(ids.includes("do-not-render-1") ? "client" : "user");
  }
});

test("traps 6 and 7: the list's text follows an edit, and images do not travel in it", async () => {
  const served = await serveAgent({ answers: answersByNumber() });
  const page = openPage(served);
  const id = await page.newThread();
  const data = Buffer.alloc(30_000, 7).toString("base64");
  await page.send(id, "look", [
    { type: "image", mimeType: "image/png", data, metadata: { name: "dot.png" } },
  ]);
  const [row] = await page.history(id);
  expect(row?.values.messages?.[0]?.content).toMatchObject([
    { type: "text" },
    { type: "image", mimeType: "image/png", data },
  ]);
  const [listed] = await page.search({ graph_id: "agent" });
  expect(JSON.stringify(listed).length).toBeLessThan(5_000);
  expect(listed?.values.messages?.[0]?.content).toMatchObject([
    { text: "look" },
    { type: "image", url: expect.stringContaining(`/log/v1/threads/${id}/blobs/`) },
  ]);
  const edited = { messages: [{ type: "human", content: "look again" }] };
  await page.stream(id, { ...sending, input: edited, checkpoint: await page.parentOf(id, 0) });
  expect((await page.search({ graph_id: "agent" }))[0]?.values.messages?.[0]?.content).toBe("look again");
});

test("trap 8: content in blocks makes a title in words", async () => {
  const served = await serveAgent();
  const page = openPage(served);
  const id = await page.newThread();
  await page.send(id, "Plan a trip");
  const { values } = await served.client.threads.getState<{ title: string }>(id);
  expect(values.title).toContain("Plan a trip");
  expect(values.title).not.toContain("{");
});
