import { existsSync } from "node:fs";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { localSandboxProvider } from "../../../actors/sandboxes/local.ts";
import type { Sandbox } from "../../../actors/sandboxes/sandbox.ts";
import { bashTool } from "../../../actors/tools/bash.ts";
import type { ToolDefinition, ToolResult } from "../../../actors/tools/define-tool.ts";
import { fileTools } from "../../../actors/tools/file-tools.ts";
import { lsTool } from "../../../actors/tools/ls.ts";
import { readFileTool } from "../../../actors/tools/read-file.ts";
import { strReplaceTool } from "../../../actors/tools/str-replace.ts";
import { NoSandboxError } from "../../../actors/tools/tool-sandbox.ts";
import { writeFileTool } from "../../../actors/tools/write-file.ts";
import { hookState, toolRuntime } from "../middleware/hook-bench.ts";
import { madeThreadFolders } from "../sandboxes/thread-files.ts";

async function thread() {
  const folders = await madeThreadFolders();
  const provider = localSandboxProvider();
  onTestFinished(() => provider.close());
  const sandbox = await provider.acquire({ threadId: "t", folders });
  return { folders, sandbox };
}

/** Calls a tool as the runtime does: arguments parsed by its schema, the sandbox in the runtime. */
async function call<Args>(tool: ToolDefinition<Args>, args: object, sandbox: Sandbox, signal?: AbortSignal) {
  const runtime = toolRuntime(hookState([]), signal ? { signal } : {});
  const result = await tool.run(tool.schema.parse(args), { ...runtime, sandbox: async () => sandbox });
  const { content, status = "success" } =
    typeof result === "string" ? { content: result } : (result as ToolResult);
  return { content: String(content), status };
}

const path = "/mnt/user-data/workspace/a.txt";

describe("ls", () => {
  test("lists the workspace, two levels deep, unless told otherwise", async () => {
    const { sandbox } = await thread();
    for (const name of ["a.txt", "b/c.txt", "b/d/e.txt"]) await sandbox.writeFile(name, "");
    expect((await call(lsTool(), {}, sandbox)).content).toBe("a.txt\nb/\nb/c.txt\nb/d/");
    expect((await call(lsTool(), { path: "/mnt/user-data/workspace/b", depth: 1 }, sandbox)).content).toBe(
      "c.txt\nd/",
    );
    expect((await call(lsTool(), { path: "/mnt/user-data" }, sandbox)).content).toContain(
      "outputs/\nuploads/\n",
    );
  });

  test("says when there is nothing, when there is too much, and when there is no such folder", async () => {
    const { sandbox } = await thread();
    expect((await call(lsTool(), {}, sandbox)).content).toBe("(empty)");
    expect(await call(lsTool(), { path: "gone" }, sandbox)).toMatchObject({ status: "error" });
    await sandbox.exec("seq 1100 | xargs touch");
    const lines = (await call(lsTool(), {}, sandbox)).content.split("\n");
    expect(lines).toHaveLength(1_001);
    expect(lines.at(-1)).toBe("(100 more entries: list a folder in it)");
  });
});

describe("read_file", () => {
  const text = "one\ntwo\nthree\n";

  test.each([
    [{}, text],
    [{ start_line: 2 }, "two\nthree"],
    [{ end_line: 1 }, "one"],
    [{ start_line: 2, end_line: 2 }, "two"],
    [{ start_line: 3, end_line: 99 }, "three"],
  ])("%j", async (range, content) => {
    const { sandbox } = await thread();
    await sandbox.writeFile(path, text);
    expect(await call(readFileTool(), { path, ...range }, sandbox)).toEqual({ content, status: "success" });
  });

  test.each([
    [{ start_line: 4 }, "has 3 lines"],
    [{ start_line: 3, end_line: 2 }, "after end_line"],
  ])("a range that is none: %j", async (range, message) => {
    const { sandbox } = await thread();
    await sandbox.writeFile(path, text);
    const result = await call(readFileTool(), { path, ...range }, sandbox);
    expect(result).toEqual({ content: expect.stringContaining(message), status: "error" });
  });

  test("a long text is cut at a line and says where to read on", async () => {
    const { sandbox } = await thread();
    await sandbox.writeFile(path, Array.from({ length: 100 }, (_, index) => `line ${index + 1}`).join("\n"));
    const tool = readFileTool({ maxCharacters: 50 });
    const first = await call(tool, { path }, sandbox);
    expect(first.content).toMatch(/line 7\n\(Cut after line 7 of 100: read on with start_line 8\.\)$/);
    expect((await call(tool, { path, start_line: 8, end_line: 9 }, sandbox)).content).toBe("line 8\nline 9");
  });

  test("a line that is too long is cut inside, with whole characters", async () => {
    const { sandbox } = await thread();
    await sandbox.writeFile(path, "😀".repeat(100));
    const { content } = await call(readFileTool({ maxCharacters: 51 }), { path }, sandbox);
    expect(content.startsWith(`${"😀".repeat(25)}\n(Cut: line 1 is longer`)).toBe(true);
  });

  test("an empty file, a missing one, a folder and one that is no text are told apart", async () => {
    const { sandbox } = await thread();
    await sandbox.writeFile(path, "");
    await sandbox.writeFile("bin", new Uint8Array([1, 0, 2]));
    expect((await call(readFileTool(), { path }, sandbox)).content).toBe("(empty)");
    expect((await call(readFileTool(), { path: "gone" }, sandbox)).content).toContain("does not exist");
    expect((await call(readFileTool(), { path: "/mnt/user-data/outputs" }, sandbox)).content).toContain(
      "is a folder",
    );
    expect((await call(readFileTool(), { path: "bin" }, sandbox)).content).toContain("not a text file");
  });
});

describe("write_file", () => {
  test("writes, replaces and adds; folders are made", async () => {
    const { sandbox } = await thread();
    const deep = "/mnt/user-data/outputs/a/b.txt";
    const written = await call(writeFileTool(), { path: deep, content: "eins" }, sandbox);
    expect(written.content).toBe(`OK: wrote 4 bytes to ${deep}`);
    await call(writeFileTool(), { path: deep, content: "zwei" }, sandbox);
    await call(writeFileTool(), { path: deep, content: " drei", append: true }, sandbox);
    expect((await call(readFileTool(), { path: deep }, sandbox)).content).toBe("zwei drei");
  });

  test("parallel additions to one file lose nothing", async () => {
    const { sandbox } = await thread();
    const lines = Array.from({ length: 20 }, (_, index) => `${index}\n`);
    const names = ["a.txt", "./a.txt", path];
    await Promise.all(
      lines.map((content, index) =>
        call(writeFileTool(), { path: names[index % 3], content, append: true }, sandbox),
      ),
    );
    const { content } = await call(readFileTool(), { path }, sandbox);
    expect(content.trim().split("\n").sort()).toEqual(lines.map((line) => line.trim()).sort());
  });
});

describe("str_replace", () => {
  const replace = async (text: string, args: object) => {
    const { sandbox } = await thread();
    await sandbox.writeFile(path, text);
    const result = await call(strReplaceTool(), { path, ...args }, sandbox);
    return { ...result, text: new TextDecoder().decode(await sandbox.readFile(path)) };
  };

  test("replaces what stands exactly once, dollar signs and all", async () => {
    expect(await replace("a b c", { old_str: "b", new_str: "$&$1" })).toMatchObject({
      status: "success",
      text: "a $&$1 c",
    });
  });

  test("changes nothing when the text is not there, or there more than once", async () => {
    expect(await replace("a", { old_str: "x", new_str: "y" })).toMatchObject({ status: "error", text: "a" });
    const twice = await replace("b b", { old_str: "b", new_str: "y" });
    expect(twice).toMatchObject({
      status: "error",
      text: "b b",
      content: expect.stringContaining("2 times"),
    });
  });

  test("replace_all replaces every one", async () => {
    const all = await replace("b b", { old_str: "b", new_str: "y", replace_all: true });
    expect(all).toMatchObject({
      status: "success",
      text: "y y",
      content: expect.stringContaining("2 occurrences"),
    });
  });

  test("an empty old text is refused before anything is read", () => {
    expect(strReplaceTool().schema.safeParse({ path, old_str: "", new_str: "x" }).success).toBe(false);
  });
});

describe("bash", () => {
  test("gives output, and for a failure errors and exit code", async () => {
    const { sandbox } = await thread();
    expect(await call(bashTool(), { command: "echo hi" }, sandbox)).toEqual({
      content: "hi",
      status: "success",
    });
    expect(await call(bashTool(), { command: "true" }, sandbox)).toEqual({
      content: "(no output)",
      status: "success",
    });
    expect(await call(bashTool(), { command: "echo out; echo bad >&2; exit 3" }, sandbox)).toEqual({
      content: "out\nstderr:\nbad\nExit code: 3",
      status: "error",
    });
  });

  test("is stopped by its own time limit and by a cancelled run", async () => {
    const { sandbox, folders } = await thread();
    expect((await call(bashTool({ timeoutMs: 100 }), { command: "sleep 60" }, sandbox)).content).toContain(
      "Exit code: 124",
    );
    const abort = new AbortController();
    const running = call(bashTool(), { command: "touch started; sleep 60" }, sandbox, abort.signal);
    await expect.poll(() => existsSync(join(folders.workspace_path, "started"))).toBe(true);
    abort.abort();
    expect((await running).content).toContain("Exit code: 130");
  });

  test("says when the output was cut", async () => {
    const provider = localSandboxProvider({ maxOutputBytes: 4 });
    onTestFinished(() => provider.close());
    const sandbox = await provider.acquire({ threadId: "t", folders: await madeThreadFolders() });
    expect((await call(bashTool(), { command: "echo 123456" }, sandbox)).content).toBe(
      "1234\n(The output was longer and was cut.)",
    );
  });
});

describe("all file tools", () => {
  test("have the names and arguments that models know", () => {
    const shapes = fileTools().map(({ name, schema }) => [
      name,
      Object.keys((schema as { shape?: object }).shape ?? {}),
    ]);
    expect(Object.fromEntries(shapes)).toEqual({
      ls: ["description", "path", "depth"],
      read_file: ["description", "path", "start_line", "end_line"],
      write_file: ["description", "path", "content", "append"],
      str_replace: ["description", "path", "old_str", "new_str", "replace_all"],
      bash: ["description", "command"],
    });
  });

  test("only those that change nothing run again after a crash", () => {
    const again = fileTools().filter(({ idempotent }) => idempotent);
    expect(again.map(({ name }) => name)).toEqual(["ls", "read_file"]);
  });

  test("refuse paths that lead out, as an error for the model without a host path", async () => {
    const { sandbox, folders } = await thread();
    await symlink("/etc", join(folders.workspace_path, "etc"));
    const args = { content: "x", old_str: "x", new_str: "y" };
    for (const tool of fileTools().filter(({ name }) => name !== "bash")) {
      for (const out of [
        "/etc/passwd",
        "../../../../etc/passwd",
        "etc/passwd",
        folders.workspace_path,
        "a\0b",
      ]) {
        const result = await call(tool, { ...args, path: out }, sandbox);
        expect(result).toMatchObject({
          status: "error",
          content: expect.stringContaining("not inside /mnt/user-data"),
        });
        expect(result.content).not.toContain(folders.store);
      }
    }
  });

  test("work in the sandbox that the option names, by value or by thread", async () => {
    const { sandbox } = await thread();
    await sandbox.writeFile("here.txt", "");
    const runtime = toolRuntime(hookState([]));
    const [byValue] = fileTools({ sandbox });
    const [byThread] = fileTools({ sandbox: () => sandbox });
    expect(await byValue?.run({ path: "/mnt/user-data/workspace", depth: 1 }, runtime)).toBe("here.txt");
    expect(await byThread?.run({ path: "/mnt/user-data/workspace", depth: 1 }, runtime)).toBe("here.txt");
  });

  test("without any sandbox say what is missing", async () => {
    await expect(lsTool().run({ path, depth: 1 }, toolRuntime(hookState([])))).rejects.toBeInstanceOf(
      NoSandboxError,
    );
  });
});
