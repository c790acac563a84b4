import { describe, expect, it } from "vitest";
import { z } from "zod";
import { mcpRoutingMiddleware } from "../../../actors/middleware/mcp-routing.ts";
import { deferredToolsPrompt, promotedToolsMiddleware } from "../../../actors/middleware/promoted-tools.ts";
import { type AgentTool, defineTool } from "../../../actors/tools/define-tool.ts";
import { createToolCatalogue } from "../../../actors/tools/tool-catalogue.ts";
import { guarded, routed, routing, visibility } from "../../cases/tool-search.ts";
import { callHook, callModel, callTool, hookState, modelRequest, toolRequest } from "./hook-bench.ts";

const tool = (name: string) => defineTool({ name, description: name, schema: z.object({}), run: () => name });
const [mcpA, mcpB, local] = [tool("mcp_a"), tool("mcp_b"), tool("local")];
const all = [mcpA, mcpB, local];

function promotion(tools: readonly AgentTool[], promoted?: { hash: "current" | "old"; names: string[] }) {
  if (!promoted) return {};
  const catalog_hash = promoted.hash === "current" ? createToolCatalogue(tools).hash : "0123456789abcdef";
  return { promoted: { catalog_hash, names: promoted.names } };
}

describe("the first line: what is not promoted is not offered", () => {
  for (const { id, what, deferred, promoted, visible } of visibility) {
    it(`${id}: ${what}`, async () => {
      const tools = all.filter(({ name }) => deferred.includes(name));
      const middleware = promotedToolsMiddleware({ tools });
      const request = modelRequest([], { tools: all, fields: promotion(tools, promoted) });
      const { requests } = await callModel(middleware, request);
      expect(requests[0]?.tools.map(({ name }) => name)).toEqual(visible);
    });
  }

  it("TSR-24: the prompt lists names only, sorted and escaped", () => {
    const prompt = deferredToolsPrompt(["b", "a</available-deferred-tools>"]);
    const lines = prompt.split("\n");
    expect(lines.slice(-4)).toEqual([
      "<available-deferred-tools>",
      "a&lt;/available-deferred-tools&gt;",
      "b",
      "</available-deferred-tools>",
    ]);
  });

  it("the prompt names what is still hidden, and nothing when all is promoted", async () => {
    const tools = [mcpA, mcpB];
    const middleware = promotedToolsMiddleware({ tools });
    const some = modelRequest([], {
      tools: all,
      systemPrompt: "Hi.",
      fields: promotion(tools, { hash: "current", names: ["mcp_a"] }),
    });
    const prompt = (await callModel(middleware, some)).requests[0]?.systemPrompt;
    expect(prompt).toMatch(/^Hi\.\n\n/);
    expect(prompt).toContain("\nmcp_b\n");
    expect(prompt).not.toContain("mcp_a");
    const every = {
      ...some,
      state: hookState([], promotion(tools, { hash: "current", names: ["mcp_a", "mcp_b"] })),
    };
    expect((await callModel(middleware, every)).requests[0]?.systemPrompt).toBe("Hi.");
  });

  it("TSR-21: deferred tools stay tools of the agent, beside tool_search", () => {
    const names = promotedToolsMiddleware({ tools: [mcpA] }).tools?.map((each) => (each as AgentTool).name);
    expect(names).toEqual(["tool_search", "mcp_a"]);
  });
});

describe("the second line: a call of what is not promoted is refused", () => {
  const tools = [mcpA];
  const middleware = promotedToolsMiddleware({ tools });
  for (const { id, what, call, promoted, refused } of guarded) {
    it(`${id}: ${what}`, async () => {
      const found = all.find(({ name }) => name === call);
      const request = toolRequest(
        { name: call, id: "t1" },
        { ...(found ? { tool: found } : {}), fields: promotion(tools, promoted) },
      );
      const { requests, result } = await callTool(middleware, request);
      expect(requests).toHaveLength(refused ? 0 : 1);
      if (!refused) return;
      expect(result).toMatchObject({ status: "error", tool_call_id: "t1" });
      expect((result as { text: string }).text).toContain("tool_search");
    });
  }
});

describe("a source whose tools change", () => {
  it("offers and runs what is promoted, and a changed catalogue ends the promotion", async () => {
    let tools: readonly AgentTool[] = [mcpA];
    const middleware = promotedToolsMiddleware({ tools: { tools: () => tools } });
    const fields = promotion(tools, { hash: "current", names: ["mcp_a"] });
    const request = modelRequest([], { tools: [local], fields });
    const offered = async () =>
      (await callModel(middleware, request)).requests[0]?.tools.map(({ name }) => name) ?? [];
    expect(await offered()).toEqual(["local", "mcp_a"]);
    const ran = await callTool(middleware, toolRequest({ name: "mcp_a" }, { fields }));
    expect(ran.requests[0]?.tool).toBe(mcpA);

    tools = [mcpA, mcpB];
    expect(await offered()).toEqual(["local"]);
    expect((await callTool(middleware, toolRequest({ name: "mcp_a" }, { fields }))).requests).toEqual([]);
  });

  it("a tool of the agent's own with the same name is not touched", async () => {
    const own = tool("mcp_a");
    const middleware = promotedToolsMiddleware({ tools: { tools: () => [mcpA] } });
    const { requests } = await callModel(middleware, modelRequest([], { tools: [own] }));
    expect(requests[0]?.tools).toEqual([own]);
    expect(
      (await callTool(middleware, toolRequest({ name: "mcp_a" }, { tool: own }))).requests[0]?.tool,
    ).toBe(own);
  });
});

describe("routing by keywords", () => {
  const tools = Object.keys(routing).map(tool);
  for (const { id, what, topK, messages, names } of routed) {
    it(`${id}: ${what}`, async () => {
      const middleware = mcpRoutingMiddleware({ tools, routing, topK });
      const state = hookState(messages.map((content) => ({ type: "human", content })));
      const outcome = await callHook(middleware.beforeModel, state);
      if (names === null) return expect(outcome).toBeUndefined();
      expect(outcome?.events).toMatchObject([
        { type: "ToolsPromoted", data: { catalogHash: createToolCatalogue(tools).hash, names } },
      ]);
    });
  }

  it("what is promoted already is not promoted again", async () => {
    const middleware = mcpRoutingMiddleware({ tools, routing });
    const state = hookState(
      [{ type: "human", content: "orders" }],
      promotion(tools, { hash: "current", names: ["top_tool", "a_tool"] }),
    );
    expect(await callHook(middleware.beforeModel, state)).toBeUndefined();
  });

  it("the user's own text counts, not the block of uploads in front, nor hidden messages", async () => {
    const middleware = mcpRoutingMiddleware({ tools, routing });
    const uploaded = {
      type: "human",
      content: "<current_uploads>orders.csv</current_uploads>\n\nhello",
      additional_kwargs: { original_user_content: "hello" },
    };
    const hidden = { type: "human", content: "orders", additional_kwargs: { hide_from_ui: true } };
    expect(await callHook(middleware.beforeModel, hookState([uploaded, hidden]))).toBeUndefined();
  });

  it("a rule for a tool that is not in the catalogue promotes nothing", async () => {
    const middleware = mcpRoutingMiddleware({ tools: [], routing });
    const state = hookState([{ type: "human", content: "orders" }]);
    expect(await callHook(middleware.beforeModel, state)).toBeUndefined();
  });
});
