import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { AgentOptions } from "../../../actors/agent-contract.ts";
import { createAgent } from "../../../actors/create-agent.ts";
import { createMiddleware } from "../../../actors/middleware/define-middleware.ts";
import {
  providerStrategy,
  ResponseFormatError,
  strategyFor,
  toolStrategy,
} from "../../../actors/structured-response.ts";
import { defineTool } from "../../../actors/tools/define-tool.ts";
import { ScriptedModel, type ScriptedModelOptions } from "../scripted-model.ts";

const city = z.object({ city: z.string(), size: z.number() });
const good = { city: "Bern", size: 3 };
const bad = { city: 5 };
const callOf = (args: object, name = "structured_response") =>
  new AIMessage({
    content: "",
    tool_calls: [{ name, args: args as Record<string, unknown>, id: `c${JSON.stringify(args).length}` }],
  });

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((agent) => agent.close()));
});

async function ask(
  answers: ScriptedModelOptions["answers"],
  responseFormat: unknown,
  more: Partial<AgentOptions> = {},
) {
  const model = new ScriptedModel({ answers });
  const agent = createAgent({ model, responseFormat, store: "memory:", ...more });
  open.push(agent);
  const thread = agent.thread("t1");
  const result = await thread.run("Which city?").result;
  const events: string[] = [];
  for await (const { type } of thread.events()) events.push(type);
  return {
    model,
    result,
    events,
    value: result.state.structured_response,
    messages: result.state.messages as { type: string; content: string; status?: string }[],
  };
}

describe("through a tool", () => {
  test("the value is an event, the call has its result, and the run ends there", async () => {
    const { model, result, events, value, messages } = await ask([callOf(good)], city);
    expect(result).toMatchObject({ status: "completed", error: undefined });
    expect(value).toEqual(good);
    expect(events.filter((type) => type === "StructuredResponseProduced")).toHaveLength(1);
    expect(messages.map(({ type }) => type)).toEqual(["human", "ai", "tool"]);
    expect(model.calls).toHaveLength(1);
    expect(model.calls[0]?.options).toMatchObject({
      tool_choice: "any",
      tools: [{ function: { name: "structured_response", parameters: { required: ["city", "size"] } } }],
    });
  });

  test("arguments that do not fit go back to the model with what is wrong", async () => {
    const { model, value, messages } = await ask([callOf(bad), callOf(good)], city);
    expect(value).toEqual(good);
    expect(messages[2]).toMatchObject({
      type: "tool",
      status: "error",
      content: expect.stringMatching(/do not have the requested form[\s\S]*city/),
    });
    expect(model.calls).toHaveLength(2);
  });

  test("a model that never fits fails the run, after maxRetries", async () => {
    const { model, result, value } = await ask([callOf(bad)], toolStrategy(city, { maxRetries: 1 }));
    expect(result.status).toBe("failed");
    expect(result.error?.message).toMatch(/no answer of the requested form in 2 tries/);
    expect(model.calls).toHaveLength(2);
    expect(value).toBeUndefined();
  });

  test("an answer in words is sent back with a reminder that no thread keeps; JSON in words is taken", async () => {
    const { model, value, messages } = await ask(
      ["It is Bern.", '```json\n{"city":"Bern","size":3}\n```'],
      city,
    );
    expect(value).toEqual(good);
    expect(model.calls[1]?.messages.at(-1)?.text).toMatch(
      /does not have the requested form: it is no JSON.*structured_response/,
    );
    expect(messages.filter(({ type }) => type === "human")).toHaveLength(1);
  });

  test("an answer in words, again and again, fails the run", async () => {
    const { model, result } = await ask(["no"], city);
    expect([result.status, model.calls.length]).toEqual(["failed", 3]);
  });

  test("the agent's own tools work beside it", async () => {
    const look = defineTool({ name: "look", description: "", schema: z.looseObject({}), run: () => "a map" });
    const { value, messages } = await ask([callOf({}, "look"), callOf(good)], city, { tools: [look] });
    expect(value).toEqual(good);
    expect(messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "ai", "tool"]);
  });

  test("a schema's title names the tool", async () => {
    const { value, model } = await ask([callOf(good, "City_fact")], city.meta({ title: "City fact" }));
    expect(value).toEqual(good);
    expect(model.calls[0]?.options.tools).toMatchObject([{ function: { name: "City_fact" } }]);
  });

  test("a middleware may ask for another form in its request", async () => {
    const other = toolStrategy(z.object({ river: z.string() }), { name: "river" });
    const changes = createMiddleware({
      name: "changes",
      wrapModelCall: (request, handler) => handler({ ...request, responseFormat: other }),
    });
    expect((await ask([callOf({ river: "Aare" }, "river")], city, { middleware: [changes] })).value).toEqual({
      river: "Aare",
    });
  });
});

describe("through the provider", () => {
  test("the schema goes along as the provider's setting, and the answer is read", async () => {
    const { model, value, messages } = await ask([JSON.stringify(good)], providerStrategy(city));
    expect(value).toEqual(good);
    expect(model.calls[0]?.options).toMatchObject({
      response_format: { type: "json_schema", json_schema: { schema: { required: ["city", "size"] } } },
    });
    expect(model.calls[0]?.options).not.toHaveProperty("tools");
    expect(messages.map(({ type }) => type)).toEqual(["human", "ai"]);
  });

  test("an answer that does not fit is asked for again", async () => {
    const { model, value } = await ask([JSON.stringify(bad), JSON.stringify(good)], providerStrategy(city));
    expect(value).toEqual(good);
    expect(model.calls[1]?.messages.at(-1)?.text).toMatch(/as JSON and nothing else/);
  });

  test("a bare schema goes there when the model is known to hold to schemas", async () => {
    const model = new ScriptedModel({ answers: [JSON.stringify(good)] });
    Object.defineProperty(model, "profile", { value: { structuredOutput: true } });
    const { value } = await ask([], city, { model });
    expect(value).toEqual(good);
    expect(model.calls[0]?.options).toHaveProperty("response_format");
  });
});

test("the value survives a restart", async () => {
  const first = await ask([callOf(good)], city);
  expect(first.value).toEqual(good);
  const agent = open[0] as ReturnType<typeof createAgent>;
  await agent.thread("t1").passivate();
  expect((await agent.thread("t1").state()).structured_response).toEqual(good);
});

test("each run produces its own value", async () => {
  const model = new ScriptedModel({ answers: [callOf(good), callOf({ city: "Thun", size: 1 })] });
  const agent = createAgent({ model, responseFormat: city, store: "memory:" });
  open.push(agent);
  await agent.thread("t1").run("one").result;
  const { state } = await agent.thread("t1").run({ messages: [new HumanMessage("two")] }).result;
  expect(state.structured_response).toEqual({ city: "Thun", size: 1 });
});

describe("what may be given as responseFormat", () => {
  test.each<[string, unknown, string]>([
    ["a zod object", city, "tool"],
    ["a tool strategy", toolStrategy(city), "tool"],
    ["a provider strategy", providerStrategy(city), "provider"],
    ["LangChain's ToolStrategy", { schema: city, tool: { type: "function" } }, "tool"],
    ["LangChain's list of them", [{ schema: city, tool: { type: "function" } }], "tool"],
    ["LangChain's ProviderStrategy", { schema: city, strict: true }, "provider"],
  ])("%s", (_what, format, kind) => {
    expect(strategyFor(format).kind).toBe(kind);
  });

  test.each([
    ["a text", "json"],
    ["a schema of a text", z.string()],
    ["nothing in it", {}],
    ["null", null],
  ])("not %s", (_what, format) => {
    expect(() =>
      createAgent({ model: new ScriptedModel({ answers: [] }), responseFormat: format, store: "memory:" }),
    ).toThrow(ResponseFormatError);
  });
});
