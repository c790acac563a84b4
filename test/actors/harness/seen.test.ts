import type { BaseMessage } from "@langchain/core/messages";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createAgent } from "../../../actors/create-agent.ts";
import { toStored } from "../../../actors/messages/to-stored.ts";
import { localSandboxProvider } from "../../../actors/sandboxes/local.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import { canonicalJson } from "../../../events/canonical-json.ts";
import type { RecordedEvent } from "../../../events/envelope.ts";
import { blobsOfThread } from "../../../events/keys/with-encryption.ts";
import { openStore } from "../../../events/open-store.ts";
import type { Store } from "../../../events/store.ts";
import { rebuildRequest } from "../../../projections/seen.ts";
import { createStateReader } from "../../../projections/state-at.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { callsTools } from "../simple-tools.ts";
import { putPictures } from "./plan-with-images.ts";

/** What a spy received, as bytes; the system prompt has no id of its own. */
const received = (messages: readonly BaseMessage[]): string =>
  canonicalJson(
    messages.map((message) => {
      const { id, ...rest } = toStored(message, () => "none");
      return message.getType() === "system" ? rest : { id, ...rest };
    }),
  );

const open = { content: "look at the picture", status: "in_progress" };
const plan = (status: string) => ({ todos: [{ ...open, status }] });
const found = defineTool({
  name: "weather_now",
  description: "The weather of a city",
  schema: z.object({ city: z.string() }),
  run: ({ city }) => `It snows in ${city}.`,
});
const long = defineTool({
  name: "read_book",
  description: "Reads a long book",
  schema: z.object({}),
  run: () => "chapter ".repeat(5_000),
});

/** One run that goes through pictures, reminders of the list, cut results and a tool that has to be found; then small talk. */
const script = [
  callsTools(
    ["write_todos", plan("in_progress"), "w1"],
    ["view_image", { image_path: "/mnt/user-data/uploads/first.png" }, "v1"],
  ),
  callsTools(["tool_search", { query: "weather" }, "s1"], ["read_book", {}, "b1"]),
  callsTools(["weather_now", { city: "Oslo" }, "f1"]),
  "All done.",
  callsTools(["write_todos", plan("completed"), "w2"]),
  "It snows in Oslo.",
  "Yes.",
  "No.",
  "Perhaps.",
];

function agentOn(store: Store, said: number) {
  let turn = said;
  const model = new ScriptedModel({ answers: () => script[turn++] ?? "Nothing more." });
  const agent = createAgent({
    model,
    store,
    systemPrompt: "Be kind.",
    tools: [long],
    preset: "harness",
    harness: {
      viewImages: { vision: true },
      sandbox: { provider: localSandboxProvider() },
      deferredTools: { tools: [found] },
      dynamicContext: {},
      summarization: {
        model: new ScriptedModel({ answers: ["They looked at a picture."] }),
        trigger: { messages: 14 },
        keep: 3,
      },
    },
  });
  return { agent, model };
}

async function calls(store: Store): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of store.log.read("thread-t", { types: ["ModelCallStarted"] })) events.push(...page);
  return events;
}

describe("what the model saw in a run of the harness", () => {
  it("is rebuilt byte for byte for every call, across a restart, with its hash", async () => {
    const store = await openStore("memory:");
    onTestFinished(() => store.close());
    await putPictures(store, "t");
    const first = agentOn(store, 0);
    const result = await first.agent.thread("t").run("What is the weather?").result;
    expect(result).toMatchObject({ status: "completed", error: undefined });
    await first.agent.close();
    const second = agentOn(store, 6);
    onTestFinished(() => second.agent.close());
    for (const text of ["Really?", "Sure?", "Why?"]) await second.agent.thread("t").run(text).result;

    const spied = [...first.model.calls, ...second.model.calls];
    const recorded = await calls(store);
    expect(recorded).toHaveLength(spied.length);
    const { reducer, registry } = second.agent;
    const reader = createStateReader({ log: store.log, side: store.side, reducer, registry });
    const sources = { log: store.log, blobs: blobsOfThread(store, "t"), reader };
    const kinds = new Set<string>();
    for (const [index, { data }] of recorded.entries()) {
      const seen = await rebuildRequest(sources, "t", (data as { callId: string }).callId);
      const { messages, options } = spied[index] ?? { messages: [], options: {} };
      const system = seen.system ? [seen.system.message] : [];
      expect(canonicalJson([...system, ...seen.messages.map(({ message }) => message)])).toBe(
        received(messages),
      );
      expect(seen.tools).toEqual(options.tools ?? []);
      expect(seen.hashMatches).toBe(true);
      for (const { by, edit } of seen.messages) if (edit) kinds.add(`${edit} ${by}`);
    }
    // The run went through what it was written for.
    expect([...kinds]).toEqual(expect.arrayContaining(["inserted middleware:todos"]));
    const shown = spied.map(({ messages }) => JSON.stringify(messages)).join("\n");
    expect(shown).toContain("data:image/png;base64,");
    expect(shown).toContain("They looked at a picture.");
  });
});
