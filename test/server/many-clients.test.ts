import { expect, test } from "vitest";
import { formatCursor, isBehind, parseCursor } from "../../apps/server/compat/frame-cursor.ts";
import { sseBody } from "../../apps/server/sse.ts";
import { bytesOf, framesIn, readFrames } from "./read-frames.ts";
import { serveAgent } from "./served-agents.ts";

const words = Array.from({ length: 12 }, (_, index) => `word${index}`).join(" ");
const clients = 200;

test("200 clients stream at once from 200 threads: no frame is lost, doubled or out of order", async () => {
  const { request } = await serveAgent({ answers: () => words });
  const follow = async (index: number) => {
    const made = await request("/threads", { json: {} });
    const { thread_id: id } = (await made.json()) as { thread_id: string };
    const answer = await request(`/threads/${id}/runs/stream`, {
      json: {
        assistant_id: "agent",
        input: { messages: [{ type: "human", content: `question ${index}` }] },
        stream_mode: ["values", "messages-tuple"],
      },
    });
    const frames = await readFrames(answer);
    const cursors = frames.map(({ id: frame }) => {
      const cursor = parseCursor(frame);
      if (cursor === undefined || cursor === "invalid") throw new Error(`a frame has the id ${frame}`);
      return cursor;
    });
    for (const [at, cursor] of cursors.entries()) {
      const before = cursors[at - 1];
      if (before && !isBehind(cursor, before)) throw new Error(`${formatCursor(cursor)} is out of order`);
    }
    const text = frames
      .filter(({ event }) => event === "messages")
      .map(({ data }) => (data as [{ content: string }])[0].content)
      .join("");
    const last = frames.findLast(({ event }) => event === "values")?.data as {
      messages: { content: string }[];
    };
    return { text, shown: last.messages.map(({ content }) => content), index };
  };
  const all = await Promise.all(Array.from({ length: clients }, (_, index) => follow(index)));
  for (const { text, shown, index } of all) {
    expect(text).toBe(words);
    expect(shown).toEqual([`question ${index}`, words]);
  }
}, 120_000);

test("a client that does not read slows nobody down and gets everything when it reads", async () => {
  const long = Array.from({ length: 2_000 }, (_, index) => `w${index}`).join(" ");
  const { client, request } = await serveAgent({ answers: [long] });
  const { thread_id: id } = await client.threads.create();
  const json = {
    assistant_id: "agent",
    input: { messages: [{ type: "human", content: "go" }] },
    stream_mode: ["messages-tuple"],
  };
  const slow = await request(`/threads/${id}/runs/stream`, { json });
  const reader = bytesOf(slow)[Symbol.asyncIterator]();
  await reader.next();
  const place = slow.headers.get("location") ?? "";
  const quick = await readFrames(await request(place, { headers: { "last-event-id": "-1" } }));
  expect(quick.length).toBeGreaterThan(0);
  let rest = 0;
  for (let part = await reader.next(); !part.done; part = await reader.next()) rest += part.value.byteLength;
  expect(rest).toBeGreaterThan(2_000 * 100);
}, 60_000);

test("frames are read one at a time: a reader that leaves early takes nothing along", async () => {
  const { client, request } = await serveAgent({ answers: [words] });
  const { thread_id: id } = await client.threads.create();
  const json = { assistant_id: "agent", input: { messages: [{ type: "human", content: "go" }] } };
  const answer = await request(`/threads/${id}/runs/stream`, { json });
  for await (const frame of framesIn(answer)) {
    expect(frame.event).toBe("metadata");
    break;
  }
  const runId = answer.headers.get("content-location")?.split("/").at(-1) ?? "";
  expect(await client.runs.join(id, runId)).toMatchObject({ messages: [{}, { content: words }] });
});

test("what waits for a client that does not read is bounded", async () => {
  let asked = 0;
  async function* endless() {
    for (;;) {
      asked += 1;
      yield { event: "values", data: { text: "x".repeat(1_000) }, id: String(asked) };
    }
  }
  const body = sseBody(endless(), { heartbeatMs: 1_000 });
  const turns = async () => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    return asked;
  };
  const before = await turns();
  expect(before).toBeLessThan(40);
  expect(await turns()).toBe(before);
  const reader = body.getReader();
  await reader.read();
  expect(await turns()).toBeGreaterThan(before);
  expect(asked).toBeLessThan(80);
  await reader.cancel();
});
