import { expect, test } from "vitest";
import { redactThread } from "../../projections/redaction.ts";
import { framesIn } from "./read-frames.ts";
import { collect, serveAgent } from "./served-agents.ts";

const card = "4111111111111111";
const human = (content: string) => ({ messages: [{ type: "human", content }] });

test("what was redacted is in no answer of the server, before and after the next run", async () => {
  const { client, request, store } = await serveAgent({ answers: ["Noted.", "Fine."] });
  const { thread_id: id } = await client.threads.create();
  const { run_id: runId } = await client.runs.create(id, "agent", { input: human(`My card is ${card}`) });
  await client.runs.join(id, runId);
  const fork = await client.threads.copy(id);
  expect(JSON.stringify(await client.threads.getState(id))).toContain(card);
  await redactThread(store, id, { rule: "/\\d{16}/", reason: "card number" });

  const text = async (path: string, json?: unknown) => {
    const answer = await request(path, json === undefined ? {} : { json });
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.text();
  };
  const live = async (path: string) => {
    const frames: unknown[] = [];
    for await (const frame of framesIn(await request(path))) {
      if (frame.event === "caught-up") break;
      frames.push(frame);
    }
    return JSON.stringify(frames);
  };
  const every = "stream_mode=values&stream_mode=updates&stream_mode=messages&stream_mode=checkpoints";
  const readAll = async () => [
    ...(await Promise.all([
      text(`/threads/${id}`),
      text(`/threads/${id}/state`),
      text(`/threads/${id}/history`, { limit: 50 }),
      text("/threads/search", {}),
      text("/threads/search", { values: {} }),
      text(`/threads/${id}/runs`),
      text(`/threads/${id}/runs/${runId}/join`),
      text(`/threads/${id}/runs/${runId}/stream?${every}`),
      text(`/threads/${fork.thread_id}/state`),
      text(`/threads/${fork.thread_id}/history`, {}),
      text("/log/v1/threads"),
      text(`/log/v1/threads/${id}`),
      text(`/log/v1/threads/${id}/events`),
      text("/log/v1/events"),
      text(`/log/v1/threads/${id}/state`),
      text(`/log/v1/threads/${id}/diff?a=1&b=head`),
      text(`/log/v1/threads/${id}/blame?path=messages`),
      text(`/log/v1/threads/${id}/causation`),
      text(`/log/v1/threads/${id}/changes?with=1`),
      text(`/log/v1/threads/${id}/patch?with=1&whole=true`),
      text(`/log/v1/threads/${id}/compare?with=${fork.thread_id}@head`),
      text(`/log/v1/threads/${fork.thread_id}/changes?with=0`),
      text(`/log/v1/threads/${id}/seen`),
      text(`/log/v1/threads/${id}/seen/outline?pointer=/messages`),
      text(`/log/v1/threads/${fork.thread_id}/seen`),
      text(`/log/v1/threads/${id}/export`),
      live(`/log/v1/threads/${id}/events/live?after=0`),
      live("/log/v1/events/live?after=0"),
    ])),
  ];
  for (const [index, answer] of (await readAll()).entries()) {
    expect([index, answer.includes(card)]).toEqual([index, false]);
  }
  expect((await client.threads.getState<{ messages: unknown[] }>(id)).values.messages).toMatchObject([
    { content: "My card is [redacted]" },
    { content: "Noted." },
  ]);
  const frames = await collect(client.runs.stream(id, "agent", { input: human("And now?") }));
  expect(JSON.stringify(frames)).not.toContain(card);
  expect(JSON.stringify(frames.at(-1))).toContain("My card is [redacted]");
  for (const [index, answer] of (await readAll()).entries()) {
    expect([index, answer.includes(card)]).toEqual([index, false]);
  }
  expect(await text(`/log/v1/threads/${id}/export?whole=true`)).toContain(card);
  const verified = await text(`/log/v1/threads/${id}/verify`, {});
  expect(JSON.parse(verified)).toMatchObject({ problems: [] });
});
