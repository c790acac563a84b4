import { describe, expect, test } from "vitest";
import { defaultAssistantId } from "../../apps/server/compat/assistant-records.ts";
import { collect, serveAgent } from "./served-agents.ts";

const hello = { messages: [{ role: "user", content: "Hello, who are you?" }] };

describe("threads", () => {
  test("create, get, update, search, count, copy, delete", async () => {
    const { client } = await serveAgent();
    const made = await client.threads.create({ metadata: { team: "red" } });
    expect(made).toMatchObject({ status: "idle", metadata: { team: "red" } });
    const same = await client.threads.create({ threadId: made.thread_id, ifExists: "do_nothing" });
    expect(same.thread_id).toBe(made.thread_id);
    await expect(client.threads.create({ threadId: made.thread_id })).rejects.toThrow("409");

    await client.runs.wait(made.thread_id, "agent", { input: hello });
    expect(await client.threads.get(made.thread_id)).toMatchObject({
      thread_id: made.thread_id,
      status: "idle",
      metadata: { team: "red", graph_id: "agent", assistant_id: defaultAssistantId("agent") },
    });
    await client.threads.update(made.thread_id, { metadata: { team: "blue" } });
    await client.threads.create({ metadata: { team: "red" } });
    const blue = await client.threads.search({ metadata: { team: "blue" } });
    expect(blue.map(({ thread_id }) => thread_id)).toEqual([made.thread_id]);
    expect(blue[0]?.values).toMatchObject({ title: expect.any(String) });
    expect(await client.threads.count({ metadata: { team: "red" } })).toBe(1);
    expect(await client.threads.search({ ids: [made.thread_id], select: ["thread_id"] })).toEqual([
      { thread_id: made.thread_id },
    ]);

    const copy = await client.threads.copy(made.thread_id);
    expect(copy.thread_id).not.toBe(made.thread_id);
    const { values } = await client.threads.getState<{ messages: unknown[] }>(copy.thread_id);
    expect(values.messages).toHaveLength(2);
    await client.threads.delete(copy.thread_id);
    await expect(client.threads.get(copy.thread_id)).rejects.toThrow("404");
  });

  test("prune deletes the threads that are there, and does not touch histories", async () => {
    const { client } = await serveAgent();
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await client.threads.create()).thread_id);
    const [first = "", second = "", kept = ""] = ids;
    await client.runs.wait(first, "agent", { input: hello });
    await expect(client.threads.prune([first], { strategy: "keep_latest" })).rejects.toThrow("422");
    expect(await client.threads.prune([first, second, "nobody"])).toEqual({ pruned_count: 2 });
    expect((await client.threads.search()).map(({ thread_id }) => thread_id)).toEqual([kept]);
  });

  test("getState, getHistory, updateState, patchState", async () => {
    const { client } = await serveAgent();
    const { thread_id: id } = await client.threads.create();
    await client.runs.wait(id, "agent", { input: hello });
    const head = await client.threads.getState<{ messages: { type: string }[]; title: string }>(id);
    expect(head.values.messages.map(({ type }) => type)).toEqual(["human", "ai"]);
    expect(head.next).toEqual([]);
    const history = await client.threads.getHistory<{ messages: unknown[] }>(id);
    expect(history.map(({ values }) => values.messages?.length ?? 0)).toEqual([2, 1, 0]);
    expect(history.map(({ metadata }) => metadata?.source)).toEqual(["loop", "input", "input"]);
    expect(history.at(-1)?.parent_checkpoint).toBeNull();
    const ids = history.map(({ checkpoint }) => checkpoint.checkpoint_id ?? "");
    expect(ids.toSorted().reverse()).toEqual(ids);
    expect(history[0]?.parent_checkpoint?.checkpoint_id).toBe(ids[1]);

    const input = await client.threads.getState<{ messages: unknown[] }>(id, ids[1]);
    expect(input.values.messages).toHaveLength(1);
    const byCheckpoint = await client.threads.getState(id, { ...history[1]?.checkpoint } as never);
    expect(byCheckpoint.checkpoint.checkpoint_id).toBe(ids[1]);

    const updated = await client.threads.updateState(id, { values: { title: "Mine" } });
    expect(updated).toMatchObject({ checkpoint: { thread_id: id, checkpoint_id: expect.any(String) } });
    const now = await client.threads.getState<{ title: string }>(id);
    expect(now.values.title).toBe("Mine");
    expect(now.checkpoint.checkpoint_id).toBe((updated as unknown as typeof now).checkpoint.checkpoint_id);
    await client.threads.patchState(id, { team: "red" });
    expect((await client.threads.get(id)).metadata).toMatchObject({ team: "red" });
    const before = await client.threads.getHistory(id, {
      before: { configurable: { checkpoint_id: ids[0] } } as never,
    });
    expect(before.map(({ checkpoint }) => checkpoint.checkpoint_id)).toEqual(ids.slice(1));
    expect(await client.threads.getHistory(id, { limit: 1 })).toHaveLength(1);
  });
});

describe("runs", () => {
  test("stream in the modes of clients, with ids that can be resumed", async () => {
    const { client } = await serveAgent();
    const { thread_id: id } = await client.threads.create();
    let created: unknown;
    const parts = await collect(
      client.runs.stream(id, "agent", {
        input: hello,
        streamMode: ["values", "messages-tuple", "updates", "custom"],
        onRunCreated: (run) => {
          created = run;
        },
      }),
    );
    const { run_id: runId } = { run_id: "", ...(parts[0]?.data as object) };
    expect(parts[0]).toMatchObject({ event: "metadata", data: { attempt: 1 } });
    expect(created).toEqual({ thread_id: id, run_id: runId });
    const chunks = parts
      .filter(({ event }) => event === "messages")
      .map(({ data }) => data as unknown as [{ id: string; content: string }]);
    expect(chunks.map(([chunk]) => chunk.content).join("")).toBe("Hello there.");
    expect(new Set(chunks.map(([chunk]) => chunk.id)).size).toBe(1);
    expect(
      parts.filter(({ event }) => event === "updates").map(({ data }) => Object.keys(data as object)[0]),
    ).toContain("model_request");
    const last = parts.findLast(({ event }) => event === "values")?.data as {
      messages: { content: string }[];
    };
    expect(last.messages.map(({ content }) => content)).toEqual(["Hello, who are you?", "Hello there."]);
    const ids = parts.map((part) => (part as { id?: string }).id);
    expect(new Set(ids).size).toBe(ids.length);

    const again = await collect(
      client.runs.joinStream(id, runId, { lastEventId: "-1", streamMode: ["values"] }),
    );
    expect(again.map(({ event }) => event)).toEqual(["metadata", ...again.slice(1).map(() => "values")]);
    const ofValues = parts.filter(({ event }) => event === "metadata" || event === "values");
    expect(again).toEqual(ofValues);
    const rest = await collect(
      client.runs.joinStream(id, runId, { lastEventId: ids.at(-2) ?? "", streamMode: ["values", "updates"] }),
    );
    expect(rest).toHaveLength(1);
  });

  test("create, get, list, join, wait, delete", async () => {
    const { client } = await serveAgent();
    const { thread_id: id } = await client.threads.create();
    const run = await client.runs.create(id, "agent", { input: hello, metadata: { from: "test" } });
    expect(run).toMatchObject({ thread_id: id, metadata: { from: "test" }, multitask_strategy: "enqueue" });
    const joined = (await client.runs.join(id, run.run_id)) as unknown as { messages: unknown[] };
    expect(joined.messages).toHaveLength(2);
    expect(await client.runs.get(id, run.run_id)).toMatchObject({ run_id: run.run_id, status: "success" });
    const waited = (await client.runs.wait(id, "agent", { input: hello })) as { messages: unknown[] };
    expect(waited.messages).toHaveLength(4);
    expect(await client.runs.list(id)).toHaveLength(2);
    expect(await client.runs.list(id, { limit: 1, offset: 1 })).toMatchObject([{ run_id: run.run_id }]);
    await expect(client.runs.cancel(id, run.run_id)).rejects.toThrow("409");
    await client.runs.delete(id, run.run_id);
    await expect(client.runs.get(id, run.run_id)).rejects.toThrow("404");
    expect(await client.runs.list(id)).toHaveLength(1);
  });

  test("without a thread: stream, wait, create, createBatch, cancelMany", async () => {
    const { client } = await serveAgent();
    const parts = await collect(client.runs.stream(null, "agent", { input: hello }));
    expect(parts.at(-1)).toMatchObject({ event: "values" });
    expect(await client.runs.wait(null, "agent", { input: hello })).toMatchObject({ messages: [{}, {}] });
    const kept = await client.runs.create(null, "agent", { input: hello, onCompletion: "keep" as never });
    expect(await client.runs.join(kept.thread_id, kept.run_id)).toMatchObject({ messages: [{}, {}] });
    const batch = await client.runs.createBatch([{ assistantId: "agent", input: hello } as never]);
    expect(batch).toHaveLength(1);
    await client.runs.cancelMany({ threadId: kept.thread_id, runIds: [kept.run_id] });
    expect(await client.runs.get(kept.thread_id, kept.run_id)).toMatchObject({ status: "success" });
  });

  test("a failure is the last frame of a stream and what wait throws", async () => {
    const { client } = await serveAgent({ answers: [new Error("scripted model failure")] });
    const { thread_id: id } = await client.threads.create();
    const parts = await collect(client.runs.stream(id, "agent", { input: hello }));
    expect(parts.at(-1)).toMatchObject({
      event: "error",
      data: { message: expect.stringContaining("scripted model failure") },
    });
    expect(await client.threads.get(id)).toMatchObject({ status: "error" });
    await expect(client.runs.wait(id, "agent", { input: hello })).rejects.toThrow("scripted model failure");
  });
});

describe("assistants", () => {
  test("search, get, getGraph, getSchemas, getSubgraphs", async () => {
    const { client } = await serveAgent();
    const id = defaultAssistantId("agent");
    expect(await client.assistants.search({ graphId: "agent" })).toMatchObject([
      { assistant_id: id, name: "agent" },
    ]);
    expect(await client.assistants.count({ graphId: "agent" })).toBe(1);
    expect(await client.assistants.get("agent")).toMatchObject({ assistant_id: id, graph_id: "agent" });
    expect((await client.assistants.getGraph(id)).nodes.map(({ id: node }) => node)).toContain("model");
    expect(await client.assistants.getSchemas(id)).toMatchObject({
      graph_id: "agent",
      state_schema: { properties: { messages: { type: "array" } } },
    });
    expect(await client.assistants.getSubgraphs(id)).toEqual({});
  });

  test("create, update, getVersions, setLatest, delete", async () => {
    const { client } = await serveAgent();
    const made = await client.assistants.create({ graphId: "agent", name: "Helper", metadata: { a: 1 } });
    const second = await client.assistants.update(made.assistant_id, { name: "Better helper" });
    expect(second).toMatchObject({ version: 2, name: "Better helper", metadata: { a: 1 } });
    const versions = await client.assistants.getVersions(made.assistant_id);
    expect(versions.map(({ version }) => version)).toEqual([2, 1]);
    await client.assistants.setLatest(made.assistant_id, 1);
    expect(await client.assistants.get(made.assistant_id)).toMatchObject({ version: 1, name: "Helper" });
    const { thread_id: id } = await client.threads.create();
    const run = await client.runs.create(id, made.assistant_id, { input: hello });
    expect(run.assistant_id).toBe(made.assistant_id);
    await client.runs.join(id, run.run_id);
    await client.assistants.delete(made.assistant_id);
    await expect(client.assistants.get(made.assistant_id)).rejects.toThrow("404");
    await expect(client.assistants.delete("agent")).rejects.toThrow("409");
  });
});

test("what is not offered is answered with 501 and a reason", async () => {
  const { client, request } = await serveAgent();
  await expect(client.store.getItem(["a"], "b")).rejects.toThrow("501");
  await expect(client.crons.search()).rejects.toThrow("501");
  for (const path of ["/mcp", "/a2a/x"]) {
    const answer = await request(path, { json: {} });
    expect(answer.status).toBe(501);
    expect(await answer.json()).toMatchObject({
      error: "not_implemented",
      message: expect.stringContaining("not offered"),
    });
  }
});
