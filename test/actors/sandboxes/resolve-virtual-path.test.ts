import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolveVirtualPath } from "../../../actors/sandboxes/resolve-virtual-path.ts";
import { PathNotAllowedError } from "../../../actors/sandboxes/sandbox.ts";
import { isInside, virtualAreas } from "../../../actors/sandboxes/virtual-path.ts";
import { madeThreadFolders } from "./thread-files.ts";

describe("paths that lead into the thread's folders", () => {
  test.each([
    ["/mnt/user-data/workspace/a.txt", "/mnt/user-data/workspace/a.txt"],
    ["/mnt/user-data/outputs/./x//y/../b", "/mnt/user-data/outputs/x/b"],
    ["mnt/user-data/outputs/b", "/mnt/user-data/outputs/b"],
    ["notes/a.txt", "/mnt/user-data/workspace/notes/a.txt"],
    ["/mnt/user-data/outputs/../uploads/c", "/mnt/user-data/uploads/c"],
    ["/mnt/user-data", "/mnt/user-data"],
  ])("%s is %s", async (path, virtual) => {
    expect((await resolveVirtualPath(await madeThreadFolders(), path)).virtual).toBe(virtual);
  });

  test("a link inside the folders is followed, relative, host-absolute or as the sandbox writes it", async () => {
    const folders = await madeThreadFolders();
    await symlink("../uploads/a.csv", join(folders.workspace_path, "relative"));
    await symlink(join(folders.uploads_path, "a.csv"), join(folders.workspace_path, "absolute"));
    await symlink("/mnt/user-data/uploads/a.csv", join(folders.workspace_path, "virtual"));
    for (const name of ["relative", "absolute", "virtual"]) {
      const { virtual, host } = await resolveVirtualPath(folders, name);
      expect({ virtual, host }).toEqual({
        virtual: "/mnt/user-data/uploads/a.csv",
        host: join(folders.uploads_path, "a.csv"),
      });
    }
  });

  test("`..` after a link goes up from where the link leads", async () => {
    const folders = await madeThreadFolders();
    await mkdir(join(folders.uploads_path, "deep"));
    await symlink("/mnt/user-data/uploads/deep", join(folders.workspace_path, "link"));
    expect((await resolveVirtualPath(folders, "link/../a")).virtual).toBe("/mnt/user-data/uploads/a");
  });
});

describe("paths that lead out are refused", () => {
  test.each([
    "",
    "/etc/passwd",
    "/mnt/user-data/../etc/passwd",
    "/mnt/user-data/workspace/../../../etc/passwd",
    "../../../../etc/passwd",
    "/mnt/user-data/other/a",
    "/mnt/user-data-2/a",
    "/proc/self/environ",
    "a\0b",
    "a\nb",
    "a\u001b[2Jb",
    `/mnt/user-data/workspace/${"x/".repeat(3_000)}`,
  ])("%j", async (path) => {
    await expect(resolveVirtualPath(await madeThreadFolders(), path)).rejects.toBeInstanceOf(
      PathNotAllowedError,
    );
  });

  test("host paths, unless they are asked for and lie inside", async () => {
    const folders = await madeThreadFolders();
    const inside = join(folders.outputs_path, "a");
    await expect(resolveVirtualPath(folders, inside)).rejects.toThrow(
      '"/mnt/user-data/outputs/a" is not inside',
    );
    expect((await resolveVirtualPath(folders, inside, { hostPaths: true })).virtual).toBe(
      "/mnt/user-data/outputs/a",
    );
    await expect(resolveVirtualPath(folders, folders.store, { hostPaths: true })).rejects.toThrow(
      PathNotAllowedError,
    );
  });

  test("links out of the folders, whole folders that are links, and links without end", async () => {
    const folders = await madeThreadFolders();
    await writeFile(join(folders.store, "secret"), "s");
    await symlink(join(folders.store, "secret"), join(folders.workspace_path, "file"));
    await symlink("../../../..", join(folders.workspace_path, "up"));
    await symlink("/", join(folders.workspace_path, "root"));
    await symlink("loop", join(folders.workspace_path, "loop"));
    for (const path of ["file", "up/secret", "root/etc/passwd", "root", "loop"]) {
      await expect(resolveVirtualPath(folders, path), path).rejects.toBeInstanceOf(PathNotAllowedError);
    }
  });
});

test("whatever the path, it is refused or its host path lies in one of the three folders", async () => {
  const folders = await madeThreadFolders();
  await symlink("../../..", join(folders.workspace_path, "up"));
  await symlink("/mnt/user-data/outputs", join(folders.workspace_path, "out"));
  const segment = fc.constantFrom(
    "..",
    ".",
    "",
    "mnt",
    "user-data",
    "workspace",
    "outputs",
    "up",
    "out",
    "a",
    "etc",
  );
  await fc.assert(
    fc.asyncProperty(fc.array(segment, { maxLength: 12 }), fc.boolean(), async (segments, rooted) => {
      const path = `${rooted ? "/mnt/user-data/" : ""}${segments.join("/")}`;
      const resolved = await resolveVirtualPath(folders, path).catch((error: unknown) => {
        expect(error).toBeInstanceOf(PathNotAllowedError);
        return undefined;
      });
      const host = resolved?.host;
      if (host === undefined) return;
      expect(virtualAreas.some((area) => isInside(folders[`${area}_path`], host))).toBe(true);
    }),
  );
});
