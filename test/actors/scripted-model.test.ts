import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { expect, test } from "vitest";
import { z } from "zod";
import { ScriptedModel } from "./scripted-model.ts";

test("answers in order, and remembers messages and options", async () => {
  const model = new ScriptedModel({ answers: ["one", (messages) => `saw ${messages.length}`] });
  expect((await model.invoke([new HumanMessage("a")])).text).toBe("one");
  const bound = model.bindTools([tool(() => "", { name: "add", schema: z.object({ a: z.number() }) })], {
    tool_choice: "any",
  });
  expect((await bound.invoke([new HumanMessage("a"), new HumanMessage("b")])).text).toBe("saw 2");
  expect(model.calls[1]?.options).toMatchObject({
    tool_choice: "any",
    tools: [{ function: { name: "add" } }],
  });
});

test("streams words and tool calls that add up to the answer", async () => {
  const answer = new AIMessage({
    content: "two words",
    tool_calls: [{ name: "add", args: { a: 1 }, id: "c1", type: "tool_call" }],
    usage_metadata: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  });
  const model = new ScriptedModel({ answers: [answer], streaming: true });
  const stream = await model.stream([new HumanMessage("a")]);
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  const whole = chunks.slice(1).reduce((all, chunk) => all.concat(chunk), chunks[0] as (typeof chunks)[0]);
  expect(chunks.map((chunk) => chunk.text)).toEqual(["two ", "words", ""]);
  expect(whole.text).toBe("two words");
  expect(whole.tool_calls).toMatchObject([{ name: "add", args: { a: 1 }, id: "c1" }]);
  expect(whole.usage_metadata?.total_tokens).toBe(5);
});
