import { expect, test } from "vitest";
import { childAgents } from "../../actors/child-agents.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { subAgentsMiddleware } from "../../actors/middleware/sub-agents.ts";
import { threadDataMiddleware } from "../../actors/middleware/thread-data.ts";
import { todosMiddleware } from "../../actors/middleware/todos.ts";
import { openStore } from "../../events/open-store.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { framesIn, type ReadFrame, readFrames } from "./read-frames.ts";
import { afterTest, collect, serveAgent } from "./served-agents.ts";

const human = (content: string) => ({ messages: [{ type: "human", content }] });

test("several agents in one server: each by its name, with its own fields, threads and assistants", async () => {
  const store = await openStore("memory:");
  afterTest(() => store.close());
  const planner = createAgent({
    store,
    model: new ScriptedModel({
      answers: (messages) =>
        messages.at(-1)?.getType() === "tool"
          ? "Planned."
          : callsTools(["write_todos", { todos: [{ content: "buy milk", status: "pending" }] }]),
    }),
    middleware: [todosMiddleware()],
  });
  afterTest(() => planner.close());
  const talker = createAgent({ store, model: new ScriptedModel({ answers: () => "Hello." }) });
  afterTest(() => talker.close());
  const { client, request } = await serveAgent({ store, server: { agents: { talker, planner } } });
  const found = await client.assistants.search();
  expect(found.map(({ graph_id }) => graph_id).toSorted()).toEqual(["planner", "talker"]);
  expect((await client.assistants.getSchemas("planner")).state_schema).toHaveProperty("properties.todos");
  expect((await client.assistants.getSchemas("talker")).state_schema).not.toHaveProperty("properties.todos");

  const run = async (graph: string) => {
    const { thread_id: id } = await client.threads.create();
    const values = await client.runs.wait(id, graph, { input: human("hi") });
    return { id, values };
  };
  const planned = await run("planner");
  const talked = await run("talker");
  expect(planned.values).toMatchObject({ todos: [{ content: "buy milk" }] });
  expect(talked.values).not.toHaveProperty("todos");
  const state = await client.threads.getState(planned.id);
  expect(state.values).toMatchObject({ todos: [{ content: "buy milk" }] });
  const ofPlanner = await client.threads.search({ metadata: { graph_id: "planner" } });
  expect(ofPlanner.map(({ thread_id }) => thread_id)).toEqual([planned.id]);
  await client.threads.updateState(planned.id, {
    values: { todos: [{ content: "sleep", status: "pending" }] },
  });
  const refused = await request(`/threads/${talked.id}/state`, { json: { values: { todos: [] } } });
  expect(refused.status).toBe(422);
  await expect(client.runs.create(talked.id, "nobody", { input: human("hi") })).rejects.toThrow("404");
  const mine = await client.assistants.create({ graphId: "planner", name: "mine" });
  const { thread_id: third } = await client.threads.create();
  expect(await client.runs.wait(third, mine.assistant_id, { input: human("hi") })).toMatchObject({
    todos: [{}],
  });
});

async function serveFamily() {
  const store = await openStore("memory:");
  afterTest(() => store.close());
  const worker = createAgent({
    name: "worker",
    store,
    model: new ScriptedModel({
      answers: (messages) =>
        messages.at(-1)?.getType() === "tool" ? "It is 3." : callsTools(["add", { a: 1, b: 2 }, "sum"]),
    }),
    tools: [add],
    middleware: [threadDataMiddleware()],
  });
  afterTest(() => worker.close());
  const task = { description: "add", prompt: "add 1 and 2", subagent_type: "worker" };
  return serveAgent({
    store,
    answers: (messages) =>
      messages.at(-1)?.getType() === "tool"
        ? "The worker says 3."
        : callsTools(["task", task, `ask-${messages.length}`]),
    agent: {
      middleware: [
        subAgentsMiddleware({
          agents: { worker: { description: "adds" } },
          runChild: childAgents({ agents: { worker } }),
        }),
      ],
    },
  });
}

test("frames of a sub-agent carry its namespace, in the order of the log, and are resumed like all others", async () => {
  const { client, request } = await serveFamily();
  const { thread_id: id } = await client.threads.create();
  const streamMode = ["values", "updates", "messages-tuple"] as const;
  const body = { assistant_id: "agent", input: human("go"), stream_mode: streamMode };
  const answer = await request(`/threads/${id}/runs/stream`, { json: { ...body, stream_subgraphs: true } });
  const frames = await readFrames(answer);
  const events = frames.map(({ event }) => event);
  const namespace = "tools:ask-1";
  for (const mode of ["values", "updates", "messages"]) expect(events).toContain(`${mode}|${namespace}`);
  const ofChild = frames.filter(({ event }) => event === `values|${namespace}`);
  expect(ofChild.at(-1)?.data).toMatchObject({
    messages: [{ content: "add 1 and 2" }, { type: "ai" }, { type: "tool" }, { content: "It is 3." }],
  });
  const asked = events.findIndex((event) => event?.endsWith(namespace));
  const told = frames.findIndex(({ event, data }) => event === "updates" && "tools" in (data as object));
  expect(asked).toBeGreaterThan(0);
  expect(events.lastIndexOf(`values|${namespace}`)).toBeLessThan(told);
  expect(new Set(frames.map((frame) => frame.id)).size).toBe(frames.length);

  // Tokens are live only: what comes from the log is compared.
  const logged = ({ event = "" }: ReadFrame) => !event.startsWith("messages");
  const modes = streamMode.map((mode) => `stream_mode=${mode}`).join("&");
  const place = answer.headers.get("location") ?? "";
  expect(place.split("?")[1]).toBe(`${modes}&stream_subgraphs=true`);
  const from = async (lastEventId: string) =>
    readFrames(await request(place, { headers: { "last-event-id": lastEventId } }));
  const whole = await from("-1");
  expect(whole.filter(logged)).toEqual(frames.filter(logged));
  for (const [index, { id: lastEventId }] of whole.entries()) {
    const rest = await from(lastEventId ?? "");
    expect([index, rest.map((frame) => frame.id)]).toEqual([
      index,
      whole.slice(index + 1).map((frame) => frame.id),
    ]);
  }
  const without = await readFrames(
    await request(`/threads/${id}/runs/stream`, { json: { ...body, input: human("again") } }),
  );
  expect(without.filter(({ event }) => event?.includes("|"))).toEqual([]);
});

test("the mode events gives what streamEvents gives", async () => {
  const { client } = await serveAgent({
    answers: [callsTools(["add", { a: 1, b: 2 }]), "It is 3."],
    agent: { tools: [add] },
  });
  const { thread_id: id } = await client.threads.create();
  const parts = await collect(client.runs.stream(id, "agent", { input: human("?"), streamMode: "events" }));
  const told = parts.filter(({ event }) => event === "events").map(({ data }) => data as unknown as Told);
  const kinds = told.map(({ event }) => event).filter((kind, at, all) => kind !== all[at - 1]);
  expect(kinds).toEqual([
    "on_chain_start",
    "on_chat_model_start",
    "on_chat_model_stream",
    "on_chat_model_end",
    "on_tool_start",
    "on_tool_end",
    "on_chat_model_start",
    "on_chat_model_stream",
    "on_chat_model_end",
    "on_chain_end",
  ]);
  expect(told.find(({ event }) => event === "on_tool_start")).toMatchObject({
    name: "add",
    data: { input: { a: 1, b: 2 } },
  });
  const streamed = told.filter(({ event }) => event === "on_chat_model_stream");
  expect(streamed.map(({ data }) => data.chunk?.content).join("")).toContain("It is 3.");
  expect(told.at(-1)).toMatchObject({
    data: { output: { messages: [{}, {}, {}, { content: "It is 3." }] } },
  });
});

interface Told {
  readonly event: string;
  readonly name: string;
  readonly data: { readonly chunk?: { readonly content: string } };
}

test("threads.joinStream follows a thread through its runs, and is resumed", async () => {
  const { client, request } = await serveAgent({ answers: () => "Hello." });
  const { thread_id: id } = await client.threads.create();
  const ended: string[] = [];
  const until = async (
    stream: AsyncIterable<{ event?: string | undefined; data: unknown }>,
    runs: number,
  ) => {
    const got: { event?: string | undefined; data: unknown; id?: string }[] = [];
    for await (const part of stream) {
      got.push(part);
      const { event } = part.data as { event?: string };
      if (part.event === "lifecycle" && event === "completed") ended.push(event);
      if (ended.length === runs) break;
    }
    return got;
  };
  const following = until(
    client.threads.joinStream(id, { streamMode: ["run_modes", "lifecycle", "state_update"] }) as never,
    2,
  );
  // The stream is open when its answer has begun.
  await expect.poll(async () => (await request("/metrics")).text()).toContain("threadfold_streams_open 1");
  await client.runs.wait(id, "agent", { input: human("one") });
  await client.threads.updateState(id, { values: { messages: [{ type: "human", content: "between" }] } });
  await client.runs.wait(id, "agent", { input: human("two") });
  const parts = await following;
  const lifecycle = parts.filter(({ event }) => event === "lifecycle").map(({ data }) => data);
  expect(lifecycle).toMatchObject([
    { event: "running" },
    { event: "completed" },
    { event: "running" },
    { event: "completed" },
  ]);
  expect(parts.filter(({ event }) => event === "values").length).toBeGreaterThan(2);
  expect(JSON.stringify(parts.filter(({ event }) => event === "state_update"))).toContain("between");
  const ids = parts.map((part) => part.id);
  expect(new Set(ids).size).toBe(ids.length);

  const modes = "stream_mode=run_modes&stream_mode=lifecycle&stream_mode=state_update";
  for (const at of [0, 2, Math.floor(parts.length / 2), parts.length - 3]) {
    ended.length =
      lifecycle.length / 2 -
      parts
        .slice(at + 1)
        .filter(
          ({ event, data }) => event === "lifecycle" && (data as { event: string }).event === "completed",
        ).length;
    const answer = await request(`/threads/${id}/stream?${modes}`, {
      headers: { "last-event-id": ids[at] ?? "" },
    });
    const rest = await until(framesIn(answer) as never, 2);
    const logged = (all: readonly { id?: string; event?: string | undefined }[]) =>
      all.filter(({ event }) => event !== "messages").map((part) => part.id);
    expect([at, logged(rest)]).toEqual([at, logged(parts.slice(at + 1))]);
  }
  expect((await request(`/threads/${id}/stream?stream_mode=everything`)).status).toBe(422);
});
