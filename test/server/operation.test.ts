import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Context, context, type Span, trace } from "@opentelemetry/api";
import { pino } from "pino";
import { expect, test } from "vitest";
import { deferred } from "../../actors/deferred.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { cli } from "../apps/cli/run-cli.ts";
import { readFrames } from "./read-frames.ts";
import { afterTest, serveAgent } from "./served-agents.ts";

const human = (content: string) => ({ messages: [{ type: "human", content }] });

test("health, metrics and logs tell of requests and runs, and nothing of their content", async () => {
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const { client, request } = await serveAgent({ server: { logger } });
  expect(await (await request("/healthz")).json()).toEqual({ status: "ok" });
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "agent", { input: human("a secret question") });
  const text = await (await request("/metrics")).text();
  expect(text).toContain('threadfold_runs_total{graph="agent",status="completed"} 1');
  expect(text).toContain("threadfold_runs_open 0");
  expect(text).toMatch(
    /threadfold_http_requests_total\{method="POST",route="\/threads\/:threadId\/runs\/wait",status="200"\} 1/,
  );
  expect(lines.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ msg: "request", method: "POST", path: "/threads", status: 200 }),
  );
  expect(lines.join("") + text).not.toContain("secret question");
});

test("stop: no new run begins, the open one may finish, its stream ends whole, the port is free", async () => {
  const go = deferred<string>();
  const asked = deferred<void>();
  const answers = () => {
    asked.resolve();
    return go.promise;
  };
  const { client, request, server, agent } = await serveAgent({ answers, server: { graceMs: 20_000 } });
  const { thread_id: id } = await client.threads.create();
  const answer = await request(`/threads/${id}/runs/stream`, {
    json: { assistant_id: "agent", input: human("hi") },
  });
  await asked.promise;
  const stopped = server.stop();
  const refused = await request("/runs/wait", { json: { assistant_id: "agent", input: human("too late") } });
  expect(refused.status).toBe(503);
  expect((await request("/healthz")).status).toBe(503);
  go.resolve("done");
  const frames = await readFrames(answer);
  expect(frames.at(-1)).toMatchObject({ event: "values", data: { messages: [{}, { content: "done" }] } });
  await stopped;
  await expect(request("/ok")).rejects.toThrow();
  expect(await agent.thread(id).info()).toMatchObject({ status: "idle" });
});

test("stop: a run that does not finish in time is cancelled, which is recorded", async () => {
  const asked = deferred<void>();
  const answers = () => {
    asked.resolve();
    return new Promise<string>(() => undefined);
  };
  const { client, server, agent } = await serveAgent({ answers, server: { graceMs: 0 } });
  const { thread_id: id } = await client.threads.create();
  await client.runs.create(id, "agent", { input: human("hi") });
  await asked.promise;
  await server.stop();
  expect(await agent.thread(id).info()).toMatchObject({ status: "cancelled" });
});

test("spans: the agent, its model calls and its tools, with OpenTelemetry's names", async () => {
  const spans: { name: string; attributes: Record<string, unknown>; ended: boolean }[] = [];
  const startSpan = (name: string, options: { attributes?: object } = {}, _parent?: Context): Span => {
    const span = { name, attributes: { ...options.attributes } as Record<string, unknown>, ended: false };
    spans.push(span);
    const self = {
      isRecording: () => true,
      spanContext: () => ({ traceId: "1".repeat(32), spanId: "1".repeat(16), traceFlags: 1 }),
      setAttribute: (key: string, value: unknown) => Object.assign(span.attributes, { [key]: value }) && self,
      setAttributes: (more: object) => Object.assign(span.attributes, more) && self,
      updateName: (next: string) => Object.assign(span, { name: next }) && self,
      setStatus: () => self,
      end: () => void Object.assign(span, { ended: true }),
    };
    return self as unknown as Span;
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as never });
  afterTest(async () => trace.disable());
  const { client } = await serveAgent({
    answers: [callsTools(["add", { a: 1, b: 2 }]), "3"],
    agent: { tools: [add] },
  });
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "agent", { input: human("1 + 2?") });
  await expect.poll(() => spans.find(({ name }) => name === "invoke_agent agent")?.ended).toBe(true);
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["POST /threads", "chat ScriptedModel", "execute_tool add"]),
  );
  expect(spans.find(({ name }) => name === "execute_tool add")).toMatchObject({
    attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add" },
    ended: true,
  });
  expect(JSON.stringify(spans)).not.toContain("1 + 2?");
  expect(context.active()).toBeDefined();
});

test("threadfold serve: says where it is, answers, stops at SIGTERM; a wrong setting is named with its path", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "threadfold-serve-"));
  afterTest(() => rm(cwd, { recursive: true, force: true }));
  let asked: Promise<unknown> | undefined;
  const result = await cli(["serve", "--port", "0", "--ndjson"], {
    cwd,
    onStdout(text, child) {
      if (asked || !text.includes("\n")) return;
      const { url } = JSON.parse(text.split("\n")[0] ?? "") as { url: string };
      const body = JSON.stringify({ assistant_id: "agent", input: human("list the files") });
      const headers = { "content-type": "application/json" };
      asked = fetch(`${url}/runs/wait`, { method: "POST", headers, body })
        .then((answer) => answer.json())
        .finally(() => child.kill("SIGTERM"));
    },
  });
  expect(await asked).toMatchObject({
    messages: expect.arrayContaining([expect.objectContaining({ type: "ai" })]),
  });
  expect(result.code).toBe(0);
  await writeFile(join(cwd, "threadfold.config.json"), JSON.stringify({ server: { heartbeatMs: "often" } }));
  const wrong = await cli(["serve", "--port", "0"], { cwd });
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain("heartbeatMs");
}, 120_000);
