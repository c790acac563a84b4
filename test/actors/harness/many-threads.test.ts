import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { BaseMessage } from "@langchain/core/messages";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createAgent } from "../../../actors/create-agent.ts";
import { localSandboxProvider } from "../../../actors/sandboxes/local.ts";
import { threadFolders } from "../../../actors/sandboxes/thread-folders.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import type { Message } from "../../../events/message.ts";
import { openStore } from "../../../events/open-store.ts";
import { png } from "../../cases/images.ts";
import { eventsOf } from "../recorded-events.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { callsTools } from "../simple-tools.ts";

/** The name of the thread as its user says it in every message. */
const ownerOf = (messages: readonly BaseMessage[]): string =>
  /I am (\S+)\./.exec(messages.find((message) => message.getType() === "human")?.text ?? "")?.[1] ?? "nobody";

/** What the model of a thread does: each call carries the thread's name, and comes after a random while. */
async function answer(messages: readonly BaseMessage[]) {
  await delay(Math.random() * 20);
  const owner = ownerOf(messages);
  const turn = messages.filter((message) => message.getType() === "ai").length;
  const todos = (status: string) => ({ todos: [{ content: `work of ${owner}`, status }] });
  const file = `/mnt/user-data/outputs/${owner}.txt`;
  const turns = [
    () =>
      callsTools(
        ["write_todos", todos("in_progress"), "w1"],
        ["view_image", { image_path: `/mnt/user-data/uploads/${owner}.png` }, "v1"],
        ["write_file", { path: file, content: owner }, "f1"],
        ["tool_search", { query: `select:tool_${owner}` }, "s1"],
      ),
    () => callsTools(["present_files", { filepaths: [file] }, "p1"], [`tool_${owner}`, {}, "t1"]),
    () => callsTools(["write_todos", todos("completed"), "w2"]),
  ];
  return turns[turn]?.() ?? `All done for ${owner}.`;
}

it("fifty threads at once through one agent: nothing of one is in another, every sandbox is released once, every log refolds", async () => {
  const names = Array.from({ length: 50 }, (_, index) => `user${String(index).padStart(2, "0")}`);
  const store = await openStore("memory:");
  const inner = localSandboxProvider();
  const acquired: string[] = [];
  const released: string[] = [];
  const agent = createAgent({
    model: new ScriptedModel({ answers: answer }),
    store,
    preset: "harness",
    harness: {
      viewImages: { vision: true },
      sandbox: {
        provider: {
          ...inner,
          async acquire(request) {
            const sandbox = await inner.acquire(request);
            acquired.push(sandbox.id);
            return sandbox;
          },
          async release(id) {
            released.push(id);
            await inner.release(id);
          },
        },
      },
      deferredTools: {
        tools: names.map((name) =>
          defineTool({
            name: `tool_${name}`,
            description: name,
            schema: z.object({}),
            run: async () => {
              await delay(Math.random() * 20);
              return `result for ${name}`;
            },
          }),
        ),
      },
    },
  });
  onTestFinished(async () => {
    await agent.close();
    await store.close();
  });
  await Promise.all(
    names.map(async (name) => {
      const { uploads_path } = threadFolders({ folder: store.folder, threadId: name });
      await mkdir(uploads_path, { recursive: true });
      await writeFile(join(uploads_path, `${name}.png`), png());
    }),
  );

  const results = await Promise.all(names.map((name) => agent.thread(name).run(`I am ${name}.`).result));

  for (const [index, result] of results.entries()) {
    const name = names[index] ?? "";
    const { state } = result;
    expect(result.status).toBe("completed");
    expect((state.messages as Message[]).at(-1)?.content).toBe(`All done for ${name}.`);
    expect(state.todos).toEqual([{ content: `work of ${name}`, status: "completed" }]);
    expect(state.artifacts).toEqual([`/mnt/user-data/outputs/${name}.txt`]);
    expect((state.promoted as { names: string[] }).names).toEqual([`tool_${name}`]);
    const events = await eventsOf(agent.thread(name));
    const viewed = events.filter(({ type }) => type === "ImagesViewed").map(({ data }) => data);
    expect(viewed).toMatchObject([{ images: { [`/mnt/user-data/uploads/${name}.png`]: {} } }]);
    // The deferred catalogue names every user; nothing else may.
    const text = JSON.stringify([state, events]);
    for (const other of names)
      if (other !== name) expect(text.includes(other), `${other} in ${name}`).toBe(false);
    const refolded = agent.reducer.fold(events.map(({ type, data, version }) => ({ type, data, version })));
    expect(refolded).toEqual(state);
  }
  expect(acquired).toHaveLength(50);
  expect([...released].sort()).toEqual([...acquired].sort());
});
