import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import type { Agent } from "../../../actors/agent-contract.ts";
import { createAgent } from "../../../actors/create-agent.ts";
import { localSandboxProvider } from "../../../actors/sandboxes/local.ts";
import { threadFolders } from "../../../actors/sandboxes/thread-folders.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import type { Store } from "../../../events/store.ts";
import { png } from "../../cases/images.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { callsTools } from "../simple-tools.ts";

const todo = (first: string, second: string) => ({
  todos: [
    { content: "look at the pictures", status: first },
    { content: "tell the weather", status: second },
  ],
});
const view = (name: string) =>
  ["view_image", { image_path: `/mnt/user-data/uploads/${name}.png` }, name] as const;

/** A plan with two pictures and a tool that has to be found; the model forgets its list once. */
const script: readonly (AIMessage | string)[] = [
  callsTools(["write_todos", todo("in_progress", "pending"), "w1"], view("first")),
  callsTools(["tool_search", { query: "weather" }, "s1"]),
  callsTools(["weather_now", { city: "Oslo" }, "f1"], view("second")),
  "All done.",
  callsTools(["write_todos", todo("completed", "completed"), "w2"]),
  "It snows in Oslo.",
];

/** What a model was shown, without ids. */
export interface SeenRequest {
  readonly messages: readonly unknown[];
  readonly tools: readonly string[];
}

function seen(messages: readonly BaseMessage[], options: Readonly<Record<string, unknown>>): SeenRequest {
  const tools = (options.tools ?? []) as readonly { function: { name: string } }[];
  return {
    messages: messages.map((message) => [message.getType(), message.name ?? null, message.content]),
    tools: tools.map((tool) => tool.function.name),
  };
}

export interface PlanBench {
  readonly agent: Agent;
  /** Requests by the number of answers that stood in them. */
  readonly requests: Map<number, SeenRequest[]>;
  readonly ran: string[];
}

/** An agent that works off the script, as one process has it. Another one on the same store goes on. */
export function planAgent(store: Store): PlanBench {
  const requests = new Map<number, SeenRequest[]>();
  const ran: string[] = [];
  const model = new ScriptedModel({
    answers: (messages, options) => {
      const turn = messages.filter((message) => message.getType() === "ai").length;
      requests.set(turn, [...(requests.get(turn) ?? []), seen(messages, options)]);
      return script[turn] ?? "There is nothing left to say.";
    },
  });
  const weather = defineTool({
    name: "weather_now",
    description: "The weather of a city",
    schema: z.object({ city: z.string() }),
    idempotent: true,
    run: ({ city }, { callId }) => {
      ran.push(callId);
      return `It snows in ${city}.`;
    },
  });
  const agent = createAgent({
    model,
    store,
    preset: "harness",
    recovery: "continue",
    harness: {
      viewImages: { vision: true },
      sandbox: { provider: localSandboxProvider() },
      deferredTools: { tools: [weather] },
    },
  });
  return { agent, requests, ran };
}

/** Puts the two pictures into a thread's uploads. */
export async function putPictures(store: Store, threadId: string): Promise<void> {
  const { uploads_path } = threadFolders({ folder: store.folder, threadId });
  await mkdir(uploads_path, { recursive: true });
  await writeFile(join(uploads_path, "first.png"), png(3_000));
  await writeFile(join(uploads_path, "second.png"), png(24));
}
