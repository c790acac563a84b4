import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { ToolMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { interrupt } from "../../../actors/interrupt.ts";
import type {
  Middleware,
  ToolCallRequest,
  ToolCallResult,
} from "../../../actors/middleware/define-middleware.ts";
import { sandboxMiddleware } from "../../../actors/middleware/sandbox.ts";
import {
  type ToolOutputBudgetOptions,
  toolOutputBudgetMiddleware,
} from "../../../actors/middleware/tool-output-budget.ts";
import { ToolOutputConfigError } from "../../../actors/middleware/tool-output-config.ts";
import { storeToolOutput, ToolOutputNotStoredError } from "../../../actors/middleware/tool-output-file.ts";
import type { Sandbox } from "../../../actors/sandboxes/sandbox.ts";
import type { ToolResult } from "../../../actors/tools/define-tool.ts";
import { createMemoryBlobs } from "../../../events/blobs/memory.ts";
import { SandboxBound } from "../../../events/sandbox.ts";
import { toolOutputCases } from "../../cases/tool-output.ts";
import { scriptedProvider } from "../sandboxes/scripted-provider.ts";
import { madeThreadFolders } from "../sandboxes/thread-files.ts";
import { callModel, callTool, modelRequest, toolRequest } from "./hook-bench.ts";

const long = "x".repeat(20_000);

async function bench(options: { folders?: boolean; fields?: Record<string, unknown> } = {}) {
  const { store, ...folders } = await madeThreadFolders();
  const blobs = createMemoryBlobs();
  const fields = { ...(options.folders === false ? {} : { thread_data: folders }), ...options.fields };
  const request = (name: string) => toolRequest({ name }, { folder: store, blobs, fields });
  const storedFiles = async () => readdir(join(folders.outputs_path, ".tool-results")).catch(() => []);
  const hostPathOf = (virtual: string) =>
    join(folders.outputs_path, virtual.slice("/mnt/user-data/outputs/".length));
  return { folders, blobs, request, storedFiles, hostPathOf };
}

const call = async (config: ToolOutputBudgetOptions, request: ToolCallRequest, result: ToolCallResult) => {
  const middleware = toolOutputBudgetMiddleware(config);
  return middleware.wrapToolCall ? (await callTool(middleware, request, () => result)).result : result;
};

/** Data of the first event of a result. */
const stored = (result: ToolCallResult) => {
  const event = (result as ToolResult).events?.[0] ?? { type: "nothing", data: {} };
  expect(event.type).toBe("ToolOutputExternalized");
  return event.data as { path: string; size: number; sha256: string; callId: string };
};

const plain = (content: unknown) =>
  typeof content === "string" ? content : (content as { text: string }[]).map(({ text }) => text).join("\n");

describe("a long result goes to a file", () => {
  for (const { id, what, config = {}, tool, content, folders, file, inCommand } of toolOutputCases) {
    test(`${id}: ${what}`, async () => {
      const { request, storedFiles, hostPathOf, blobs } = await bench({
        ...(folders === false && { folders }),
      });
      const metadata = { additional_kwargs: { k: 1 }, status: "success" } as const;
      const message = new ToolMessage({
        content: content as string,
        tool_call_id: "c1",
        name: tool,
        ...metadata,
      });
      const given: ToolCallResult = inCommand
        ? { update: { messages: [message], artifacts: ["a"] } }
        : message;
      const result = await call(config, request(tool), given);
      if (file === null) {
        expect(result).toBe(given);
        expect(await storedFiles()).toEqual([]);
        return;
      }
      const { path, size, sha256, callId } = stored(result);
      expect({ callId, size }).toEqual({ callId: "c1", size: Buffer.byteLength(plain(content)) });
      expect(path.startsWith("/mnt/user-data/outputs/.tool-results/")).toBe(true);
      expect(basename(path)).toMatch(new RegExp(`^${file.prefix}-[0-9a-f]{12}\\${file.extension}$`));
      expect(await storedFiles()).toEqual([basename(path)]);
      expect(await readFile(hostPathOf(path), "utf8")).toBe(plain(content));
      expect(Buffer.from(await blobs.get(sha256)).toString()).toBe(plain(content));

      const shown = result as ToolResult;
      expect(shown).toMatchObject(metadata);
      expect(String(shown?.content)).toContain(path);
      if (inCommand) expect(result).toMatchObject({ update: { artifacts: ["a"] } });
    });
  }

  test("a result of exactly the threshold stays", async () => {
    const { request, storedFiles } = await bench();
    const given = { content: "x".repeat(12_000) };
    expect(await call({}, request("bash"), given)).toBe(given);
    expect(await storedFiles()).toEqual([]);
  });

  test("the message keeps the beginning and the end that the options say", async () => {
    const { request } = await bench();
    const text = `${"a".repeat(5_000)}${"b".repeat(5_000)}${"c".repeat(5_000)}`;
    const { content } = (await call({ preview_head: 20, preview_tail: 10 }, request("bash"), {
      content: text,
    })) as ToolResult;
    expect(String(content)).toContain(
      `\n${"a".repeat(20)}\n[14970 characters are left out here]\n${"c".repeat(10)}`,
    );
    const usual = (await call({}, request("bash"), { content: text })) as ToolResult;
    expect(String(usual.content)).toContain(
      `\n${"a".repeat(2_000)}\n[12000 characters are left out here]\n${"c".repeat(1_000)}`,
    );
  });

  test("read_file is exempt, so that a stored result can be read; others by option", async () => {
    const { request } = await bench();
    const given = { content: long };
    expect(await call({}, request("read_file"), given)).toBe(given);
    expect(await call({ exempt_tools: ["mine"] }, request("mine"), given)).toBe(given);
    expect(await call({ exempt_tools: ["mine"] }, request("read_file"), given)).not.toBe(given);
  });

  test("the threshold and the folder come from the options; the folder is one name", async () => {
    const { request, folders } = await bench();
    await call({ externalize_above: 10, storage_folder: "long" }, request("bash"), {
      content: "x".repeat(11),
    });
    expect(await readdir(join(folders.outputs_path, "long"))).toHaveLength(1);
    for (const storage_folder of ["a/b", "..", ""]) {
      expect(() => toolOutputBudgetMiddleware({ storage_folder })).toThrow(ToolOutputConfigError);
    }
  });

  test("a call that runs again after a crash writes the same file", async () => {
    const { request, storedFiles } = await bench();
    await call({}, request("bash"), { content: long });
    await call({}, request("bash"), { content: long });
    expect(await storedFiles()).toHaveLength(1);
  });

  test("a tool's name cannot lead the file elsewhere", async () => {
    const { request, storedFiles } = await bench();
    await call({}, request("../../evil tool"), { content: long });
    expect((await storedFiles())[0]).toMatch(/^evil_tool-[0-9a-f]{12}\.txt$/);
  });

  test("the tool's own events are kept behind the new one, and a question comes through", async () => {
    const { request } = await bench();
    const own = SandboxBound({ sandbox_id: "s1" });
    const { events } = (await call({}, request("bash"), { content: long, events: [own] })) as ToolResult;
    expect(events?.map(({ type }) => type)).toEqual(["ToolOutputExternalized", "SandboxBound"]);
    const question = interrupt("approval", {});
    expect(await call({}, request("bash"), question)).toBe(question);
  });

  test("the folders option says where, for a thread that works in another's folders", async () => {
    const mine = await bench();
    const parents = await bench();
    await call({ folders: () => parents.folders }, mine.request("bash"), { content: long });
    expect(await mine.storedFiles()).toEqual([]);
    expect(await parents.storedFiles()).toHaveLength(1);
  });
});

describe("a sandbox that does not work on the host's folders", () => {
  const remote = async () => {
    const provider = scriptedProvider({ ids: ["s1"], folders: await madeThreadFolders() });
    return { provider, chain: [sandboxMiddleware({ provider }), toolOutputBudgetMiddleware()] as const };
  };
  /** The sandbox middleware around the budget, and the tool inside both. */
  const callBoth = async (
    [outer, inner]: readonly [Middleware, Middleware],
    request: ToolCallRequest,
    content: string,
  ) => {
    const { result } = await callTool(outer, request, async (passed) => {
      return (await callTool(inner, passed, () => ({ content }))).result;
    });
    return result as ToolResult;
  };

  test("OUT-17: the file is written in the sandbox, nothing on the host, and the model can read it there", async () => {
    const { provider, chain } = await remote();
    const { request, storedFiles } = await bench();
    const { events } = await callBoth(chain, request("bash"), long);
    expect(events?.map(({ type }) => type)).toEqual(["SandboxBound", "ToolOutputExternalized"]);
    const { path } = stored({ content: "", events: events?.slice(1) ?? [] });
    const box = await provider.get("s1");
    expect(Buffer.from((await box?.readFile(path)) ?? []).toString()).toBe(long);
    expect(await storedFiles()).toEqual([]);
  });

  test("a file that is not there after it was written does not count: the result is kept or cut", async () => {
    const { provider, chain } = await remote();
    const forgetful = (box: Sandbox): Sandbox => ({ ...box, stat: async () => undefined });
    const outer = sandboxMiddleware({
      provider: { ...provider, acquire: async (asked) => forgetful(await provider.acquire(asked)) },
    });
    const { request } = await bench();
    expect((await callBoth([outer, chain[1]], request("bash"), long)).content).toBe(long);
    const cut = await callBoth([outer, chain[1]], request("bash"), "x".repeat(30_001));
    expect(String(cut.content).length).toBeLessThanOrEqual(30_000);
  });

  test("the loss has a name", async () => {
    const files = { writeFile: async () => {}, stat: async () => undefined };
    const storing = storeToolOutput({
      tool: "bash",
      callId: "c",
      text: "x",
      folder: "f",
      files,
      blobs: createMemoryBlobs(),
    });
    await expect(storing).rejects.toBeInstanceOf(ToolOutputNotStoredError);
  });

  test("a sandbox that cannot be had costs no result", async () => {
    const middleware = sandboxMiddleware({ provider: scriptedProvider({ ids: [] }) });
    const { request } = await bench();
    expect(await callBoth([middleware, toolOutputBudgetMiddleware()], request("bash"), long)).toEqual({
      content: long,
    });
  });
});

describe("without a place for files", () => {
  test("a very long result is cut, at exactly the options' limits", async () => {
    const { request } = await bench({ folders: false });
    const stays = { content: "x".repeat(30_000) };
    expect(await call({}, request("bash"), stays)).toBe(stays);
    const { content } = (await call({}, request("bash"), { content: "x".repeat(30_001) })) as ToolResult;
    expect(content).toBe(`${"x".repeat(8_000)}\n[19001 characters are left out here]\n${"x".repeat(3_000)}`);
    const options = { fallback_max: 13_000, fallback_head: 10, fallback_tail: 5 };
    const small = (await call(options, request("bash"), { content: long })) as ToolResult;
    expect(small.content).toBe(`${"x".repeat(10)}\n[19985 characters are left out here]\n${"x".repeat(5)}`);
  });

  test("a folder that cannot be written costs no result", async () => {
    const { request, folders } = await bench();
    await writeFile(join(folders.outputs_path, ".tool-results"), "a file is in the way");
    const given = { content: long };
    expect(await call({}, request("bash"), given)).toBe(given);
  });
});

describe("earlier results, as the model is shown them", () => {
  const result = (name: string, content: string) => ({ type: "tool", name, content, tool_call_id: "c1" });
  const shown = async (messages: readonly { type: string; content: string; [key: string]: unknown }[]) => {
    const request = modelRequest(messages);
    const { requests } = await callModel(toolOutputBudgetMiddleware(), request);
    return { before: request.messages, after: requests[0]?.messages ?? [] };
  };

  test("are cut above the hard limit, in the request only", async () => {
    const { before, after } = await shown([
      { type: "human", content: "q" },
      result("bash", "x".repeat(40_000)),
    ]);
    expect(before[1]?.text).toHaveLength(40_000);
    expect(after[1]?.text.length).toBeLessThanOrEqual(30_000);
    expect(after[1]).toMatchObject({ id: "m1", tool_call_id: "c1", name: "bash" });
    expect(after[0]).toBe(before[0]);
  });

  test("stay as they are below it, when they are exempt, and when a user wrote them", async () => {
    const { before, after } = await shown([
      { type: "human", content: "x".repeat(40_000) },
      result("bash", "x".repeat(30_000)),
      result("read_file", "x".repeat(40_000)),
    ]);
    expect(after).toBe(before);
  });
});

test("an unknown key is an error that names it", () => {
  expect(() => toolOutputBudgetMiddleware({ treshold: 1 } as never)).toThrow(/treshold/);
});
