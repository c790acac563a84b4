import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAgent } from "../../../actors/create-agent.ts";
import type { HarnessOptions } from "../../../actors/harness.ts";
import type { McpServerConfig } from "../../../actors/mcp/mcp-config.ts";
import type { Message } from "../../../events/message.ts";
import { openStore } from "../../../events/open-store.ts";
import type { Store } from "../../../events/store.ts";
import { connected, testServer } from "../mcp/mcp-bench.ts";
import { dataOf } from "../recorded-events.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { callsTools } from "../simple-tools.ts";

type Answers = ConstructorParameters<typeof ScriptedModel>[0]["answers"];

async function agentWith(
  server: McpServerConfig,
  answers: Answers,
  shared?: Store,
  more: HarnessOptions = {},
) {
  const mcp = await connected({ calc: server });
  const store = shared ?? (await openStore("memory:"));
  const model = new ScriptedModel({ answers });
  const agent = createAgent({
    model,
    store,
    preset: "harness",
    harness: {
      ...more,
      sandbox: false,
      deferredTools: { tools: mcp, routing: { calc_add: { keywords: ["sum"] } } },
    },
  });
  onTestFinished(async () => {
    await agent.close();
    if (!shared) await store.close();
  });
  const offered = () =>
    model.calls.map(({ options }) =>
      ((options.tools ?? []) as { function: { name: string } }[])
        .map((tool) => tool.function.name)
        .filter((name) => name.startsWith("calc_")),
    );
  return { agent, model, mcp, store, offered };
}

const results = (state: { readonly [field: string]: unknown }) =>
  (state.messages as Message[])
    .filter(({ type }) => type === "tool")
    .map(({ content, status }) => [content, status]);

const load = (name: string) =>
  callsTools(["tool_search", { query: `select:calc_${name}` }, `search-${name}`]);

describe("tools of an MCP server in a thread", () => {
  it("are hidden and refused until they are found, then offered and run", async () => {
    const { agent, offered } = await agentWith(testServer(), [
      callsTools(["calc_add", { a: 1, b: 2 }, "early"]),
      load("add"),
      callsTools(["calc_add", { a: 1, b: 2 }, "late"]),
      "3",
    ]);
    const result = await agent.thread("t").run("one and two?").result;
    expect(offered()).toEqual([[], [], ["calc_add"], ["calc_add"]]);
    const [early, , late] = results(result.state);
    expect(early).toEqual([expect.stringMatching(/tool_search/), "error"]);
    expect(late).toEqual(["3", undefined]);
  });

  it("nobody is asked to approve a call that is refused, because its tool is not loaded", async () => {
    const early = callsTools(["calc_add", { a: 1, b: 2 }, "early"]);
    const late = callsTools(["calc_add", { a: 1, b: 2 }, "late"]);
    const approval = { humanApproval: { interruptOn: { calc_add: true } } };
    const { agent } = await agentWith(testServer(), [early, load("add"), late, "3"], undefined, approval);
    const thread = agent.thread("t");
    const asked = await thread.run("one and two?").result;
    expect(asked.status).toBe("interrupted");
    expect(await dataOf(thread, "RunInterrupted")).toMatchObject([
      { interrupts: [{ value: { tool_call_id: "late" } }] },
    ]);
    expect(results(asked.state)[0]).toEqual([expect.stringMatching(/not loaded/), "error"]);
    const done = await thread.resume({ all: { type: "approve" } }).result;
    expect(results(done.state).at(-1)).toEqual(["3", undefined]);
  });

  it("are loaded by a keyword of the user's, and promotions outlive a restart", async () => {
    const store = await openStore("memory:");
    onTestFinished(() => store.close());
    const first = await agentWith(testServer(), [callsTools(["calc_add", { a: 1, b: 2 }, "c"]), "3"], store);
    await first.agent.thread("t").run("the sum, please").result;
    expect(first.offered()[0]).toEqual(["calc_add"]);
    await first.agent.close();
    const second = await agentWith(testServer(), ["hello"], store);
    await second.agent.thread("t").run("and now something else").result;
    expect(second.offered()[0]).toEqual(["calc_add"]);
  });

  it("lose their promotion when the catalogue changes, in the middle of a thread", async () => {
    const { agent, mcp, offered } = await agentWith(testServer(), [
      load("grow"),
      callsTools(["calc_grow", {}, "c"]),
      "grown",
      "next",
    ]);
    const thread = agent.thread("t");
    await thread.run("grow").result;
    await vi.waitFor(() => expect(mcp.tools().map(({ name }) => name)).toContain("calc_orders"));
    await thread.run("again").result;
    expect(offered()[1]).toEqual(["calc_grow"]);
    expect(offered()[3]).toEqual([]);
  });
});

describe("servers that misbehave leave the thread usable", () => {
  it.each([
    ["hang", { callTimeoutMs: 300 }, /no answer within 300 ms/],
    ["die", {}, /the server ended/],
    ["fail", {}, /no luck/],
  ] as const)(
    "%s: an error for the model, recorded, and the next call works",
    async (name, config, message) => {
      const { agent } = await agentWith(testServer(config), [
        load(name),
        callsTools([`calc_${name}`, {}, "bad"]),
        load("add"),
        callsTools(["calc_add", { a: 2, b: 2 }, "good"]),
        "4",
      ]);
      const thread = agent.thread("t");
      const result = await thread.run("try").result;
      expect(result.status).toBe("completed");
      expect(results(result.state)[1]).toEqual([expect.stringMatching(message), "error"]);
      expect(results(result.state)[3]).toEqual(["4", undefined]);
      expect(await dataOf(thread, "ToolCallFailed")).toMatchObject([{ callId: "bad" }]);
    },
  );

  it("a huge result goes to a file, with a preview for the model", async () => {
    const { agent } = await agentWith(testServer(), [
      load("huge"),
      callsTools(["calc_huge", { bytes: 300_000 }, "huge"]),
      "long",
    ]);
    const thread = agent.thread("t");
    const result = await thread.run("much").result;
    expect(String(results(result.state)[1]?.[0]).length).toBeLessThan(5_000);
    expect(await dataOf(thread, "ToolOutputExternalized")).toMatchObject([{ callId: "huge", size: 300_000 }]);
  });
});
