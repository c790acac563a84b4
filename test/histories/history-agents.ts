import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AIMessage } from "@langchain/core/messages";
import { z } from "zod";
import type { Agent, AgentOptions, Thread } from "../../actors/agent-contract.ts";
import { createAgent } from "../../actors/create-agent.ts";
import { humanApprovalMiddleware } from "../../actors/middleware/human-approval.ts";
import { summarizationMiddleware } from "../../actors/middleware/summarization.ts";
import { titleMiddleware } from "../../actors/middleware/title.ts";
import { localSandboxProvider } from "../../actors/sandboxes/local.ts";
import { threadFolders } from "../../actors/sandboxes/thread-folders.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import type { Store } from "../../events/store.ts";
import { ScriptedModel } from "../actors/scripted-model.ts";
import { add, callsTools } from "../actors/simple-tools.ts";
import { png } from "../cases/images.ts";

/** One history: the agent that made it, and how it came about. */
export interface History {
  readonly name: string;
  /** The agent, but for its store. */
  readonly agent: () => Omit<AgentOptions, "store">;
  /** Plays the history; gives the ids of its threads. */
  play(agent: Agent, store: Store): Promise<readonly string[]>;
}

const scripted = (answers: readonly (AIMessage | string)[]) => new ScriptedModel({ answers });

async function say(thread: Thread, text: string): Promise<void> {
  const { status, error } = await thread.run(text).result;
  if (status === "failed") throw new Error(`A run of thread ${thread.id} failed: ${error?.message}`);
}

const weather = defineTool({
  name: "weather_now",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
  idempotent: true,
  run: ({ city }) => `It snows in ${city}.`,
});
const fails = defineTool({
  name: "break_it",
  description: "Always fails",
  schema: z.object({}),
  run: () => {
    throw new RangeError("It broke.");
  },
});
const long = defineTool({
  name: "long_list",
  description: "Says a lot",
  schema: z.object({}),
  run: () => Array.from({ length: 4_000 }, (_, index) => `line ${index}`).join("\n"),
});
/** Runs until it is stopped. */
const wait = defineTool({
  name: "wait_for_ever",
  description: "Waits",
  schema: z.object({}),
  run: (_args, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
    }),
});

const todo = (first: string, second: string) => ({
  todos: [
    { content: "look", status: first },
    { content: "tell", status: second },
  ],
});

const conversation = () => ({
  model: scripted(["Hello Ada.", "Four.", "你好。"]),
  systemPrompt: "Be kind.",
  middleware: [titleMiddleware()],
});

export const histories: readonly History[] = [
  {
    name: "plain-run",
    agent: conversation,
    async play(agent) {
      const thread = agent.thread("plain");
      await say(thread, "I am Ada.");
      await say(thread, "How much is 2 + 2?");
      await say(thread, "用中文打个招呼");
      return [thread.id];
    },
  },
  {
    name: "parallel-tools",
    agent: () => ({
      model: scripted([
        callsTools(
          ["add", { a: 1, b: 2 }, "c1"],
          ["break_it", {}, "c2"],
          ["add", { a: "one" }, "c3"],
          ["nothing_of_the_kind", {}, "c4"],
          ["long_list", {}, "c5"],
        ),
        "Three, and a lot of trouble.",
      ]),
      tools: [add, fails, long],
      preset: "harness",
      harness: { sandbox: { provider: localSandboxProvider() } },
    }),
    async play(agent) {
      const thread = agent.thread("parallel");
      await say(thread, "Do many things at once.");
      return [thread.id];
    },
  },
  {
    name: "plan-mode",
    agent: () => ({
      model: scripted([
        callsTools(["write_todos", todo("in_progress", "pending"), "w1"]),
        "All done.",
        callsTools(["bash", { description: "look", command: "echo seen" }, "b1"]),
        callsTools(["write_todos", todo("completed", "completed"), "w2"]),
        "It is told.",
      ]),
      preset: "harness",
      harness: { sandbox: { provider: localSandboxProvider() } },
    }),
    async play(agent) {
      const thread = agent.thread("plan");
      await say(thread, "Look, then tell.");
      return [thread.id];
    },
  },
  {
    name: "images",
    agent: () => ({
      model: scripted([
        callsTools(["view_image", { image_path: "/mnt/user-data/uploads/first.png" }, "v1"]),
        "A small picture.",
        "Still a small picture.",
      ]),
      preset: "harness",
      harness: { viewImages: { vision: true }, sandbox: { provider: localSandboxProvider() } },
    }),
    async play(agent, store) {
      const thread = agent.thread("images");
      const { uploads_path } = threadFolders({ folder: store.folder, threadId: thread.id });
      await mkdir(uploads_path, { recursive: true });
      await writeFile(join(uploads_path, "first.png"), png(600));
      const files = [{ filename: "first.png", size: 600 }];
      const message = { type: "human", content: "What is on it?", additional_kwargs: { files } };
      await thread.run({ messages: [message] }).result;
      await say(thread, "And now?");
      return [thread.id];
    },
  },
  {
    name: "interrupt-and-resume",
    agent: () => ({
      model: scripted([
        callsTools(["add", { a: 1, b: 2 }, "c1"], ["add", { a: 3, b: 4 }, "c2"]),
        "Three, and the other one was not allowed.",
      ]),
      tools: [add],
      middleware: [humanApprovalMiddleware({ interruptOn: { add: true } })],
    }),
    async play(agent) {
      const thread = agent.thread("asked");
      const { interrupts } = await thread.run("Add, please.").result;
      const [first, second] = interrupts;
      await thread.resume({
        [first?.id ?? ""]: { type: "approve" },
        [second?.id ?? ""]: { type: "reject", message: "No." },
      }).result;
      return [thread.id];
    },
  },
  {
    name: "compaction",
    agent: () => ({
      model: scripted(["one", "two", "three", "four", "five"]),
      middleware: [
        summarizationMiddleware({ model: scripted(["They counted."]), trigger: { messages: 5 }, keep: 2 }),
      ],
    }),
    async play(agent) {
      const thread = agent.thread("compacted");
      for (const text of ["say one", "say two", "say three", "say four", "say five"]) await say(thread, text);
      return [thread.id];
    },
  },
  {
    name: "deferred-tools",
    agent: () => ({
      model: scripted([
        callsTools(["tool_search", { query: "weather" }, "s1"]),
        callsTools(["weather_now", { city: "Oslo" }, "f1"]),
        "It snows in Oslo.",
      ]),
      preset: "harness",
      harness: { sandbox: { provider: localSandboxProvider() }, deferredTools: { tools: [weather] } },
    }),
    async play(agent) {
      const thread = agent.thread("deferred");
      await say(thread, "What is the weather in Oslo?");
      return [thread.id];
    },
  },
  {
    name: "fork",
    agent: conversation,
    async play(agent) {
      const parent = agent.thread("parent");
      await say(parent, "I am Ada.");
      const { version } = await parent.info();
      const child = await parent.fork({ threadId: "child" });
      await say(parent, "The parent goes on.");
      await say(child, "The child goes its own way.");
      const grandchild = await child.fork({ threadId: "grandchild", at: 1 });
      await say(grandchild, "From the beginning of the child.");
      if ((await parent.info()).version <= version) throw new Error("The parent did not go on.");
      return [parent.id, child.id, grandchild.id];
    },
  },
  {
    name: "rewind",
    agent: conversation,
    async play(agent) {
      const thread = agent.thread("rewound");
      await say(thread, "I am Ada.");
      const { version } = await thread.info();
      await say(thread, "This is a mistake.");
      await thread.rewind({ to: version, reason: "a mistake" });
      await say(thread, "This is better.");
      return [thread.id];
    },
  },
  {
    name: "cancel",
    agent: () => ({
      model: scripted([callsTools(["add", { a: 1, b: 2 }, "c1"], ["wait_for_ever", {}, "c2"]), "Go on."]),
      tools: [add, wait],
      middleware: [titleMiddleware()],
    }),
    async play(agent) {
      const thread = agent.thread("cancelled");
      const run = thread.run("Wait.");
      for await (const item of run) {
        // The other call has its result: only the endless one is open.
        if (item.kind === "event" && item.event.type === "ToolCallCompleted") await run.cancel("enough");
      }
      await say(thread, "Are you there?");
      return [thread.id];
    },
  },
  {
    name: "crash",
    agent: () => ({
      model: scripted([callsTools(["add", { a: 1, b: 2 }, "c1"], ["wait_for_ever", {}, "c2"]), "I am back."]),
      tools: [add, wait],
      recovery: "continue",
    }),
    async play(agent, store) {
      const thread = agent.thread("crashed");
      const run = thread.run("Wait.");
      // It is lost to the process that closes it.
      run.result.catch(() => undefined);
      for await (const item of run) {
        if (item.kind === "event" && item.event.type === "ToolCallCompleted") break;
      }
      // Nobody renews the lease any more: for the next process the owner is gone.
      for (const { key } of await store.side.list("lease")) await store.side.delete("lease", key);
      const next = createAgent({
        ...this.agent(),
        model: scripted(["I am back."]),
        store,
        recovery: "close",
      });
      await say(next.thread("crashed"), "Are you there?");
      await next.close();
      return [thread.id];
    },
  },
];
