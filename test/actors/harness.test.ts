import { describe, expect, it } from "vitest";
import { z } from "zod";
import { assemble } from "../../actors/assemble.ts";
import { type HarnessOptions, harnessMiddleware } from "../../actors/harness.ts";
import { createMiddleware } from "../../actors/middleware/define-middleware.ts";
import { builtInToolNames } from "../../actors/tools/built-in-names.ts";
import { defineTool } from "../../actors/tools/define-tool.ts";
import { ScriptedModel } from "./scripted-model.ts";

const model = new ScriptedModel({ answers: ["x"] });
const mcpX = defineTool({ name: "mcp_x", description: "x", schema: z.object({}), run: () => "x" });
const localY = defineTool({ name: "local_y", description: "y", schema: z.object({}), run: () => "y" });

/** Every part that is off by default. */
const everything: HarnessOptions = {
  viewImages: { vision: true },
  fallbackModels: [model],
  humanApproval: { interruptOn: { bash: true } },
  dynamicContext: {},
  summarization: { model },
  modelCallLimit: { runLimit: 10 },
  deferredTools: { tools: [mcpX], routing: { mcp_x: { keywords: ["x"] } } },
  subAgents: { agents: {}, runChild: async () => ({ status: "completed", text: "" }) },
  custom: [createMiddleware({ name: "own" })],
};

const namesOf = (options?: HarnessOptions) => harnessMiddleware(options).map(({ name }) => name);
const assembled = (options?: HarnessOptions) =>
  assemble({ model, tools: [localY], middleware: harnessMiddleware(options) });
const toolsOf = (options?: HarnessOptions) => assembled(options).tools.map(({ name }) => name);

describe("the default chain", () => {
  it("CHN-04: the order of its parts, with everything on", () => {
    expect(namesOf(everything)).toEqual([
      "input-sanitization",
      "tool-output-budget",
      "thread-data",
      "uploads",
      "sandbox",
      "files",
      "artifacts",
      "dangling-tool-calls",
      "model-fallback",
      "model-retry",
      "tool-errors",
      "dynamic-context",
      "summarization",
      "model-call-limit",
      "todos",
      "token-usage",
      "title",
      "view-images",
      "mcp-routing",
      "promoted-tools",
      "human-approval",
      "sub-agents",
      "subagent-limit",
      "loop-detection",
      "own",
      "empty-answer",
      "length-stop",
      "safety-stop",
      "clarification",
    ]);
  });

  it("the parts that are on by default, and their fields and tools", () => {
    expect(namesOf()).toEqual(
      namesOf(everything).filter(
        (name) =>
          ![
            "model-fallback",
            "human-approval",
            "dynamic-context",
            "summarization",
            "model-call-limit",
            "mcp-routing",
            "promoted-tools",
            "sub-agents",
            "subagent-limit",
            "own",
          ].includes(name),
      ),
    );
    const { reducer } = assembled();
    for (const field of ["sandbox", "thread_data", "title", "todos", "uploaded_files", "viewed_images"]) {
      expect(reducer.fields).toContain(field);
    }
    expect(toolsOf()).toEqual([
      "local_y",
      "list_uploaded_files",
      "ls",
      "read_file",
      "write_file",
      "str_replace",
      "bash",
      "present_files",
      "write_todos",
      "view_image",
      "ask_clarification",
    ]);
  });

  it("everything together has no conflict", () => {
    expect(toolsOf(everything)).toEqual(
      expect.arrayContaining(["task", "tool_search", "mcp_x", "write_todos"]),
    );
  });

  it("the list of built-in names has all of its tools", () => {
    const builtIn = toolsOf(everything).filter((name) => name !== "mcp_x" && name !== "local_y");
    expect(builtIn.sort()).toEqual([...builtInToolNames].sort());
  });

  const leavable = [
    "inputSanitization",
    "toolOutputBudget",
    "threadData",
    "uploads",
    "sandbox",
    "files",
    "artifacts",
    "danglingToolCalls",
    "modelRetry",
    "toolErrors",
    "todos",
    "tokenUsage",
    "title",
    "viewImages",
    "loopDetection",
    "emptyAnswer",
    "lengthStop",
    "safetyStop",
    "clarification",
  ] as const;
  it.each(leavable)("%s can be left out", (part) => {
    const name = part.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    expect(namesOf()).toContain(name);
    expect(namesOf({ [part]: false })).toEqual(namesOf().filter((each) => each !== name));
    expect(() => assembled({ [part]: false })).not.toThrow();
  });
});

describe("parts that bring tools", () => {
  it("TDO-19: without plan mode there is no write_todos and no todos middleware", () => {
    expect(toolsOf({ todos: false })).not.toContain("write_todos");
    expect(assembled({ todos: false }).reducer.fields).not.toContain("todos");
  });

  it("IMG-17: without vision there is no view_image and no images middleware", () => {
    expect(toolsOf({ viewImages: { vision: false } })).not.toContain("view_image");
    expect(namesOf({ viewImages: { vision: false } })).not.toContain("view-images");
  });

  it("TSR-21: with deferred tools there is tool_search, and they are deferred", () => {
    expect(toolsOf({ deferredTools: { tools: [mcpX] } })).toEqual(
      expect.arrayContaining(["local_y", "tool_search", "mcp_x"]),
    );
  });

  it("TSR-22: without them there is none", () => {
    expect(toolsOf()).not.toContain("tool_search");
    expect(assembled().reducer.fields).not.toContain("promoted");
  });

  it("a deferred tool with the name of a built-in is refused by name", () => {
    const fake = defineTool({ name: "bash", description: "", schema: z.object({}), run: () => "" });
    expect(() => assembled({ deferredTools: { tools: [fake] } })).toThrow(/bash/);
  });
});
