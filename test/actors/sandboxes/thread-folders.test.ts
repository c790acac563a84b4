import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeFolderName, foldersOf, threadFolders } from "../../../actors/sandboxes/thread-folders.ts";
import { temporaryStoreFolder } from "./thread-files.ts";

const runtime = (folder: string, more: Record<string, unknown> = {}) => ({
  folder,
  threadId: "t1",
  context: {},
  configurable: {},
  ...more,
});

describe("folder names", () => {
  test.each([
    "../../etc",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "a\0b",
    "a\nb",
    "ümlaut",
    "UPPER",
    "x".repeat(5_000),
  ])("the id %j becomes one harmless folder name", (id) => {
    const name = encodeFolderName(id);
    expect(name).toMatch(/^[a-z0-9_%~-][a-z0-9._%~-]*$/);
    expect(name.length).toBeLessThanOrEqual(160);
  });

  test("different ids never share a folder, even where capitals do not count", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (a, b) => {
        fc.pre(a.isWellFormed() && b.isWellFormed() && a !== b);
        expect(encodeFolderName(a).toLowerCase()).not.toBe(encodeFolderName(b).toLowerCase());
      }),
    );
  });
});

describe("folders of a thread", () => {
  test("lie below the store's folder, a folder for each thread, and are not made by asking", async () => {
    const store = await temporaryStoreFolder();
    const folders = threadFolders({ folder: store, threadId: "t1" });
    expect(folders.workspace_path).toBe(join(store, "threads", "t1", "user-data", "workspace"));
    expect(existsSync(folders.workspace_path)).toBe(false);
  });

  test("the run's context names the user; without it, the configuration does", () => {
    const inContext = foldersOf(
      runtime("/s", { context: { user_id: "u1" }, configurable: { user_id: "u2" } }),
    );
    expect(inContext.outputs_path).toBe("/s/users/u1/threads/t1/user-data/outputs");
    const configured = foldersOf(runtime("/s", { configurable: { user_id: "u2" } }));
    expect(configured.outputs_path).toBe("/s/users/u2/threads/t1/user-data/outputs");
  });

  test("a run without a user finds the folders that an earlier run of the thread bound for one", () => {
    const bound = threadFolders({ folder: "/s", threadId: "t1", userId: "u1" });
    expect(foldersOf(runtime("/s"), { thread_data: bound })).toEqual(bound);
  });

  test.each([
    [
      "of another thread (a fork's parent)",
      threadFolders({ folder: "/s", threadId: "parent", userId: "u1" }),
    ],
    ["of another store", threadFolders({ folder: "/other", threadId: "t1", userId: "u1" })],
    ["outside of every store", { workspace_path: "/etc", uploads_path: "/etc", outputs_path: "/etc" }],
    ["with dots", { workspace_path: "/s/users/../threads/t1/user-data/workspace" }],
  ])("folders in thread_data that are %s do not count", (_, thread_data) => {
    expect(foldersOf(runtime("/s"), { thread_data })).toEqual(
      threadFolders({ folder: "/s", threadId: "t1" }),
    );
  });

  test("a relative store folder gives absolute paths", () => {
    const { workspace_path } = threadFolders({ folder: ".threadfold", threadId: "t" });
    expect(workspace_path).toBe(resolve(".threadfold/threads/t/user-data/workspace"));
    expect(basename(dirname(workspace_path))).toBe("user-data");
  });
});
