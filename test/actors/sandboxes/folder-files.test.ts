import { readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FileAccessError } from "../../../actors/sandboxes/file-access-error.ts";
import { createFolderFiles, maxFileBytes } from "../../../actors/sandboxes/folder-files.ts";
import { PathNotAllowedError } from "../../../actors/sandboxes/sandbox.ts";
import { madeThreadFolders, makePipe } from "./thread-files.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test("what is written can be read, folders on the way are made, and a shorter text leaves nothing of the longer one", async () => {
  const files = createFolderFiles(await madeThreadFolders());
  await files.writeFile("/mnt/user-data/outputs/a/b/c.md", "a long text");
  await files.writeFile("/mnt/user-data/outputs/a/b/c.md", "short");
  expect(text(await files.readFile("/mnt/user-data/outputs/a/b/c.md"))).toBe("short");
});

test("a listing is sorted, names folders with a slash, goes as deep as asked, and does not open node_modules", async () => {
  const files = createFolderFiles(await madeThreadFolders());
  for (const path of ["b.txt", "a/x/deep.txt", "node_modules/p/i.js"]) await files.writeFile(path, "");
  expect(await files.list("/mnt/user-data/workspace")).toEqual(["a/", "b.txt", "node_modules/"]);
  expect(await files.list("/mnt/user-data/workspace", { depth: 3 })).toEqual([
    "a/",
    "a/x/",
    "a/x/deep.txt",
    "b.txt",
    "node_modules/",
  ]);
  expect(await files.list("/mnt/user-data")).toEqual(["outputs/", "uploads/", "workspace/"]);
});

test("stat tells files from folders, and nothing from a missing path", async () => {
  const files = createFolderFiles(await madeThreadFolders());
  await files.writeFile("a.txt", "four");
  expect(await files.stat("a.txt")).toEqual({ kind: "file", size: 4 });
  expect(await files.stat("/mnt/user-data/uploads")).toEqual({ kind: "folder", size: 0 });
  expect(await files.stat("gone")).toBeUndefined();
  expect(await files.stat("a.txt/below")).toBeUndefined();
});

test("writing through a link out of the folders changes nothing outside", async () => {
  const folders = await madeThreadFolders();
  const outside = join(folders.store, "victim");
  await writeFile(outside, "untouched");
  await symlink(outside, join(folders.outputs_path, "link"));
  const files = createFolderFiles(folders);
  await expect(files.writeFile("/mnt/user-data/outputs/link", "x")).rejects.toBeInstanceOf(
    PathNotAllowedError,
  );
  await expect(files.readFile("/mnt/user-data/outputs/link")).rejects.toBeInstanceOf(PathNotAllowedError);
  expect(await readFile(outside, "utf8")).toBe("untouched");
});

test("pipes, sockets and folders are no files, and opening one does not hang", async () => {
  const folders = await madeThreadFolders();
  const files = createFolderFiles(folders);
  await makePipe(join(folders.workspace_path, "pipe"));
  const server = createServer();
  const socket = join(folders.workspace_path, "socket");
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => void server.close());
  await expect(files.readFile("pipe")).rejects.toThrow("not a file");
  await expect(files.writeFile("pipe", "x")).rejects.toBeInstanceOf(FileAccessError);
  await expect(files.stat("pipe")).rejects.toThrow("not a file");
  await expect(files.readFile("socket")).rejects.toBeInstanceOf(FileAccessError);
  await expect(files.readFile("/mnt/user-data/workspace")).rejects.toThrow("is a folder");
  await expect(files.readFile("/mnt/user-data")).rejects.toThrow("is a folder");
});

test("a file that is too large to hold is refused before it is read", async () => {
  const folders = await madeThreadFolders();
  const files = createFolderFiles(folders);
  await files.writeFile("big", "");
  await truncate(join(folders.workspace_path, "big"), maxFileBytes + 1);
  await expect(files.readFile("big")).rejects.toMatchObject({ code: "EFBIG" });
});

test("errors name the virtual path and never the host's", async () => {
  const folders = await madeThreadFolders();
  const files = createFolderFiles(folders);
  await files.writeFile("file", "");
  const failures = await Promise.allSettled([
    files.readFile("missing.txt"),
    files.list("missing"),
    files.writeFile("file/below.txt", "x"),
    files.readFile("x".repeat(300)),
    files.readFile("/etc/passwd"),
    files.readFile(`${folders.workspace_path}/../../secret`),
  ]);
  for (const failure of failures) {
    const { message = "no failure" } = failure.status === "rejected" ? (failure.reason as Error) : {};
    expect(message).not.toContain(folders.store);
    expect(message).toMatch(/^"/);
  }
  await expect(files.readFile("missing.txt")).rejects.toThrow(
    '"/mnt/user-data/workspace/missing.txt" does not exist',
  );
});
