import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { AgentOptions } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { artifactsMiddleware } from "../../actors/middleware/artifacts.ts";
import { sandboxMiddleware } from "../../actors/middleware/sandbox.ts";
import { privateFields, threadDataMiddleware } from "../../actors/middleware/thread-data.ts";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { toolErrorsMiddleware } from "../../actors/middleware/tool-errors.ts";
import { toolOutputBudgetMiddleware } from "../../actors/middleware/tool-output-budget.ts";
import { uploadsMiddleware } from "../../actors/middleware/uploads.ts";
import { localSandboxProvider } from "../../actors/sandboxes/local.ts";
import type { SandboxProvider } from "../../actors/sandboxes/sandbox.ts";
import { threadFolders } from "../../actors/sandboxes/thread-folders.ts";
import { ThreadBusyError } from "../../actors/thread-busy.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { fileTools } from "../../actors/tools/file-tools.ts";
import { ArtifactsPresented } from "../../events/artifacts.ts";
import { resolveBlobs } from "../../events/blobs/blob-content.ts";
import type { RecordedEvent } from "../../events/envelope.ts";
import type { Message } from "../../events/message.ts";
import { openStore } from "../../events/open-store.ts";
import { temporaryStoreFolder } from "./sandboxes/thread-files.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { callsTools } from "./simple-tools.ts";

/** The local provider, with notes of what it gave and took back. */
function notingProvider(): SandboxProvider & { readonly notes: string[] } {
  const provider = localSandboxProvider();
  const notes: string[] = [];
  return {
    ...provider,
    notes,
    async acquire(request) {
      const box = await provider.acquire(request);
      notes.push(`acquired ${box.id}`);
      return box;
    },
    async release(id) {
      notes.push(`released ${id}`);
      await provider.release(id);
    },
  };
}

async function agentWith(options: Partial<AgentOptions> & { model: AgentOptions["model"]; url?: string }) {
  const folder = await temporaryStoreFolder();
  const store = await openStore(options.url ?? `sqlite:${join(folder, "threads.db")}`);
  const provider = notingProvider();
  const agent = createAgent({
    store,
    tools: fileTools(),
    middleware: [
      toolOutputBudgetMiddleware(),
      threadDataMiddleware(),
      uploadsMiddleware(),
      sandboxMiddleware({ provider }),
      toolErrorsMiddleware(),
      artifactsMiddleware(),
      titleMiddleware(),
    ],
    ...options,
  });
  onTestFinished(async () => {
    await agent.close();
    await provider.close();
    await store.close();
  });
  return {
    agent,
    store,
    provider,
    foldersOf: (threadId: string) => threadFolders({ folder: store.folder, threadId }),
  };
}

async function eventsOf(thread: { events(): AsyncIterable<RecordedEvent> }): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const event of thread.events()) events.push(event);
  return events;
}

const lastResult = (messages: readonly BaseMessage[]) =>
  messages.findLast((message) => ToolMessage.isInstance(message))?.text ?? "";

test("a run over files: upload, command, report, presentation, title; the log refolds to the live state", async () => {
  const model = new ScriptedModel({
    answers: [
      callsTools(["bash", { command: "wc -w < /mnt/user-data/uploads/a.txt" }]),
      (messages) =>
        callsTools([
          "write_file",
          { path: "/mnt/user-data/outputs/r.md", content: `${lastResult(messages)} words` },
        ]),
      callsTools(["present_files", { filepaths: ["/mnt/user-data/outputs/r.md"] }]),
      "It has three words.",
    ],
  });
  const { agent, store, provider, foldersOf } = await agentWith({ model });
  const { uploads_path, outputs_path } = foldersOf("t");
  await mkdir(uploads_path, { recursive: true });
  await writeFile(join(uploads_path, "a.txt"), "one two three");

  const thread = agent.thread("t");
  const files = [{ filename: "a.txt", size: 13 }];
  const message = new HumanMessage({ content: "Count the words", additional_kwargs: { files } });
  const { status, state } = await thread.run({ messages: [message] }).result;

  expect(status).toBe("completed");
  expect(state).toMatchObject({
    title: "Count the words",
    artifacts: ["/mnt/user-data/outputs/r.md"],
    sandbox: { sandbox_id: "local:t" },
    thread_data: foldersOf("t"),
    uploaded_files: [{ filename: "a.txt", path: "/mnt/user-data/uploads/a.txt" }],
  });
  expect(await readFile(join(outputs_path, "r.md"), "utf8")).toBe("3 words");
  expect(provider.notes).toEqual(["acquired local:t", "released local:t"]);

  const events = await eventsOf(thread);
  const ofInterest = [
    "SandboxBound",
    "SandboxReleased",
    "ArtifactsPresented",
    "TitleSet",
    "FilesUploaded",
    "ThreadDataBound",
  ];
  expect(
    events
      .map(({ type }) => type)
      .filter((type) => ofInterest.includes(type))
      .sort(),
  ).toEqual([...ofInterest].sort());
  const binding = events.find(({ type }) => type === "SandboxBound");
  const firstResult = events.find(({ type }) => type === "ToolCallCompleted");
  expect(Math.abs((binding?.version ?? 0) - (firstResult?.version ?? 0))).toBe(1);
  for (const event of events) {
    if (event.type !== "ThreadDataBound")
      expect(JSON.stringify(event), event.type).not.toContain(store.folder);
  }
  expect(privateFields).toContain("thread_data");
  expect(await thread.stateAt(events.length)).toEqual(await thread.state());
});

test("a message of 100 kB with a file: a title from what was typed, all of it for the model, and kept apart", async () => {
  const model = new ScriptedModel({ answers: ["ok", "ok again"] });
  const { agent, foldersOf, store } = await agentWith({ model });
  const { uploads_path } = foldersOf("t");
  await mkdir(uploads_path, { recursive: true });
  await writeFile(join(uploads_path, "a.txt"), "x");
  const typed = "word ".repeat(20_000).trim();
  const content = { content: typed, additional_kwargs: { files: [{ filename: "a.txt", size: 1 }] } };
  const { state } = await agent.thread("t").run({ messages: [new HumanMessage(content)] }).result;
  expect(state.title).toBe("word word word word word word word word word word...");
  const shown = model.calls[0]?.messages[0]?.text ?? "";
  expect(shown.startsWith("<current_uploads>")).toBe(true);
  expect(shown.endsWith(`\n\n${typed}`)).toBe(true);
  const [stored] = state.messages as Message[];
  const kept = stored ? await resolveBlobs(stored, store.blobs) : undefined;
  expect(kept?.additional_kwargs?.original_user_content).toBe(typed);
});

test("what a tool shows of the host is masked for model, events and clients", async () => {
  const peek = defineTool({
    name: "peek",
    description: "Shows where the files are",
    schema: z.object({ fail: z.boolean() }),
    run: ({ fail }, { state }) => {
      const { workspace_path } = state.thread_data as { workspace_path: string };
      if (fail) throw new Error(`cannot open ${workspace_path}/x`);
      return workspace_path;
    },
  });
  const model = new ScriptedModel({
    answers: [callsTools(["peek", { fail: false }, "c1"], ["peek", { fail: true }, "c2"]), "done"],
  });
  const { agent, store } = await agentWith({ model, tools: [peek] });
  const thread = agent.thread("t");
  await thread.run("look").result;
  const shown =
    model.calls
      .at(-1)
      ?.messages.map(({ text }) => text)
      .join("\n") ?? "";
  expect(shown).toContain("/mnt/user-data/workspace");
  expect(shown).toContain("cannot open /mnt/user-data/workspace/x");
  for (const event of await eventsOf(thread)) {
    if (event.type !== "ThreadDataBound")
      expect(JSON.stringify(event), event.type).not.toContain(store.folder);
  }
});

test("a long result goes to a file that read_file opens in the next call", async () => {
  const model = new ScriptedModel({
    answers: [
      callsTools(["bash", { command: "seq 1 5000" }]),
      (messages) => {
        const path =
          /\/mnt\/user-data\/outputs\/\.tool-results\/[\w.-]+\w/.exec(lastResult(messages))?.[0] ?? "none";
        return callsTools(["read_file", { path, start_line: 3_000, end_line: 3_000 }]);
      },
      "found",
    ],
  });
  const { agent } = await agentWith({ model });
  const thread = agent.thread("t");
  await thread.run("numbers").result;
  expect(lastResult(model.calls.at(-1)?.messages ?? [])).toBe("3000");
  const [stored] = (await eventsOf(thread)).filter(({ type }) => type === "ToolOutputExternalized");
  expect(stored?.data).toMatchObject({ size: 23_892 });
  expect(stored?.metadata.by).toBe("middleware:tool-output-budget");
});

test("ART-13: parallel presentations lose nothing, and the results stand in the order of the calls", async () => {
  let release = () => {};
  const fastIsDone = new Promise<void>((resolve) => {
    release = resolve;
  });
  const presenting = (name: string, run: () => Promise<void> | void) =>
    defineTool({
      name,
      description: name,
      schema: z.object({}),
      async run() {
        await run();
        return { content: name, events: [ArtifactsPresented({ paths: [name] })] };
      },
    });
  const tools = [presenting("slow", () => fastIsDone), presenting("fast", () => release())];
  const model = new ScriptedModel({ answers: [callsTools(["slow", {}, "c0"], ["fast", {}, "c1"]), "done"] });
  const { agent } = await agentWith({ model, tools });
  const { state } = await agent.thread("t").run("go").result;
  expect([...(state.artifacts as string[])].sort()).toEqual(["fast", "slow"]);
  const results = (state.messages as { type: string; tool_call_id?: string }[]).filter(
    ({ type }) => type === "tool",
  );
  expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(["c0", "c1"]);
});

describe("a fork", () => {
  test("works in folders of its own and leaves its parent's box alone", async () => {
    const write = (content: string) =>
      callsTools(["write_file", { path: "/mnt/user-data/workspace/w.txt", content }]);
    const model = new ScriptedModel({ answers: [write("parent"), "ok", write("fork"), "ok"] });
    const { agent, provider, foldersOf } = await agentWith({ model });
    const parent = agent.thread("parent");
    await parent.run("one").result;
    const fork = await parent.fork({ threadId: "fork" });
    const { state } = await fork.run("two").result;
    expect(await readFile(join(foldersOf("parent").workspace_path, "w.txt"), "utf8")).toBe("parent");
    expect(await readFile(join(foldersOf("fork").workspace_path, "w.txt"), "utf8")).toBe("fork");
    expect(state).toMatchObject({ sandbox: { sandbox_id: "local:fork" }, thread_data: foldersOf("fork") });
    expect(provider.notes.filter((note) => note.startsWith("released"))).toEqual([
      "released local:parent",
      "released local:fork",
    ]);
    expect((await parent.state()).sandbox).toEqual({ sandbox_id: "local:parent" });
  });

  test("that uses no file releases nothing", async () => {
    const model = new ScriptedModel({ answers: [callsTools(["ls", {}]), "ok", "no files needed"] });
    const { agent, provider } = await agentWith({ model });
    const parent = agent.thread("parent");
    await parent.run("one").result;
    const fork = await parent.fork({ threadId: "fork" });
    await fork.run("two").result;
    expect(provider.notes).toEqual(["acquired local:parent", "released local:parent"]);
  });
});

test("a cancelled first run kills its command, gives its box back and has a title", async () => {
  const model = new ScriptedModel({
    answers: [callsTools(["bash", { command: "touch on; sleep 60; touch after" }])],
  });
  const { agent, provider, foldersOf } = await agentWith({ model });
  const thread = agent.thread("t");
  const run = thread.run("Wait for me");
  const { workspace_path } = foldersOf("t");
  await expect.poll(() => existsSync(join(workspace_path, "on"))).toBe(true);
  await run.cancel("enough");
  const { status, state } = await run.result;
  expect(status).toBe("cancelled");
  expect(state).toMatchObject({ title: "Wait for me", sandbox: { sandbox_id: "local:t" } });
  expect(provider.notes).toEqual(["acquired local:t", "released local:t"]);
  expect(existsSync(join(workspace_path, "after"))).toBe(false);
});

test("a first run that is cancelled before any answer gets a title of its own", async () => {
  const model = new ScriptedModel({ answers: ["late"], latencyMs: 60_000 });
  const { agent } = await agentWith({ model });
  const thread = agent.thread("t");
  const run = thread.run("Never answered");
  await expect.poll(() => model.calls.length).toBe(1);
  await run.cancel();
  await run.result;
  const title = (await eventsOf(thread)).find(({ type }) => type === "TitleSet");
  expect(title?.data).toEqual({ title: "Never answered", origin: "interrupted" });
});

test("many threads at once: each has its own folders and box, every box goes back once", async () => {
  const count = 12;
  const model = new ScriptedModel({
    answers: (messages) => {
      const asked = messages.find((message) => HumanMessage.isInstance(message))?.text ?? "";
      if (ToolMessage.isInstance(messages.at(-1) as ToolMessage)) return `done ${asked}`;
      const path = "/mnt/user-data/outputs/name.txt";
      return callsTools(
        ["write_file", { path, content: asked }, "c1"],
        ["bash", { command: "pwd" }, "c2"],
        ["present_files", { filepaths: [path] }, "c3"],
      );
    },
  });
  const { agent, provider, foldersOf } = await agentWith({ model });
  const ids = Array.from({ length: count }, (_, index) => `t${index}`);
  const states = await Promise.all(
    ids.map(async (id) => (await agent.thread(id).run(`I am ${id}`).result).state),
  );
  for (const [index, id] of ids.entries()) {
    expect(await readFile(join(foldersOf(id).outputs_path, "name.txt"), "utf8")).toBe(`I am ${id}`);
    expect(states[index]).toMatchObject({ title: `I am ${id}`, sandbox: { sandbox_id: `local:${id}` } });
    expect(await agent.thread(id).state()).toEqual(states[index]);
  }
  expect(provider.notes.filter((note) => note.startsWith("released")).sort()).toEqual(
    ids.map((id) => `released local:${id}`).sort(),
  );
});

describe("titles of a thread", () => {
  test("TTL-33: a title from outside takes the place of the old one, and later runs keep it", async () => {
    const { agent } = await agentWith({ model: new ScriptedModel({ answers: ["a1", "a2"] }) });
    const thread = agent.thread("t");
    await thread.run("first").result;
    await thread.update({ title: "Renamed" });
    expect((await thread.run("second").result).state.title).toBe("Renamed");
  });

  test("TTL-34: not while a run is open", async () => {
    const { agent } = await agentWith({ model: new ScriptedModel({ answers: ["late"], latencyMs: 60_000 }) });
    const thread = agent.thread("t");
    const run = thread.run("first");
    await expect.poll(async () => (await thread.info()).status).toBe("running");
    await expect(thread.update({ title: "Renamed" })).rejects.toBeInstanceOf(ThreadBusyError);
    await run.cancel();
    expect((await run.result).state.title).toBe("first");
  });
});

test("the log grows by the same bytes at turn 40 as at turn 4", async () => {
  const model = new ScriptedModel({
    answers: (messages) =>
      ToolMessage.isInstance(messages.at(-1) as ToolMessage) ? "ok" : callsTools(["ls", {}]),
  });
  const { agent } = await agentWith({ model, url: "memory:" });
  const thread = agent.thread("t");
  const sizes: number[] = [];
  for (let turn = 0; turn < 40; turn++) {
    await thread.run("again").result;
    sizes.push((await eventsOf(thread)).reduce((sum, event) => sum + JSON.stringify(event).length, 0));
  }
  const grown = (turn: number) => (sizes[turn] ?? 0) - (sizes[turn - 1] ?? 0);
  expect(grown(39) / grown(3)).toBeLessThan(1.05);
});
