import { expect, test } from "vitest";
import { z } from "zod";
import { createAgent } from "../../actors/create-agent.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { eventsOf } from "./recorded-events.ts";
import { ScriptedModel } from "./scripted-model.ts";
import { callsTools } from "./simple-tools.ts";

test("images of the user and long results of tools are in no event, and the model sees them whole", async () => {
  const base64 = Buffer.alloc(6_000, 7).toString("base64");
  const report = "a long line of a report\n".repeat(10_000);
  const read = defineTool({
    name: "read",
    description: "reads",
    schema: z.object({}),
    run: () => report,
  });
  const model = new ScriptedModel({ answers: [callsTools(["read", {}]), "seen"] });
  const agent = createAgent({ model, tools: [read], store: "memory:" });
  const thread = agent.thread("t");
  const content = [
    { type: "text", text: "look" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } },
  ];
  const { status } = await thread.run({ messages: [{ role: "user", content }] }).result;
  expect(status).toBe("completed");
  const text = JSON.stringify(await eventsOf(thread));
  expect(text).not.toContain(base64.slice(0, 200));
  expect(text.length).toBeLessThan(20_000);
  expect(model.calls[1]?.messages.map((message) => message.content)).toEqual([content, "", report]);
  const shown = await agent.invoke("again", { configurable: { thread_id: "t" } });
  expect((shown.messages as { content: unknown }[])[0]?.content).toEqual(content);
});
