import { v7 as uuidv7 } from "uuid";
import { expect, test } from "vitest";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import { defineEvent, EventDefinitionError } from "../../events/define-event.ts";
import { ImagesViewed } from "../../events/images.ts";
import { StreamDeletedError } from "../../events/log/event-log.ts";
import { ToolsPromoted } from "../../events/promoted-tools.ts";
import { SandboxBound } from "../../events/sandbox.ts";
import { TitleSet } from "../../events/title.ts";
import { TodosWritten } from "../../events/todos.ts";
import { FilesUploaded } from "../../events/uploads.ts";
import { promoted as promotedTools } from "../../reducers/promoted-tools.ts";
import { serverCases } from "../cases/server.ts";
import { readFrames } from "./read-frames.ts";
import { type ServedAgents, serveAgent } from "./served-agents.ts";

const human = (content: string) => ({ messages: [{ type: "human", content }] });

interface Page {
  readonly events: readonly { readonly type: string; readonly version: number; readonly data: unknown }[];
  readonly head: number;
}

/** Appends one event of each type, of the runs that are named, as another process would. */
async function appendAll(
  { store }: ServedAgents,
  id: string,
  wanted: readonly { readonly type: string; readonly runId?: string; readonly text?: string }[],
) {
  const events = wanted.map(({ type, runId, text = "" }) => {
    const event = uuidv7();
    const metadata = {
      schema: 1,
      by: "client" as const,
      causationId: event,
      correlationId: event,
      ...(runId !== undefined && { runId }),
    };
    return { id: event, type, data: { text }, recordedAt: new Date().toISOString(), metadata };
  });
  await store.log.append(`thread-${id}`, events, { expectedVersion: "any" });
  return events;
}

async function page({ request }: ServedAgents, id: string, query = ""): Promise<Page> {
  return (await request(`/log/v1/threads/${id}/events${query}`)).json() as Promise<Page>;
}

const versions = ({ events }: Page) => events.map(({ version }) => version);

test("EVT-05: events are counted together and can be asked for by type", async () => {
  const { append, type, expected } = serverCases["EVT-05"];
  const served = await serveAgent();
  await appendAll(served, "t", append);
  expect(versions(await page(served, "t", `?type=${type}`))).toEqual(expected.messages);
  expect(versions(await page(served, "t"))).toEqual(expected.all);
});

test("EVT-06: what is appended again under its id is there once, as it was first", async () => {
  const { contents, expected } = serverCases["EVT-06"];
  const served = await serveAgent();
  const id = uuidv7();
  const event = uuidv7();
  const metadata = { schema: 1, by: "client" as const, causationId: event, correlationId: event };
  const at: number[] = [];
  for (const text of contents) {
    const one = { id: event, type: "Noted", data: { text }, recordedAt: new Date().toISOString(), metadata };
    at.push((await served.store.log.append(`thread-${id}`, [one], { expectedVersion: 0 })).version);
  }
  expect(at).toEqual([1, 1]);
  const { events } = await page(served, id);
  expect(events).toHaveLength(expected.count);
  expect(events).toMatchObject([{ data: { text: expected.stored } }]);
});

test("EVT-07: the steps of one run among those of others, and those after a version", async () => {
  const { runs, after, expected } = serverCases["EVT-07"];
  const served = await serveAgent();
  await appendAll(
    served,
    "t",
    runs.map((runId) => ({ type: "StepTaken", runId })),
  );
  expect(versions(await page(served, "t", "?run=A"))).toEqual(expected.A);
  expect(versions(await page(served, "t", `?run=A&from=${after + 1}`))).toEqual(expected.A_after_2);
});

test("EVT-08: versions are never given again: a run that is deleted is not listed, its events keep their places", async () => {
  const served = await serveAgent({ answers: () => "Fine." });
  const { client } = served;
  const { thread_id: id } = await client.threads.create();
  const run = await client.runs.create(id, "agent", { input: human("one") });
  await client.runs.join(id, run.run_id);
  const before = await page(served, id);
  await client.runs.delete(id, run.run_id);
  expect(await client.runs.list(id)).toEqual([]);
  expect(await page(served, id)).toEqual(before);
  await client.threads.updateState(id, { values: { title: "Next" } });
  expect((await page(served, id)).head).toBe(before.head + 1);
});

test("EVT-09: a deleted thread begins at no version again, so no old place is silently wrong", async () => {
  const served = await serveAgent();
  const { client, request } = served;
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "agent", { input: human("one") });
  await client.threads.delete(id);
  const again = await request("/threads", { json: { thread_id: id } });
  expect(again.status).toBe(409);
  await expect(appendAll(served, id, [{ type: "Noted" }])).rejects.toThrow(StreamDeletedError);
  for (const path of ["/events", "/events/live", "/state"]) {
    expect((await request(`/log/v1/threads/${id}${path}`)).status).toBe(404);
  }
  const old = await request("/log/v1/events/live", { headers: { "last-event-id": "no-such-place" } });
  expect((await readFrames(old))[0]?.event).toBe("gap");
});

test("EVT-11: names of events of any length are kept whole, names that are none are refused", async () => {
  const { accepted, refused } = serverCases["EVT-11"];
  const served = await serveAgent();
  const types = accepted.map((length) => `E${"x".repeat(length)}`);
  for (const type of types) expect(defineEvent({ type, schema: (z) => z.object({}) }).type).toBe(type);
  for (const type of refused) {
    expect(() => defineEvent({ type, schema: (z) => z.object({}) })).toThrow(EventDefinitionError);
  }
  await appendAll(
    served,
    "t",
    types.map((type) => ({ type })),
  );
  expect((await page(served, "t")).events.map(({ type }) => type)).toEqual(types);
});

test("EVT-12: each change of the state has an event of its own, from which the state follows", async () => {
  const { state } = serverCases["EVT-12"];
  const promotion = createMiddleware({
    name: "promotion",
    events: [ToolsPromoted],
    reducers: [promotedTools],
  });
  const served = await serveAgent({ agent: { preset: "harness", middleware: [promotion] } });
  const { client, agent } = served;
  const { thread_id: id } = await client.threads.create();
  const { promoted, uploaded_files: files, viewed_images: images } = state;
  await agent
    .thread(id)
    .record([
      SandboxBound({ sandbox_id: state.sandbox.sandbox_id }),
      TodosWritten({ todos: [...state.todos] as never }),
      ImagesViewed({ images: { ...images } }),
      ToolsPromoted({ catalogHash: promoted.catalog_hash, names: [...promoted.names] }),
      TitleSet({ title: state.title, origin: "user" }),
      FilesUploaded({ files: [...files] }),
      ArtifactsPresented({ paths: [...state.artifacts] }),
    ]);
  const { events } = await page(served, id);
  expect(events.map(({ type }) => type)).toEqual(["ThreadCreated", ...serverCases["EVT-12"].types]);
  expect((await client.threads.getState(id)).values).toMatchObject(state);
});

test("BRN-03: a branch at a user's message waits for the answer that it lacks, and a run without input gives it", async () => {
  // The original refuses such a branch (409), for it could never be answered.
  const served = await serveAgent({ answers: ["a1", "a1 anew"] });
  const { client, request } = served;
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "agent", { input: human("q1") });
  const { events } = await page(served, id, "?type=MessagesAdded");
  const fork = await request(`/log/v1/threads/${id}/fork`, { json: { at: events[0]?.version } });
  const { threadId } = (await fork.json()) as { threadId: string };
  expect((await client.threads.getState(threadId)).values).toMatchObject({ messages: [{ content: "q1" }] });
  expect(await client.runs.wait(threadId, "agent", { input: null })).toMatchObject({
    messages: [{ content: "q1" }, { content: "a1 anew" }],
  });
  expect((await client.threads.getState(id)).values).toMatchObject({ messages: [{}, { content: "a1" }] });
});
