import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { artifactsMiddleware } from "../../../actors/middleware/artifacts.ts";
import { createFolderFiles } from "../../../actors/sandboxes/folder-files.ts";
import type { ToolDefinition, ToolResult } from "../../../actors/tools/define-tool.ts";
import { presentFilesTool } from "../../../actors/tools/present-files.ts";
import { NoSandboxError } from "../../../actors/tools/tool-sandbox.ts";
import { createThreadReducer } from "../../../reducers/built-in.ts";
import { presentFilesCases } from "../../cases/artifacts.ts";
import { hookState, toolRuntime } from "../middleware/hook-bench.ts";
import { scriptedProvider } from "../sandboxes/scripted-provider.ts";
import { madeThreadFolders } from "../sandboxes/thread-files.ts";

const reducer = createThreadReducer();

async function thread() {
  const folders = await madeThreadFolders();
  const files = createFolderFiles(folders);
  await files.writeFile("/mnt/user-data/outputs/r.md", "# R");
  await files.writeFile("/mnt/user-data/outputs/sub/c.png", "");
  await files.writeFile("/mnt/user-data/workspace/n.txt", "n");
  await symlink("../workspace/n.txt", join(folders.outputs_path, "link.txt"));
  const sandbox = scriptedProvider({ ids: [], folders }).place("s1", "t");
  return { folders, sandbox };
}

async function present(filepaths: readonly string[], given?: Awaited<ReturnType<typeof thread>>) {
  const { folders, sandbox } = given ?? (await thread());
  const tool = presentFilesTool({ sandbox });
  const named = filepaths.map((path) =>
    path.replace("{OUT}", folders.outputs_path).replace("{WORK}", folders.workspace_path),
  );
  const result = (await tool.run({ filepaths: named }, toolRuntime(hookState([])))) as ToolResult;
  expect(JSON.stringify(result)).not.toContain(folders.store);
  return result;
}

describe("present_files", () => {
  for (const { id, what, given, presented } of presentFilesCases) {
    test(`${id}: ${what}`, async () => {
      const result = await present(given);
      expect(result.status === "error").toBe(presented === null);
      expect((result.events ?? []).map(({ data }) => data)).toEqual(
        presented === null ? [] : [{ paths: presented }],
      );
    });
  }

  test("one bad path, and nothing is presented", async () => {
    const result = await present(["/mnt/user-data/outputs/r.md", "/etc/passwd"]);
    expect(result).toMatchObject({
      status: "error",
      content: expect.stringContaining("nothing was presented"),
    });
    expect(result.events).toBeUndefined();
  });

  test("the outputs folder itself, control characters and folders that are links out are refused", async () => {
    const given = await thread();
    await mkdir(join(given.folders.workspace_path, "w"));
    await writeFile(join(given.folders.workspace_path, "w", "f"), "");
    await symlink("../workspace/w", join(given.folders.outputs_path, "w"));
    for (const path of [
      "/mnt/user-data/outputs",
      "/mnt/user-data/outputs/a\nb",
      "/mnt/user-data/outputs/w/f",
    ]) {
      expect((await present([path], given)).status).toBe("error");
    }
  });

  test("a link inside the outputs presents the file that it leads to", async () => {
    const given = await thread();
    await symlink("sub/c.png", join(given.folders.outputs_path, "latest.png"));
    const result = await present(["/mnt/user-data/outputs/latest.png"], given);
    expect(result.events?.[0]?.data).toEqual({ paths: ["/mnt/user-data/outputs/sub/c.png"] });
  });

  test("presented files fold to one list in order of their first presentation", async () => {
    const given = await thread();
    const calls = [
      ["/mnt/user-data/outputs/sub/c.png"],
      ["/mnt/user-data/outputs/r.md", "{OUT}/r.md"],
      ["{OUT}/sub/c.png"],
    ];
    const results = await Promise.all(calls.map((paths) => present(paths, given)));
    const events = results
      .flatMap(({ events: own = [] }) => own)
      .map((draft, index) => ({ ...draft, version: index + 1 }));
    expect(reducer.fold(events).artifacts).toEqual([
      "/mnt/user-data/outputs/sub/c.png",
      "/mnt/user-data/outputs/r.md",
    ]);
  });

  test("needs at least one path, and a sandbox", async () => {
    expect(presentFilesTool().schema.safeParse({ filepaths: [] }).success).toBe(false);
    const call = presentFilesTool().run({ filepaths: ["a"] }, toolRuntime(hookState([])));
    await expect(call).rejects.toBeInstanceOf(NoSandboxError);
  });

  test("the artifacts middleware brings the field and the tool, and passes the sandbox on", async () => {
    const { sandbox } = await thread();
    const middleware = artifactsMiddleware({ sandbox });
    expect((middleware.reducers as readonly { field: string }[]).map(({ field }) => field)).toEqual([
      "artifacts",
    ]);
    const [tool] = middleware.tools as [ToolDefinition<{ filepaths: string[] }>];
    const runtime = toolRuntime(hookState([]));
    expect(await tool.run({ filepaths: ["/mnt/user-data/outputs/r.md"] }, runtime)).toMatchObject({
      events: [{ type: "ArtifactsPresented" }],
    });
  });
});
