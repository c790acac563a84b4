import { expect, test } from "vitest";
import { deferred } from "../../actors/deferred.ts";
import { humanApprovalMiddleware } from "../../actors/middleware/human-approval.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { readFrames } from "./read-frames.ts";
import { serveAgent } from "./served-agents.ts";

const human = (content: string) => ({ messages: [{ type: "human", content }] });

/** A server whose model's first answer waits to be given. */
async function serveSlow(server = {}) {
  const first = deferred<string>();
  const asked = deferred<void>();
  let count = 0;
  const answers = () => {
    count += 1;
    if (count > 1) return `answer ${count}`;
    asked.resolve();
    return first.promise;
  };
  const served = await serveAgent({ answers, server });
  const { thread_id: id } = await served.client.threads.create();
  const run = await served.client.runs.create(id, "agent", { input: human("first") });
  await asked.promise;
  const texts = async () => {
    const { values } = await served.client.threads.getState<{ messages?: { content: string }[] }>(id);
    return (values.messages ?? []).map(({ content }) => content);
  };
  return { ...served, id, run, first, texts };
}

test("reject: 422 with the reference's words, nothing is recorded", async () => {
  const { request, client, id, first, run } = await serveSlow();
  const json = { assistant_id: "agent", input: human("second"), multitask_strategy: "reject" };
  for (const kind of ["", "/stream", "/wait"]) {
    const answer = await request(`/threads/${id}/runs${kind}`, { json });
    expect(answer.status).toBe(422);
    expect(await answer.text()).toBe(
      "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.",
    );
  }
  first.resolve("done");
  await client.runs.join(id, run.run_id);
  expect(await client.runs.list(id)).toHaveLength(1);
});

test("the strategy of requests that name none is a setting", async () => {
  const { request, id, first } = await serveSlow({ multitask: "reject" });
  const answer = await request(`/threads/${id}/runs`, {
    json: { assistant_id: "agent", input: human("second") },
  });
  expect(answer.status).toBe(422);
  first.resolve("done");
});

test("enqueue: runs wait in line, in order, can be seen and taken out", async () => {
  const { client, id, first, texts } = await serveSlow();
  const second = await client.runs.create(id, "agent", {
    input: human("second"),
    multitaskStrategy: "enqueue",
  });
  const third = await client.runs.create(id, "agent", {
    input: human("third"),
    multitaskStrategy: "enqueue",
  });
  const fourth = await client.runs.create(id, "agent", {
    input: human("fourth"),
    multitaskStrategy: "enqueue",
  });
  expect(second.status).toBe("pending");
  expect(await client.runs.get(id, third.run_id)).toMatchObject({ status: "pending" });
  expect(await client.runs.list(id)).toHaveLength(4);
  await client.runs.cancel(id, third.run_id);
  first.resolve("answer 1");
  await client.runs.join(id, fourth.run_id);
  expect(await texts()).toEqual(["first", "answer 1", "second", "answer 2", "fourth", "answer 3"]);
});

test("interrupt: the open run ends and keeps what it did, the new one runs", async () => {
  const { client, id, run, texts } = await serveSlow();
  await client.runs.wait(id, "agent", { input: human("second"), multitaskStrategy: "interrupt" });
  expect(await client.runs.get(id, run.run_id)).toMatchObject({ status: "interrupted" });
  expect(await texts()).toEqual(["first", "second", "answer 2"]);
});

test("rollback: the open run is taken back by an event, nothing is deleted", async () => {
  const { client, id, run, texts, agent } = await serveSlow();
  await client.runs.wait(id, "agent", { input: human("second"), multitaskStrategy: "rollback" });
  expect(await texts()).toEqual(["second", "answer 2"]);
  expect(await client.runs.get(id, run.run_id)).toMatchObject({ status: "error" });
  const types: string[] = [];
  for await (const { type } of agent.thread(id).events()) types.push(type);
  expect(types).toEqual(expect.arrayContaining(["RunCancelled", "ThreadRewound"]));
  expect(types.filter((type) => type === "RunStarted")).toHaveLength(2);
});

test("RPL-03: a run that is cancelled with rollback leaves exactly the state before it", async () => {
  const first = deferred<string>();
  const asked = deferred<void>();
  let count = 0;
  const answers = () => {
    count += 1;
    if (count === 1) return "answer 1";
    asked.resolve();
    return first.promise;
  };
  const { client } = await serveAgent({ answers });
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "agent", { input: human("one") });
  const before = await client.threads.getState(id);
  const run = await client.runs.create(id, "agent", { input: human("two") });
  await asked.promise;
  await client.runs.cancel(id, run.run_id, true, "rollback");
  const after = await client.threads.getState(id);
  expect(after.values).toEqual(before.values);
  const { status, error } = (await client.runs.get(id, run.run_id)) as unknown as {
    status: string;
    error: string;
  };
  expect(status).toBe("error");
  expect(error).toContain("rolled back by the user");
});

test("cancel: 202 at once, 204 when waited for, 409 when it is over, 404 when it is not there", async () => {
  const { client, request, id, run } = await serveSlow();
  const cancel = (runId: string, query = "") =>
    request(`/threads/${id}/runs/${runId}/cancel${query}`, { method: "POST" });
  expect((await cancel(run.run_id)).status).toBe(202);
  await client.runs.join(id, run.run_id);
  expect((await cancel(run.run_id)).status).toBe(409);
  expect((await cancel(crypto.randomUUID())).status).toBe(404);
  expect((await cancel(run.run_id, "?action=explode")).status).toBe(422);
  expect(await client.threads.get(id)).toMatchObject({ status: "idle" });
});

test("a busy thread's state cannot be changed from outside, its metadata can", async () => {
  const { client, request, id, first } = await serveSlow();
  const answer = await request(`/threads/${id}/state`, { json: { values: { title: "no" } } });
  expect(answer.status).toBe(409);
  expect(await answer.text()).toBe("Thread is busy");
  await client.threads.update(id, { metadata: { pinned: true } });
  expect(await client.threads.get(id)).toMatchObject({ metadata: { pinned: true }, status: "busy" });
  first.resolve("done");
});

test("an answer by the interrupt's id, an answer to nothing, and a command that is not known", async () => {
  const { client, request } = await serveAgent({
    answers: [callsTools(["add", { a: 1, b: 2 }]), "done"],
    agent: { tools: [add], middleware: [humanApprovalMiddleware({ interruptOn: { add: true } })] },
  });
  const { thread_id: id } = await client.threads.create();
  await client.runs.wait(id, "agent", { input: human("add") });
  const { tasks } = await client.threads.getState(id);
  const interruptId = tasks[0]?.interrupts[0]?.id ?? "";
  const run = (command: unknown) =>
    request(`/threads/${id}/runs/stream`, { json: { assistant_id: "agent", command } });
  expect((await run({ goto: "tools" })).status).toBe(422);
  const frames = await readFrames(
    await run({ resume: { [interruptId]: { decisions: [{ type: "approve" }] } } }),
  );
  expect(frames.at(-1)?.event).toBe("values");
  expect(await client.threads.get(id)).toMatchObject({ status: "idle" });
  const again = await run({ resume: { decisions: [{ type: "approve" }] } });
  expect(again.status).toBe(409);
  const update = await run({ update: { messages: [{ type: "human", content: "and now?" }] } });
  expect((await readFrames(update)).at(-1)?.event).toBe("values");
});
