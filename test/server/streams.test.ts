import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { z } from "zod";
import { deferred } from "../../actors/deferred.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { bytesOf, framesIn, type ReadFrame, readFrames } from "./read-frames.ts";
import { afterTest, collect, serveAgent } from "./served-agents.ts";
import { startServedProcess } from "./start-served-process.ts";

const human = (content: string) => ({ messages: [{ type: "human", content }] });

test("every mode gives its frames for a turn with a tool", async () => {
  const { client } = await serveAgent({
    answers: [callsTools(["add", { a: 1, b: 2 }]), "It is 3."],
    agent: { tools: [add] },
  });
  const { thread_id: id } = await client.threads.create();
  const streamMode = ["values", "updates", "tasks", "checkpoints", "debug", "tools", "messages"] as never;
  const parts = await collect(client.runs.stream(id, "agent", { input: human("1 + 2?"), streamMode }));
  const of = (event: string) => parts.filter((part) => part.event === event).map(({ data }) => data as never);
  expect(of("values").map(({ messages }: { messages: unknown[] }) => messages.length)).toEqual([1, 2, 3, 4]);
  expect(of("updates").map((data) => Object.keys(data)[0])).toEqual(
    expect.arrayContaining(["model_request", "tools"]),
  );
  const tasks = of("tasks") as { name: string; result?: unknown }[];
  expect(tasks.map(({ name, result }) => `${name} ${result === undefined ? "start" : "end"}`)).toEqual([
    "model_request start",
    "model_request end",
    "tools start",
    "tools end",
    "model_request start",
    "model_request end",
  ]);
  expect(of("checkpoints")).toHaveLength(4);
  expect(new Set(of("debug").map(({ type }: { type: string }) => type))).toEqual(
    new Set(["task", "task_result", "checkpoint"]),
  );
  expect(of("tools")).toMatchObject([
    { event: "on_tool_start", name: "add", input: { a: 1, b: 2 } },
    { event: "on_tool_end", name: "add", output: "3" },
  ]);
  expect(of("messages/partial").length).toBeGreaterThan(1);
  expect(of("messages/complete").length).toBeGreaterThan(1);
});

test("a mode that is not there is refused before anything is recorded", async () => {
  const { client, request } = await serveAgent();
  const { thread_id: id } = await client.threads.create();
  const body = { assistant_id: "agent", input: human("hi"), stream_mode: ["everything"] };
  const answer = await request(`/threads/${id}/runs/stream`, { json: body });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("stream_mode");
  expect(await client.runs.list(id)).toEqual([]);
});

test("what a tool writes is a custom frame", async () => {
  const report = defineTool({
    name: "report",
    description: "Reports",
    schema: z.object({}),
    run: (_, runtime) => {
      runtime.writer({ progress: 50 });
      return "done";
    },
  });
  const { client } = await serveAgent({
    answers: [callsTools(["report", {}]), "ok"],
    agent: { tools: [report] },
  });
  const { thread_id: id } = await client.threads.create();
  const parts = await collect(client.runs.stream(id, "agent", { input: human("go"), streamMode: "custom" }));
  expect(parts.filter(({ event }) => event === "custom").map(({ data }) => data)).toEqual([{ progress: 50 }]);
});

test("a client that comes back while the run is open gets every frame once, tokens included", async () => {
  const go = deferred<string>();
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    schema: z.object({}),
    run: () => go.promise,
  });
  const { content: _, ...calling } = callsTools(["wait", {}]);
  const talking = new AIMessage({ content: "one two three four", tool_calls: calling.tool_calls });
  const { client, request } = await serveAgent({ answers: [talking, "five six"], agent: { tools: [wait] } });
  const { thread_id: id } = await client.threads.create();
  const json = { assistant_id: "agent", input: human("hi"), stream_mode: ["values", "messages-tuple"] };
  const first = await request(`/threads/${id}/runs/stream`, { json });
  const place = first.headers.get("location") ?? "";
  const got: ReadFrame[] = [];
  for await (const frame of framesIn(first)) {
    got.push(frame);
    if (got.filter(({ event }) => event === "messages").length === 2) break;
  }
  const back = await request(place, { headers: { "last-event-id": got.at(-1)?.id ?? "" } });
  const whole = await request(place, { headers: { "last-event-id": "-1" } });
  go.resolve("waited");
  expect([...got, ...(await readFrames(back))]).toEqual(await readFrames(whole));
});

test("a client that comes back when the run is over gets the rest of the text that it had begun to read", async () => {
  const { client, request } = await serveAgent({ answers: ["one two three four"] });
  const { thread_id: id } = await client.threads.create();
  const json = { assistant_id: "agent", input: human("hi"), stream_mode: ["messages-tuple"] };
  const first = await request(`/threads/${id}/runs/stream`, { json });
  const got = await readFrames(first);
  const second = got.filter(({ event }) => event === "messages")[1];
  const place = first.headers.get("location") ?? "";
  const rest = await readFrames(await request(place, { headers: { "last-event-id": second?.id ?? "" } }));
  const text = (frames: readonly ReadFrame[]) =>
    frames.map(({ data }) => (data as [{ content: string }])[0].content).join("");
  expect(text(got.slice(1, 3)) + text(rest)).toBe("one two three four");
});

test("RPL-08: a place that is not in the log is answered with one gap frame", async () => {
  const { client, request } = await serveAgent();
  const { thread_id: id } = await client.threads.create();
  const run = await client.runs.create(id, "agent", { input: human("hi") });
  await client.runs.join(id, run.run_id);
  for (const lastEventId of ["900-0", "not-an-id"]) {
    const answer = await request(`/threads/${id}/runs/${run.run_id}/stream`, {
      headers: { "last-event-id": lastEventId },
    });
    expect(await readFrames(answer)).toMatchObject([
      {
        event: "gap",
        data: {
          run_id: run.run_id,
          requested: lastEventId,
          earliest: "0-0",
          latest: expect.any(String),
          reload: `/threads/${id}/state`,
        },
      },
    ]);
  }
});

test("a silent stream carries heartbeats", async () => {
  const go = deferred<string>();
  const { client, request } = await serveAgent({ answers: () => go.promise, server: { heartbeatMs: 20 } });
  const { thread_id: id } = await client.threads.create();
  const answer = await request(`/threads/${id}/runs/stream`, {
    json: { assistant_id: "agent", input: human("hi") },
  });
  let text = "";
  for await (const bytes of bytesOf(answer)) {
    text += new TextDecoder().decode(bytes);
    if (text.split(": heartbeat").length > 3) break;
  }
  expect(text).toContain(": heartbeat\n\n: heartbeat");
  go.resolve("done");
});

test("on_disconnect cancel ends the run, continue lets it finish", async () => {
  const asked: (() => void)[] = [];
  const answers = [deferred<string>(), deferred<string>()];
  let count = 0;
  const next = () => {
    const answer = answers[count];
    count += 1;
    for (const tell of asked.splice(0)) tell();
    return answer?.promise ?? "";
  };
  const { client, request } = await serveAgent({ answers: next });
  const start = async (onDisconnect: string) => {
    const { thread_id: id } = await client.threads.create();
    const cut = new AbortController();
    const called = new Promise<void>((resolve) => asked.push(resolve));
    const json = { assistant_id: "agent", input: human("hi"), on_disconnect: onDisconnect };
    const answer = await request(`/threads/${id}/runs/stream`, { json, signal: cut.signal });
    await called;
    cut.abort();
    const runId = answer.headers.get("content-location")?.split("/").at(-1) ?? "";
    return { id, runId };
  };
  const cancelled = await start("cancel");
  await client.runs.join(cancelled.id, cancelled.runId);
  expect(await client.runs.get(cancelled.id, cancelled.runId)).toMatchObject({ status: "interrupted" });
  const kept = await start("continue");
  answers[1]?.resolve("here it is");
  await client.runs.join(kept.id, kept.runId);
  expect(await client.runs.get(kept.id, kept.runId)).toMatchObject({ status: "success" });
});

test("a server that is killed in the middle: who reconnects gets every frame of the log once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "threadfold-kill-"));
  afterTest(() => rm(folder, { recursive: true, force: true }));
  const start = (port: number) => startServedProcess(join(folder, "t.db"), { port });
  const first = await start(0);
  const request = (path: string, init?: RequestInit) =>
    fetch(`${first.url}${path}`, {
      ...init,
      headers: { "content-type": "application/json", ...init?.headers },
    });
  const { thread_id: id } = (await (await request("/threads", { method: "POST", body: "{}" })).json()) as {
    thread_id: string;
  };
  const body = JSON.stringify({
    assistant_id: "agent",
    input: human("count"),
    stream_mode: ["values", "updates"],
  });
  const answer = await request(`/threads/${id}/runs/stream`, { method: "POST", body });
  const place = answer.headers.get("location") ?? "";
  const got: ReadFrame[] = [];
  try {
    for await (const frame of framesIn(answer)) {
      got.push(frame);
      if (got.filter(({ event }) => event === "updates").length === 2) await first.kill();
    }
  } catch {
    // The socket broke: that is the point.
  }
  await start(first.port);
  const rest = await readFrames(await request(place, { headers: { "last-event-id": got.at(-1)?.id ?? "" } }));
  const whole = await readFrames(await request(place, { headers: { "last-event-id": "-1" } }));
  expect([...got, ...rest]).toEqual(whole);
  expect(rest.length).toBeGreaterThan(0);
}, 60_000);
