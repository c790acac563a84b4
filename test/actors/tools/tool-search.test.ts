import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool, type ToolResult } from "../../../actors/tools/define-tool.ts";
import { createToolCatalogue, searchTools } from "../../../actors/tools/tool-catalogue.ts";
import { toolSearchTool } from "../../../actors/tools/tool-search.ts";
import { queries, searchCatalogue } from "../../cases/tool-search.ts";
import { hookState, toolRuntime } from "../middleware/hook-bench.ts";

const tool = (name: string, description = name) =>
  defineTool({ name, description, schema: z.object({ a: z.string() }), run: () => name });

describe("queries", () => {
  for (const { id, query, names, what } of queries) {
    it(`${id}: ${JSON.stringify(query)}: ${what}`, () => {
      expect(searchTools(searchCatalogue, query).map(({ name }) => name)).toEqual(names);
    });
  }

  it("select has no cap", () => {
    const names = [1, 2, 3, 4, 5, 6].map((number) => `t_${number}`);
    expect(searchTools(searchCatalogue, `select:${names.join(",")}`)).toHaveLength(6);
  });

  it("a text that is no pattern is found as it stands", () => {
    expect(searchTools(searchCatalogue, "sum(a, b").map(({ name }) => name)).toEqual(["calc"]);
  });

  it("a pattern that could run for ever is taken as a text", () => {
    const long = [{ name: "x", description: "a".repeat(5_000) }];
    const before = performance.now();
    for (const query of ["(a+)+$", "(a|a)*$", "((a*)*)*b", "a*a*a*a*a*a*b"]) {
      expect(searchTools(long, query)).toEqual([]);
    }
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});

describe("the hash of a catalogue", () => {
  const a = tool("a");
  const b = tool("b");

  it("TSR-18: 16 hex digits that tell members and descriptions, not the order", () => {
    const [ab, ba, onlyA, other] = [[a, b], [b, a], [a], [tool("a", "another"), b]].map(
      (tools) => createToolCatalogue(tools).hash,
    );
    expect(ab).toMatch(/^[0-9a-f]{16}$/);
    expect(ba).toBe(ab);
    expect(new Set([ab, onlyA, other]).size).toBe(3);
  });

  it("tells a changed argument", () => {
    const changed = defineTool({
      name: "a",
      description: "a",
      schema: z.object({ b: z.string() }),
      run: () => "",
    });
    expect(createToolCatalogue([changed]).hash).not.toBe(createToolCatalogue([a]).hash);
  });
});

describe("tool_search", () => {
  const catalogue = createToolCatalogue(
    searchCatalogue.map(({ name, description }) => tool(name, description)),
  );
  const search = async (query: string) =>
    (await toolSearchTool(() => catalogue).run({ query }, toolRuntime(hookState([])))) as ToolResult;

  it("TSR-19: gives the schemas and promotes the names under the current hash", async () => {
    const { content, events } = await search("select:calc");
    expect(JSON.parse(String(content))).toMatchObject([
      { name: "calc", parameters: { type: "object", properties: { a: { type: "string" } } } },
    ]);
    expect(events).toMatchObject([
      { type: "ToolsPromoted", data: { catalogHash: catalogue.hash, names: ["calc"] } },
    ]);
  });

  it("TSR-20: no match gives a sentence and promotes nothing", async () => {
    const { content, events } = await search("select:none");
    expect(() => JSON.parse(String(content))).toThrow();
    expect(events).toMatchObject([{ data: { catalogHash: catalogue.hash, names: [] } }]);
  });
});
