import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ToolResult } from "../../../actors/tools/define-tool.ts";
import { maxImageBytes, viewImageTool } from "../../../actors/tools/view-image.ts";
import { png, toolCases } from "../../cases/images.ts";
import { hookState, toolRuntime } from "../middleware/hook-bench.ts";
import { madeThreadFolders } from "../sandboxes/thread-files.ts";

async function viewIn(
  folders: Awaited<ReturnType<typeof madeThreadFolders>>,
  path: string,
  maxBytes?: number,
) {
  const tool = viewImageTool({ folders: () => folders, ...(maxBytes === undefined ? {} : { maxBytes }) });
  const runtime = toolRuntime(hookState([]));
  const result = (await tool.run({ image_path: path }, runtime)) as ToolResult;
  return { result, runtime, images: (result.events?.[0]?.data as { images?: object } | undefined)?.images };
}

describe("view_image", () => {
  for (const { id, what, path, file, maxBytes, sees } of toolCases) {
    it(`${id}: ${what}`, async () => {
      const folders = await madeThreadFolders();
      if (file) {
        const host = join(folders[`${file.area}_path`], file.name);
        if (file.content === "folder") await mkdir(host);
        else await writeFile(host, file.content);
      }
      const { result, images, runtime } = await viewIn(folders, path, maxBytes);
      expect(JSON.stringify(result)).not.toContain(folders.store);
      if (sees === null) {
        expect(result.status).toBe("error");
        expect(result.events).toBeUndefined();
        return;
      }
      expect(result.status).toBeUndefined();
      expect(images).toEqual({ [path]: { ...sees, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } });
      const { sha256 } = Object.values(images ?? {})[0] as { sha256: string };
      expect(Buffer.from(await runtime.blobs.get(sha256))).toEqual(file?.content);
    });
  }

  it("the limit is 20 MiB", () => {
    expect(maxImageBytes).toBe(20_971_520);
  });

  it("a file that is not there is an error without the host's path", async () => {
    const folders = await madeThreadFolders();
    const { result } = await viewIn(folders, "/mnt/user-data/uploads/none.png");
    expect(result.content).toContain("/mnt/user-data/uploads/none.png");
    expect(result.status).toBe("error");
    expect(result.content).not.toContain(folders.store);
  });

  it("a link out of the thread's folders is refused, one inside is followed", async () => {
    const folders = await madeThreadFolders();
    const outside = join(folders.store, "secret.png");
    await writeFile(outside, png());
    await symlink(outside, join(folders.uploads_path, "out.png"));
    await writeFile(join(folders.outputs_path, "real.png"), png());
    await symlink("../outputs/real.png", join(folders.uploads_path, "in.png"));
    expect((await viewIn(folders, "/mnt/user-data/uploads/out.png")).result.status).toBe("error");
    const inside = await viewIn(folders, "/mnt/user-data/uploads/in.png");
    expect(Object.keys(inside.images ?? {})).toEqual(["/mnt/user-data/outputs/real.png"]);
  });

  it("an image whose name lies about its type is refused", async () => {
    const folders = await madeThreadFolders();
    await writeFile(join(folders.uploads_path, "a.jpg"), png());
    const { result } = await viewIn(folders, "/mnt/user-data/uploads/a.jpg");
    expect(result.content).toMatch(/name says image\/jpeg, its content is image\/png/);
  });

  it("a name without a known extension is refused", async () => {
    const folders = await madeThreadFolders();
    await writeFile(join(folders.uploads_path, "a.svg"), png());
    expect((await viewIn(folders, "/mnt/user-data/uploads/a.svg")).result.content).toMatch(/must end in/);
  });
});
